// The way to the server that sent this page: a cookie and the secret of this tab. All addresses are relative.

import { Refused } from "./state.js";

const TAB = "keepmum.tab", LOCK = "keepmum.tab"; // each tab that has the secret shares the lock
const secret = () => sessionStorage.getItem(TAB) || "";

/** @param {string} path @param {unknown} [body] @returns {Promise<Response>} */
export async function send(path, body) {
  const headers = { "Content-Type": "application/json", "X-Keepmum-Tab": secret() };
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), credentials: "same-origin" })
    .catch(() => { throw new Refused(0, {}); });
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({}));
  if (said.error?.go) location.replace(said.error.go);
  throw new Refused(answer.status, said.error || {});
}

/** Opens a session with the token of the address; it is taken out of the address first. */
async function openSession() {
  const given = new URLSearchParams(location.hash.slice(1)), token = given.get("t");
  if (!token) return;
  history.replaceState(null, "", `${location.pathname}#${given.get("go") || "/home"}`);
  const answer = await fetch("./session", { method: "POST", headers: { Authorization: `Bearer ${token}` } });
  if (answer.ok) sessionStorage.setItem(TAB, (await answer.json()).tab);
}

/** A second tab asks the first one for the secret, through a channel that only this origin can hear. */
async function shareSession() {
  const channel = new BroadcastChannel("keepmum");
  channel.onmessage = ({ data }) => {
    if (data === "ask" && secret()) channel.postMessage({ tab: secret() });
  };
  if (!secret()) await askTabs();
  if (secret() && navigator.locks) navigator.locks.request(LOCK, { mode: "shared" }, () => new Promise(() => {}));
}

/** Waits for the secret of another tab, however busy that is; who gets the lock alone knows that there is none. */
async function askTabs() {
  const asking = new BroadcastChannel("keepmum"), end = new AbortController();
  const given = new Promise(resolve => {
    asking.onmessage = ({ data }) => { if (data && typeof data.tab === "string") resolve(data.tab); };
    if (navigator.locks) navigator.locks.request(LOCK, { signal: end.signal }, resolve).catch(() => {});
    else setTimeout(resolve, 3000); // a server without HTTPS
  });
  asking.postMessage("ask");
  const tab = await given;
  end.abort();
  asking.close();
  if (typeof tab === "string") sessionStorage.setItem(TAB, tab);
}

/** @returns {Promise<import("./state.js").Host>} */
export async function connectServer() {
  await openSession();
  await shareSession();
  return {
    ask: async (view, args = {}) => (await send("./api/ask", { view, args })).json(),
    change: async (verb, args = {}) => (await send("./api/change", { do: verb, args })).json(),
    download: async args => (await send("./api/export", args)).blob(),
  };
}
