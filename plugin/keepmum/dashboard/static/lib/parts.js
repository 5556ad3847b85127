// Small pieces that several screens show. Text of a memory is always a text node.
import { html, useLayoutEffect, useRef } from "../vendor/preact.js";
import { agentOf, tell, undo, useLate, useShared } from "./state.js";
import { ago, exact, iso, short } from "./time.js";
import { FLAGS, hundredths } from "./words.js";

/** @type {Record<string, string[]>} outlines of 16 by 16; a path each */
export const ICONS = {
  home: ["M2.5 7 8 2.5 13.5 7v6a.5.5 0 0 1-.5.5H10V9.500H6v4H3a.5.5 0 0 1-.5-.5Z"],
  list: ["M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01"],
  inbox: ["M2.5 9.500h3l1 2h3l1-2h3M2.5 9.500v3a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1v-3L11.5 3h-7Z"],
  pulse: ["M1.5 8.500h3l2-5 3 9 2-4h3"],
  swap: ["M2.5 5.500h10m0 0L10 3m2.5 2.500L10 8M13.5 11h-10m0 0L6 8.500M3.5 11 6 13.5"],
  shield: ["M8 2 3 4v4c0 3 2 5 5 6 3-1 5-3 5-6V4Z", "m6 8 1.5 1.500L10.5 6.5"],
  lock: ["M4 7.500h8v6H4ZM5.5 7.500v-2a2.5 2.5 0 0 1 5 0v2"],
  down: ["m5 6.5 3 3 3-3"], check: ["m3.5 8.5 3 3 6-7"],
  edit: ["m3 13 .6-2.600L10.5 3.500l2 2L5.6 12.400Z"],
  pin: ["M6 2.500h4l-.5 4 2 2.500h-7l2-2.500ZM8 9v4.5"],
  box: ["M2.5 3.500h11v3h-11ZM3.5 6.500v6h9v-6M6.5 9h3"],
  flag: ["M4 14V2.500h7.500L10 5.500l1.5 3H4"],
  bin: ["M3 4.500h10M6.5 4.500v-2h3v2M4.5 4.500l.5 9h6l.5-9"],
  warn: ["M8 2.5 14 13H2ZM8 6.500v3M8 11.400v.1"],
  file: ["M4 2.500h5l3 3v8H4ZM9 2.500v3h3"],
  copy: ["M5.5 5.500h8v8h-8ZM10.5 5.500v-3h-8v8h3"],
  eye: ["M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8Z", "M10 8a2 2 0 1 1-4 0 2 2 0 0 1 4 0"],
  clock: ["M13.5 8a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0", "M8 5v3l2 1.5"],
  commit: ["M10.5 8a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0", "M2 8h3.500M10.5 8H14"],
  search: ["M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0", "m10.5 10.5 3 3"],
  save: ["M8 2.500V10m0 0L5 7m3 3 3-3M2.5 13.500h11"],
  full: ["M9.5 2.500h4v4M6.5 13.500h-4v-4M13.5 2.5 9 7M2.5 13.5 7 9"],
};

/** @param {{ name: string, colour?: string }} props */
export const Icon = ({ name, colour }) => html`<svg class="i" viewBox="0 0 16 16" aria-hidden="true" focusable="false"
  style=${colour ? `color:var(--${colour})` : ""}>${ICONS[name].map(d => html`<path d=${d} />`)}</svg>`;

/** @param {{ checked: boolean }} props */
export const Box = ({ checked }) => html`<svg class="i tick" viewBox="0 0 16 16" aria-hidden="true">
  <rect class=${checked ? "on" : ""} x="2" y="2" width="12" height="12" rx="3.5" />
  ${checked && html`<path d="m5 8.2 2.2 2.200L11.2 6" />`}</svg>`;

export const Logo = () => html`<svg class="l" viewBox="0 0 24 24" aria-hidden="true">
  <rect x="1" y="1" width="22" height="22" rx="7" fill="var(--accent)" />
  <path d="M6.5 12h11" stroke="var(--on-accent)" stroke-width="2.6" stroke-linecap="round" />
  <path d="M9.5 8.800v6.400M14.5 8.800v6.4" stroke="var(--on-accent)" stroke-width="1.5" stroke-linecap="round" opacity=".55" /></svg>`;

/** @param {{ id: string }} props an agent's colour always comes with its name */
export const Who = ({ id }) => {
  const agent = agentOf(id), colour = /^#[0-9a-f]{6}$/iu.test(agent.colour) ? agent.colour : "#7d8590";
  return html`<span class="who"><i style=${`background:${colour}`}></i>${agent.title}</span>`;
};

/** The `ref` of a field that is the one to type into when it appears. */
export function useFocus() {
  const field = useRef(null);
  useLayoutEffect(() => { field.current.focus(); }, []);
  return field;
}

export const Dot = () => html`<span class="dot" aria-hidden="true">·</span>`;

/** @param {{ at: number, form?: "short" | "ago" | "exact", prefix?: string }} props */
export const When = ({ at, form = "ago", prefix = "" }) => html`<time datetime=${iso(at)} title=${exact(at)}>${prefix}${
  form === "short" ? short(at) : form === "ago" ? ago(at) : exact(at)}</time>`;

/** @param {{ name: string, text?: string }} props */
export const Flag = ({ name, text }) => {
  const [colour, icon, words] = FLAGS[name] || ["plain", "warn", name];
  return html`<span class=${`flag ${colour}`}><${Icon} name=${icon} />${text || words}</span>`;
};

// Why a memory was found.
export const Legs = ({ hit }) => {
  const parts = [];
  if (hit.meaning !== null && hit.meaning > 0) parts.push(`meaning ${hundredths(hit.meaning)}`);
  if (hit.words > 0) parts.push(`words ${hundredths(hit.words)}`);
  const says = parts.join(" · ") + (parts.length === 1 ? " alone" : "");
  return html`<span class="legs" title=${hit.why}><i role="img" aria-label=${`found by ${says || "its other fields"}`}>
    <u style=${`width:${(hit.meaning || 0) * 66}%`}></u><s style=${`width:${hit.words * 34}%`}></s></i>${says}</span>`;
};

/** @param {{ pieces: [string, number][] }} props runs of text; 1 marks what fits the query */
export const Marked = ({ pieces }) => pieces.map(([text, hit]) => (hit ? html`<mark>${text}</mark>` : text));

/** @param {{ runs: import("./diff.js").Run[], only?: "del" | "ins" }} props */
export const Diff = ({ runs, only }) => runs.map(({ op, text }) => {
  const bare = text.trimEnd(), blank = text.slice(bare.length);
  if (op === "same") return text;
  if (only && op !== only) return "";
  return op === "del" ? html`<del>${bare}</del>${only ? blank : blank || " "}` : html`<ins>${bare}</ins>${blank}`;
});

/** Text with `code` in code style; nothing else of Markdown means anything. @param {{ text: string }} props */
export const Plain = ({ text }) => text.split(/(`[^`\n]{1,200}`)/u).map((part, n) =>
  (n % 2 ? html`<code>${part.slice(1, -1)}</code>` : part));

/** @param {{ icon?: string, primary?: boolean, quiet?: boolean, bad?: boolean, k?: string, on: (event: any) => void, children?: any,
 *   disabled?: boolean, label?: string, pressed?: boolean, extra?: string }} props */
export const Btn = ({ icon, primary, quiet, bad, k, on, children, disabled, label, pressed, extra = "" }) => html`<button
  type="button" disabled=${disabled} aria-label=${label} aria-pressed=${pressed} onClick=${on} aria-keyshortcuts=${k && k.length === 1 ? k : undefined}
  class=${`btn ${primary ? "primary" : ""} ${quiet ? "quiet" : ""} ${bad ? "bad" : ""} ${extra}`}>
  ${icon && html`<${Icon} name=${icon} />`}${children}${k && html`<kbd aria-hidden="true">${k}</kbd>`}</button>`;

/** @param {{ pressed: boolean, on: () => void, children?: any, label?: string }} props */
export const Chip = ({ pressed, on, children, label }) => html`<button type="button" class="chip" aria-label=${label}
  aria-pressed=${pressed ? "true" : "false"} onClick=${on}>${children}</button>`;

/** @param {{ busy: boolean, lines?: number }} props nothing for the first 150 ms */
export const Skeleton = ({ busy, lines = 4 }) => (useLate(busy) ? html`<div class="pad skel" role="status" aria-label="Loading">
  ${Array.from({ length: lines }, (_, n) => html`<i style=${`width:${[72, 44, 66, 38][n % 4]}%`}></i>`)}</div>` : null);

export const Problem = ({ error, retry }) => html`<div class="alert bad" role="alert"><${Icon} name="warn" /><div>
  <b>${error.message}</b>${retry && html`<br /><${Btn} on=${retry}>Try again<//>`}</div></div>`;

/** @param {{ title: string, children?: any }} props */
export const Empty = ({ title, children }) => html`<section class="card empty"><${Logo} /><h2>${title}</h2>${children}</section>`;

/** The last thing that happened, with its undo; said once by screen readers. @param {{ inside?: boolean }} props */
export function Toast({ inside }) {
  const { notice } = useShared(), timer = useRef(0);
  useLayoutEffect(() => {
    if (!notice) return undefined;
    timer.current = window.setTimeout(() => tell(null), notice.bad ? 15_000 : 9000);
    return () => clearTimeout(timer.current);
  }, [notice]);
  return html`<div role="status" aria-live="polite" class="toasts">${notice && html`<div
    class=${`${inside ? "toastw" : "toast"} ${notice.bad ? "bad" : ""}`}><span>${notice.text}</span>
    ${notice.undo && html`<button type="button" onClick=${() => undo(notice.undo)}>Undo ${!inside && html`<kbd aria-hidden="true">u</kbd>`}</button>`}
  </div>`}</div>`;
}
