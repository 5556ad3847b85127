// The panel in the chat (an MCP App): its host asks the server for it, and it can do no more than the model can.
import { html, render, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { connect } from "./lib/bridge.js";
import { Empty, Icon, Logo, Toast } from "./lib/parts.js";
import { Refused, useHost, useShared, watchChanges } from "./lib/state.js";
import { counted, figures } from "./lib/words.js";
import { ActivityTab } from "./screens/panel_activity.js";
import { MemoryTab } from "./screens/panel_memory.js";
import { ReviewTab } from "./screens/panel_review.js";

/** @type {[string, string, any][]} */
const TABS = [["memory", "Memory", MemoryTab], ["activity", "Activity", ActivityTab], ["review", "Review", ReviewTab]];
const state = { query: "", told: false, mode: "inline", modes: /** @type {string[]} */ ([]), capabilities: /** @type {any} */ ({}) };
let redraw = () => {};

/** @param {any} context what the host says of its look; foreign values are taken by name, foreign styles are not */
function follow(context) {
  if (!context) return;
  const root = document.documentElement, given = (context.styles && context.styles.variables) || {};
  if (context.theme === "dark" || context.theme === "light") root.dataset.theme = context.theme;
  for (const [name, value] of Object.entries(given)) if (/^--[a-z0-9-]+$/u.test(name) && typeof value === "string") root.style.setProperty(name, value);
  if (context.displayMode) state.mode = context.displayMode;
  if (context.availableDisplayModes) state.modes = context.availableDisplayModes;
  redraw();
}

/** @param {string} method @param {any} params */
function heard(method, params) {
  if (method === "ui/notifications/host-context-changed") follow(params);
  if (method === "ui/notifications/tool-input") {
    state.query = String((params.arguments && params.arguments.query) || "");
    state.told = true;
    redraw();
  }
}

const bridge = connect({ name: "keepmum", version: "1" }, ["inline", "fullscreen"], heard);

/** Some hosts hand on the text of a result and nothing else, so the text is what is read. @param {string} tool @param {any} args */
async function call(tool, args) {
  const result = await bridge.call(tool, args).catch(error => { throw new Refused(0, { message: `The chat did not pass this on: ${error.message}` }); });
  const text = result && result.content && result.content[0] ? result.content[0].text : "";
  /** @type {any} */
  let said;
  try { said = JSON.parse(text); } catch { throw new Refused(500, { message: text || "The answer was empty." }); }
  if (result.isError) throw new Refused(422, said.error || { message: text });
  return said;
}

/** Links lead to a memory of this panel, or to the host, which asks before it opens one. @param {MouseEvent} event @param {(id: string) => void} open */
function linked(event, open) {
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!link) return;
  event.preventDefault();
  const where = link.getAttribute("href") || "", id = new URLSearchParams(where.split("?")[1] || "").get("open");
  if (where.startsWith("#/") && id) open(id);
  else if (where.startsWith("https://")) bridge.request("ui/open-link", { url: where }).catch(() => {});
}

async function flipMode() {
  const wanted = state.mode === "fullscreen" ? "inline" : "fullscreen";
  const { mode } = await bridge.request("ui/request-display-mode", { mode: wanted }).catch(() => ({ mode: state.mode }));
  follow({ displayMode: mode });
}

/** @param {{ chosen: string, onChoose: (id: string) => void, review: number }} props */
function Tabs({ chosen, onChoose, review }) {
  const box = useRef(null);
  const moved = event => {
    const at = TABS.findIndex(([id]) => id === chosen), step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step || !box.current) return;
    const to = (at + step + TABS.length) % TABS.length;
    onChoose(TABS[to][0]);
    /** @type {HTMLElement} */ (box.current.children[to]).focus();
  };
  return html`<div class="tabs" role="tablist" ref=${box} onKeyDown=${moved}>${TABS.map(([id, says]) => html`<button type="button" key=${id} id=${`tab-${id}`} role="tab" aria-controls="tabpanel"
    aria-selected=${id === chosen ? "true" : "false"} tabindex=${id === chosen ? 0 : -1} onClick=${() => onChoose(id)}>${says}${id === "review" && review > 0 && html`<span class="n num">${figures(review)}</span>`}</button>`)}</div>`;
}

function Panel() {
  const [, draw] = useState(0), [tab, setTab] = useState("memory"), [open, setOpen] = useState(""), [fit, setFit] = useState(""), { about, caveat } = useShared();
  redraw = () => draw(n => n + 1);
  const show = id => { setTab("memory"); setOpen(id); };
  useLayoutEffect(() => {
    const follow2 = event => linked(event, show);
    document.addEventListener("click", follow2);
    return () => document.removeEventListener("click", follow2);
  }, []);
  const full = state.mode === "fullscreen", Tab = (TABS.find(([id]) => id === tab) || TABS[0])[2];
  const message = state.capabilities.message && (id => bridge.request("ui/message", { role: "user", content: [{ type: "text", text: `load ${id}` }] }).catch(() => {}));
  return html`<main class=${`w ${full ? "full" : ""}`}><header class="wt"><${Logo} /><h1>Memory</h1><small class="clip">${about ? about.project || "all projects" : ""}</small>
    ${state.modes.includes("fullscreen") && html`<button type="button" class="ib" aria-label=${full ? "Back to the chat" : "Full screen"} onClick=${flipMode}><${Icon} name="full" /></button>`}</header>
    <${Tabs} chosen=${tab} onChoose=${setTab} review=${about ? about.review : 0} />${about && (about.off || about.read_only || caveat) && html`<p class="banner" role="status">${about.off || about.read_only || caveat}</p>`}
    <div id="tabpanel" role="tabpanel" aria-labelledby=${`tab-${tab}`}><${Tab} key=${tab} query=${state.query} full=${full} open=${open} onOpen=${setOpen} onFit=${setFit} message=${message} /></div>
    <${Toast} inside /><footer class="wf num">${fit || (about ? `${counted(about.agents, "agent")} · ${counted(about.memories, "memory", "memories")}` : "")}</footer></main>`;
}

async function start() {
  const hello = await bridge.ready;
  state.capabilities = hello.hostCapabilities || {};
  follow(hello.hostContext);
  const root = document.body;
  if (!state.capabilities.serverTools) {
    return render(html`<${Empty} title="This chat shows no data"><p>It does not let the panel ask its server. In a terminal:</p><span class="cmd">keepmum dashboard</span><//>`, root);
  }
  useHost({ ask: (view, args = {}) => call("memory_view", { view, args }), change: (verb, args = {}) => call("memory_change", { do: verb, args }) });
  for (let waited = 0; !state.told && waited < 20; waited++) await new Promise(resolve => setTimeout(resolve, 20));
  watchChanges(15_000);
  return render(html`<${Panel} />`, root);
}

start();
