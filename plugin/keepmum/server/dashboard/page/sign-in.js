// Signs in with a key, which is sent once and not kept, or at an identity provider, and chooses the project to show.
const TAB = "keepmum.tab", TICKET = "keepmum.ticket", THEME = localStorage.getItem("keepmum.theme");
const part = id => document.getElementById(id);
if (THEME === "dark" || THEME === "light") document.documentElement.dataset.theme = THEME;

async function send(path, body) {
  const headers = { "Content-Type": "application/json", "X-Keepmum-Tab": sessionStorage.getItem(TAB) || "" };
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body), credentials: "same-origin" });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error.message);
  return said;
}

function show(id) {
  part("provider").hidden = id !== "sign-in" || !part("there").textContent;
  for (const form of ["sign-in", "choose"]) part(form).hidden = form !== id;
  part(id).querySelector("input").focus();
}

function choose({ project, projects, every }) {
  part("project").value = project;
  part("project").required = !every;
  part("projects").replaceChildren(...projects.map(name => new Option(name, name)));
  part("which").textContent = every ? "Empty: the memories of all projects." : `You may read: ${projects.join(", ")}`;
  show("choose");
}

function on(id, event, act) {
  part(id).addEventListener(event, async happened => {
    happened.preventDefault();
    part("said").textContent = "";
    await act().catch(say);
  });
}

function enter(opened) {
  sessionStorage.setItem(TAB, opened.tab);
  if (opened.every || opened.projects.length > 1) choose(opened);
  else location.replace("./");
}

async function offer() {
  const { host } = await send("./provider", {});
  part("there").textContent = host && `Sign in with ${host}`;
  show("sign-in");
}

// The provider leads back to this page, with its answer in the address, which is taken out of the history at once.
async function finish(answer) {
  history.replaceState(null, "", location.pathname);
  const ticket = sessionStorage.getItem(TICKET);
  sessionStorage.removeItem(TICKET);
  await offer();
  if (!ticket) throw new Error("This sign-in did not begin in this tab; begin again.");
  if (!answer.get("code")) throw new Error("The identity provider did not sign you in; try again.");
  const { state, code, iss } = Object.fromEntries(answer);
  enter(await send("./provider/finish", { ticket, state, code, iss: iss || "" }));
}

function say(error) {
  part("said").textContent = error.message;
}

on("sign-in", "submit", async () => {
  const field = part("key"), key = field.value.trim();
  field.value = "";
  enter(await send("./session", { key }));
});
on("provider", "submit", async () => {
  const { ticket, address } = await send("./provider/begin", {});
  sessionStorage.setItem(TICKET, ticket);
  location.assign(address);
});
on("choose", "submit", async () => {
  await send("./project", { project: part("project").value.trim() });
  location.replace("./");
});
on("leave", "click", async () => {
  await send("./leave", {});
  sessionStorage.removeItem(TAB);
  await offer();
});
const answer = new URLSearchParams(location.search);
if (answer.has("state")) finish(answer).catch(say);
else if (sessionStorage.getItem(TAB)) send("./projects", {}).then(choose, offer).catch(say);
else offer().catch(say);
