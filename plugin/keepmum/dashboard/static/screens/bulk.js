// What can be done with all that are selected; many at once ask for their number first.
import { html, useState } from "../vendor/preact.js";
import { useKeys } from "../lib/keys.js";
import { Btn, useFocus } from "../lib/parts.js";
import { act, may } from "../lib/state.js";
import { figures, tagsOf } from "../lib/words.js";

const MANY = 20; // more than this ask for the number before they are forgotten

/** @param {{ picked: Set<string>, status?: string, onDone: () => void, onClear: () => void }} props */
export function Bulk({ picked, status = "active", onDone, onClear }) {
  const [form, setForm] = useState(/** @type {"" | "tag" | "forget"} */ ("")), ids = [...picked];
  const run = async (verb, more = {}) => { if (await act(verb, { ids, ...more })) onDone(); };
  const forget = () => { if (ids.length > MANY) setForm("forget"); else run("forget"); };
  const gone = status !== "active";
  /** @type {Record<string, () => void>} */
  const keys = { a: () => run(gone ? "restore" : "archive"), "#": forget, v: () => run("still_true"), p: () => run("pin", { pinned: true }) };
  const verbs = /** @type {Record<string, string>} */ ({ a: gone ? "restore" : "archive", "#": "forget", v: "still_true", p: "pin" });
  useKeys(Object.fromEntries(Object.entries(keys).filter(([key]) => may(verbs[key]))));
  return html`<div class="bulk" role="group" aria-label="Selected memories"><span role="status"><b class="num">${figures(ids.length)}</b> selected</span>
    ${!gone && may("archive") && html`<${Btn} icon="box" on=${() => run("archive")}>Archive<//>`}
    ${gone && may("restore") && html`<${Btn} icon="check" on=${() => run("restore")}>Bring back<//>`}
    ${may("tag") && html`<${Btn} on=${() => setForm(form === "tag" ? "" : "tag")}>Tag<//>`}
    ${status !== "trashed" && may("forget") && html`<${Btn} bad icon="bin" on=${forget}>Forget<//>`}
    <${Btn} quiet extra="sp" k="esc" on=${onClear}>Clear<//>
    ${form === "tag" && html`<${TagForm} onKeep=${more => run("tag", more)} onLeave=${() => setForm("")} />`}
    ${form === "forget" && html`<${ForgetMany} count=${ids.length} onKeep=${() => run("forget", { count: ids.length })} onLeave=${() => setForm("")} />`}</div>`;
}

function TagForm({ onKeep, onLeave }) {
  const [text, setText] = useState(""), field = useFocus();
  const keep = (typed = text) => {
    const tags = tagsOf(typed);
    if (tags.length) onKeep({ add: tags.filter(tag => !tag.startsWith("-")), remove: tags.filter(tag => tag.startsWith("-")).map(tag => tag.slice(1)) });
  };
  return html`<div class="ask"><label>Tags to add, with commas; <code>-tag</code> removes one <input ref=${field} value=${text} maxlength="400"
    onInput=${event => setText(event.target.value)} onKeyDown=${event => answer(event, keep, onLeave)} /></label>
    <${Btn} primary on=${() => keep()}>Tag<//><${Btn} quiet on=${onLeave}>Leave<//></div>`;
}

/** @param {{ count: number, onKeep: () => void, onLeave: () => void }} props */
function ForgetMany({ count, onKeep, onLeave }) {
  const [text, setText] = useState(""), field = useFocus(), right = text.trim() === String(count);
  return html`<div class="ask"><label>These ${figures(count)} memories go into the trash for 30 days. Type <b class="num">${count}</b> to go on.
    <input ref=${field} inputmode="numeric" value=${text} onInput=${event => setText(event.target.value)}
    onKeyDown=${event => answer(event, typed => typed.trim() === String(count) && onKeep(), onLeave)} /></label>
    <${Btn} bad icon="bin" disabled=${!right} on=${onKeep}>Forget ${figures(count)}<//><${Btn} quiet on=${onLeave}>Leave<//></div>`;
}

/** @param {any} event @param {(typed: string) => void} keep gets the text of the field @param {() => void} leave */
function answer(event, keep, leave) {
  if (event.key === "Enter") { event.preventDefault(); keep(event.currentTarget.value); }
  if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); leave(); }
}
