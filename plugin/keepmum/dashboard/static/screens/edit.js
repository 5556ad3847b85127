// Editing in place. A refusal stands at its field and keeps what was typed; a change by someone else shows both.
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { diff } from "../lib/diff.js";
import { useKeys } from "../lib/keys.js";
import { Btn, Diff, Icon } from "../lib/parts.js";
import { agentOf, perform, tell } from "../lib/state.js";
import { ago } from "../lib/time.js";
import { KINDS, sentence, tagsOf } from "../lib/words.js";

/** @typedef {{ title: string, text: string, why: string, kind: string, tags: string }} Draft */

/** @type {Map<string, Draft>} what was typed and not kept, by memory; until the page is closed */
const drafts = new Map();

/** @param {any} memory @returns {Draft} */
const draftOf = memory => ({ title: memory.title, text: memory.text, why: memory.why || "", kind: memory.kind, tags: memory.tags.join(", ") });

/** @param {Draft} draft @param {any} memory @returns {any} the fields that differ */
function changed(draft, memory) {
  const before = draftOf(memory), out = /** @type {any} */ ({});
  for (const name of /** @type {(keyof Draft)[]} */ (Object.keys(before))) if (draft[name] !== before[name]) out[name] = name === "tags" ? tagsOf(draft.tags) : draft[name];
  return out;
}

/** @param {any} error @param {string} name @returns {string} what is wrong with a field; "" when nothing is */
function problemOf(error, name) {
  if (!error) return "";
  const place = (error.more.places || []).find(each => each.field === name);
  if (place) return `${place.rule} in ${name}, line ${place.line}. Nothing was stored.`;
  return error.more.field === name ? sentence(error.message) : "";
}

/** @param {{ name: keyof Draft, draft: Draft, set: any, error: any, rows?: number, limit: number }} props */
function Field({ name, draft, set, error, rows = 0, limit }) {
  const box = useRef(null), problem = problemOf(error, name);
  useLayoutEffect(() => { if (problem && box.current) { box.current.focus(); if (rows) select(box.current, lineOf(error, name)); } }, [error]);
  const id = `edit-${name}`, more = { id, ref: box, class: "in", value: draft[name], maxlength: limit, "aria-invalid": problem ? "true" : undefined,
    "aria-describedby": problem ? `${id}-problem` : undefined, onInput: event => set({ ...draft, [name]: event.target.value }) };
  return html`<div class=${`field ${problem ? "err" : ""}`}><label for=${id}>${sentence(name)}${name === "tags" ? ", with commas" : ""}</label>
    ${rows ? html`<textarea ...${more} rows=${rows}></textarea>` : html`<input ...${more} />`}
    ${problem && html`<p class="msg" role="alert" id=${`${id}-problem`}><${Icon} name=${error.kind === "refused" ? "lock" : "warn"} /><span><b>${problem}</b>${error.kind === "refused"
      && " Say where the secret is kept (a vault path, a variable’s name) instead of what it is, and try again."}</span></p>`}</div>`;
}

/** @param {any} error @param {string} name @returns {number} */
const lineOf = (error, name) => ((error.more.places || []).find(each => each.field === name) || { line: 0 }).line;

/** Marks the line that was refused. @param {HTMLTextAreaElement} box @param {number} line from 1 */
function select(box, line) {
  const lines = box.value.split("\n");
  if (line < 1 || line > lines.length) return;
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  box.setSelectionRange(start, start + lines[line - 1].length);
}

export function Edit({ memory, onDone, onLeave }) {
  const [base, setBase] = useState(memory), [draft, setDraft] = useState(drafts.get(memory.id) || draftOf(memory)), [error, setError] = useState(null), [busy, setBusy] = useState(false);
  const set = next => { drafts.set(memory.id, next); setDraft(next); };
  const keep = async (on = base) => {
    const fields = changed(draft, on);
    if (!Object.keys(fields).length) return leave(true);
    setBusy(true);
    try {
      const done = await perform("edit", { id: memory.id, revision: on.revision, ...fields });
      drafts.delete(memory.id);
      tell({ text: done.said, undo: done.undo });
      onDone();
    } catch (problem) { setError(problem); setBusy(false); }
    return undefined;
  };
  const leave = (forget = false) => { if (forget) drafts.delete(memory.id); onLeave(); };
  useKeys({ "mod+Enter": () => keep(), Escape: () => leave() });
  const theirs = error && error.kind === "changed" ? error.more.present : null;
  if (theirs) return html`<${Meanwhile} mine=${draft} theirs=${theirs} onMine=${() => { setBase(theirs); setError(null); keep(theirs); }} onTheirs=${() => { drafts.delete(memory.id); onDone(); }} onWrite=${() => { setBase(theirs); setError(null); setBusy(false); }} />`;
  const shared = { draft, set, error }, placed = error && ["title", "text", "why", "tags", "kind"].some(name => problemOf(error, name));
  return html`<div class="edit" role="group" aria-label="Edit"><h2>Edit</h2><${Field} name="title" ...${shared} limit=${120} /><${Field} name="text" ...${shared} rows=${7} limit=${65536} /><${Field} name="why" ...${shared} rows=${3} limit=${5000} />
    <div class="field"><label for="edit-kind">Kind</label><select id="edit-kind" class="in" value=${draft.kind} onChange=${event => set({ ...draft, kind: event.target.value })}>${Object.entries(KINDS).map(([kind, [says]]) => html`<option value=${kind}>${says}</option>`)}</select></div>
    <${Field} name="tags" ...${shared} limit=${2000} />${error && !placed && html`<p class="msg" role="alert"><${Icon} name="warn" /><span><b>${error.message}</b></span></p>`}
    <div class="acts2"><${Btn} primary k="⌘ ↵" disabled=${busy} on=${() => keep()}>Keep<//><${Btn} quiet k="esc" on=${() => leave()}>Leave<//></div></div>`;
}

/** @param {{ mine: Draft, theirs: any, onMine: () => void, onTheirs: () => void, onWrite: () => void }} props */
function Meanwhile({ mine, theirs, onMine, onTheirs, onWrite }) {
  const who = agentOf(theirs.updated_by).title;
  return html`<div class="edit" role="group" aria-label="Changed meanwhile"><div class="alert" role="alert"><${Icon} name="warn" /><div><b>${who} changed this ${ago(theirs.updated_at)}.</b> Yours is kept below; nothing is lost.</div></div>
    <p class="body"><${Diff} runs=${diff(theirs.text, mine.text)} /></p><div class="acts2"><${Btn} primary on=${onMine}>Take mine<//><${Btn} on=${onTheirs}>Take ${who}’s<//><${Btn} icon="edit" on=${onWrite}>Write one that is right<//></div></div>`;
}
