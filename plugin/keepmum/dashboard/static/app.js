// The page: navigation, keys that work everywhere, and the screen that the address names.
import { html, render, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { connectServer } from "./lib/api.js";
import { keysAreOn, listen, switchKeys, takeEarly, useKeys } from "./lib/keys.js";
import { Empty, Icon, Logo, Problem, Skeleton, Toast } from "./lib/parts.js";
import { address, go, route, useRoute } from "./lib/route.js";
import { refreshAbout, undo, useHost, useShared, watchChanges } from "./lib/state.js";
import { counted, figures, KEYS } from "./lib/words.js";

/** @typedef {{ icon: string, title: string, load: () => Promise<{ Screen: any }>, key?: string, group?: string }} PageOf key: after `g` */

/** @type {Record<string, PageOf>} */
const PAGES = {
  home: { icon: "home", title: "Home", load: () => import("./screens/home.js") },
  memories: { icon: "list", title: "Memories", load: () => import("./screens/memories.js") },
  review: { icon: "inbox", title: "Review", load: () => import("./screens/review.js") },
  activity: { icon: "pulse", title: "Activity", load: () => import("./screens/activity.js") },
  handoffs: { icon: "swap", title: "Handoffs", load: () => import("./screens/handoffs.js") },
  health: { icon: "shield", title: "Health", load: () => import("./screens/health.js") },
};
const THEME = "keepmum.theme";

function switchTheme() {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = root.dataset.theme || (dark ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
  localStorage.setItem(THEME, root.dataset.theme);
}

/** All pages; null until it is known which. An administrator of a server has more, whose modules nobody else loads. @param {any} about */
function usePages(about) {
  const [more, set] = useState(/** @type {Record<string, PageOf> | null} */ (null)), admin = about && JSON.stringify(about.admin || null);
  useLayoutEffect(() => {
    if (!about) return;
    if (about.admin) import("./admin/pages.js").then(({ pagesOf }) => set(pagesOf(about.admin)), () => set({})); else set({});
  }, [admin]);
  const { health, ...shared } = PAGES; // the health of a server is its operator's
  return more && { ...shared, ...(about.where === "server" ? {} : { health }), ...more };
}

/** @param {[string, PageOf][]} pages @param {string} group @param {string} screen @param {Record<string, number>} counts */
const links = (pages, group, screen, counts) => pages.filter(([, page]) => (page.group || "") === group).map(([name, page]) => html`<a key=${name} href=${address(name)}
  aria-current=${name === screen ? "page" : undefined}><${Icon} name=${page.icon} />${page.title}
  ${counts[name] > 0 && html`<span class=${`num ${name === "review" ? "n" : ""}`}>${figures(counts[name])}</span>`}</a>`);

/** @param {{ about: any, pages: Record<string, PageOf>, screen: string }} props */
function Side({ about, pages, screen }) {
  /** @type {Record<string, any>} */
  const counts = about ? { memories: about.memories, review: about.review, handoffs: about.handoffs } : {};
  const project = about && (about.project || "All projects"), shown = Object.entries(pages).filter(([name]) => name !== "health" || !about || about.where !== "server");
  const team = links(shown, "team", screen, {});
  return html`<div class="side"><header><a class="brand" href=${address("home")}><${Logo} />Keepmum</a>
    <div class="proj"><span><b class="clip" title=${about ? about.root : ""}>${project || "…"}</b><small>${about
      ? `${about.folders > 1 ? `${counted(about.folders, "worktree")}, ` : ""}${counted(about.agents, "agent")}` : "loading"}</small></span></div></header>
    <nav class="nav" aria-label="Main">${links(shown, "", screen, counts)}</nav>
    ${team.length > 0 && html`<nav class="nav" aria-labelledby="team"><p id="team">Team</p>${team}</nav>`}
    <footer><p><${Icon} name="lock" /><span>${about && about.where === "server" ? html`<a href="./sign-in.html">On your team’s server.</a>`
      : "On this machine only. Nothing leaves it."}</span></p>
      <p><button type="button" onClick=${() => go(screen, { ...current(), keys: "1" })}><kbd>?</kbd> keys</button>
      <button type="button" onClick=${switchTheme}><kbd>t</kbd> light or dark</button></p></footer></div>`;
}

/** @returns {Record<string, string>} the parameters of the address */
const current = () => Object.fromEntries(new URLSearchParams(location.hash.split("?")[1] || ""));

/** @param {{ pages: Record<string, PageOf>, onClose: () => void }} props */
function Keys({ pages, onClose }) {
  const box = useRef(null), [on, setOn] = useState(keysAreOn());
  useLayoutEffect(() => { if (box.current && !box.current.open) box.current.showModal(); }, []);
  const more = Object.values(pages).filter(page => page.key).map(page => /** @type {[string[], string]} */ ([["g", page.key], `go to ${page.title.toLowerCase()}`]));
  const flip = () => { switchKeys(!on); setOn(!on); };
  return html`<dialog class="card" ref=${box} aria-labelledby="keys-title" onClose=${onClose}><header><h2 id="keys-title">Keys</h2>
    <button type="button" class="more" onClick=${flip}>${on ? "switch off" : "switch on"}</button></header>
    ${!on && html`<p class="muted pad">Single keys are off. Tab, arrows, Enter and Escape always work.</p>`}
    <div class="pad keys">${[...KEYS, ...more].map(([keys, does]) => html`<div><b>${keys.map(key => html`<kbd>${key}</kbd>`)}</b><span>${does}</span></div>`)}</div>
    <div class="pad"><button type="button" class="btn" onClick=${() => box.current && box.current.close()}>Close</button></div></dialog>`;
}

/** @param {{ name: string, page: PageOf, params: URLSearchParams }} props a screen, loaded when first shown */
function Page({ name, page, params }) {
  const [loaded, set] = useState({});
  useLayoutEffect(() => { page.load().then(({ Screen }) => set({ name, Screen }), error => set({ name, error })); }, [name]);
  useLayoutEffect(() => { document.title = `${page.title} · Keepmum`; }, [name]);
  if (loaded.error && loaded.name === name) return html`<div class="main"><${Problem} error=${{ message: "The dashboard was closed. Run `keepmum dashboard` again." }} /></div>`;
  if (loaded.name !== name) return html`<div class="main"><${Skeleton} busy /></div>`;
  return html`<${loaded.Screen} params=${params} />`;
}

/** What limits the whole page, said once above it. @param {{ about: any, caveat: string }} props */
function Banner({ about, caveat }) {
  const says = [about && about.off, about && about.read_only, caveat, ...(about ? about.notices : [])].filter(Boolean);
  return says.length ? html`<div class="banner" role="status">${says.map(text => html`<p><${Icon} name="warn" />${text}</p>`)}</div>` : null;
}

function App() {
  const { screen: wanted, params } = useRoute(), { about, caveat } = useShared(), keys = params.has("keys");
  const known = usePages(about), pages = known || PAGES, waits = !known && !Object.hasOwn(PAGES, wanted);
  const screen = waits || Object.hasOwn(pages, wanted) ? wanted : "home";
  useLayoutEffect(() => { if (waits) refreshAbout().catch(() => go("home", {}, true)); }, []);
  useKeys({
    ...Object.fromEntries(Object.entries(pages).filter(([, page]) => page.key).map(([name, page]) => [`g ${page.key}`, () => go(name)])),
    "g h": () => go("home"), "g m": () => go("memories"), "g r": () => go("review"), "g a": () => go("activity"),
    "g o": () => go("handoffs"), "g d": () => { if (Object.hasOwn(pages, "health")) go("health"); }, r: () => go("review"), t: switchTheme, u: () => { undo(); },
    "?": () => go(screen, { ...current(), keys: "1" }),
    "/": () => { const field = document.querySelector("input[type=search]"); if (field instanceof HTMLElement) field.focus(); else { takeEarly(); go("memories", { find: "1" }); } },
  });
  // Of the address as it is by then: a link may have been followed before the dialog says that it was closed.
  const close = () => { const now = route(); now.params.delete("keys"); go(now.screen, Object.fromEntries(now.params), true); };
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a><div class="app"><${Side} about=${about} pages=${pages} screen=${screen} />
    <main id="main" tabindex="-1"><${Banner} about=${about} caveat=${caveat} />${waits ? html`<div class="main"><${Skeleton} busy /></div>` : html`<${Page} key=${screen} name=${screen} page=${pages[screen]} params=${params} />`}</main></div>
    <${Toast} />${keys && html`<${Keys} pages=${pages} onClose=${close} />`}`;
}

function skip(event) {
  event.preventDefault();
  const main = document.getElementById("main");
  if (main) main.focus();
}

async function start() {
  const theme = localStorage.getItem(THEME), root = /** @type {HTMLElement} */ (document.getElementById("app"));
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  try {
    useHost(await connectServer());
  } catch (error) {
    return render(html`<${Empty} title="No session"><p>${error.message}</p><//>`, root);
  }
  listen();
  watchChanges(5000);
  window.addEventListener("focus", () => { refreshAbout().catch(() => {}); });
  return render(html`<${App} />`, root);
}

start();
