// The panel's list of memories: search, chips, and cards that unfold in place.
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Btn, Chip, Dot, Empty, Flag, Icon, Legs, Marked, Plain, Problem, Skeleton, When, Who } from "../lib/parts.js";
import { act, agentOf, revisionOf, useAsk, useShared } from "../lib/state.js";
import { ago } from "../lib/time.js";
import { counted, figures, KINDS, listed } from "../lib/words.js";
import { Detail } from "./detail.js";
import { Edit } from "./edit.js";

/** @type {[string, string][]} */
const CHIPS = [["", "All"], ["decision", "Decisions"], ["task", "Tasks"], ["preference", "Prefs"]];
/** @type {Record<string, string>} */
const SHORT = { troubleshooting: "fix" };

/** @param {{ row: any, message: any, onGone: () => void }} props an unfolded card: why, where it comes from, use, and actions */
function Unfolded({ row, message, onGone }) {
  const { data, error, busy, reload } = useAsk("memory", { id: row.id }, true), [editing, setEditing] = useState(false);
  if (error && !data) return html`<${Problem} error=${error} retry=${reload} />`;
  if (!data) return html`<${Skeleton} busy=${busy} lines=${3} />`;
  const { memory, can, used } = data, run = async verb => { if (await act(verb, { ids: [memory.id], revisions: { [memory.id]: revisionOf(memory) } }) && verb !== "still_true") onGone(); };
  if (editing) return html`<${Edit} memory=${memory} onDone=${() => { setEditing(false); reload(); }} onLeave=${() => setEditing(false)} />`;
  const by = used.agents.map(id => agentOf(id).title);
  return html`<p class="whole"><${Plain} text=${memory.text} /></p>${memory.why && html`<p class="note">Why: <${Plain} text=${memory.why} /></p>`}
    ${data.warnings.map(warning => html`<div class="alert" key=${warning.kind}><${Icon} name="warn" /><div><b>${warning.says}</b> ${warning.do}</div></div>`)}
    <dl class="kv">${row.hit && html`<dt>Found</dt><dd><${Legs} hit=${row.hit} /></dd>`}${memory.git && html`<dt>Code</dt><dd><code>${memory.git.branch || "detached"}${memory.git.commit ? `@${memory.git.commit.slice(0, 7)}` : ""}</code></dd>`}
      <dt>Used</dt><dd>${used.count ? `${counted(used.count, "load")}, last ${ago(used.last)}${by.length ? ` by ${listed(by)}` : ""}` : "never loaded"}</dd></dl>
    <div class="acts2">${can.includes("still_true") && html`<${Btn} primary icon="check" on=${() => run("still_true")}>Still true<//>`}${can.includes("edit") && html`<${Btn} icon="edit" on=${() => setEditing(true)}>Edit<//>`}
      ${can.includes("archive") && html`<${Btn} icon="box" on=${() => run("archive")}>Archive<//>`}${can.includes("forget") && html`<${Btn} bad icon="bin" on=${() => run("forget")}>Forget<//>`}
      ${message && html`<${Btn} quiet on=${() => message(memory.short || memory.id)}>Ask about this<//>`}</div>`;
}

/** @param {{ row: any, open: boolean, folds: boolean, onOpen: (id: string) => void, message: any, onGone: () => void }} props */
function Card({ row, open, folds, onOpen, message, onGone }) {
  const title = row.key && !row.hit ? row.key : row.title || "(no title)", body = row.hit ? html`<${Marked} pieces=${row.hit.passage} />` : row.excerpt;
  return html`<li class=${open ? "open" : ""}><div class="m"><${Who} id=${row.updated_by || row.agent} /><${Dot} />${SHORT[row.kind] || (KINDS[row.kind] || [row.kind])[0]}
    ${row.flags.slice(0, 1).map(flag => html`<${Dot} /><${Flag} name=${flag} />`)}<span class="when num"><${When} at=${row.updated_at} form="short" /></span></div>
    <button type="button" class="fold" aria-expanded=${open ? "true" : "false"} onClick=${() => onOpen(open ? "" : row.id)}><b>${title}</b></button>
    ${open && folds ? html`<${Unfolded} row=${row} message=${message} onGone=${onGone} />` : html`<p>${body}</p>${row.tags.length > 0 && html`<div class="m">${row.tags.slice(0, 4).map(tag => html`<span class="tag">${tag}</span>`)}</div>`}`}</li>`;
}

/** @param {{ text: string, onText: (text: string) => void }} props searches 150 ms after the last key */
function Search({ text, onText }) {
  const [typed, setTyped] = useState(text), timer = useRef(0);
  useLayoutEffect(() => { setTyped(text); }, [text]);
  const input = event => {
    const value = event.target.value;
    setTyped(value);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => onText(value.trim()), 150);
  };
  return html`<label class="search"><${Icon} name="search" /><span class="vh">Search memories</span><input type="search" value=${typed} maxlength="1000" placeholder="Ask, or type words" onInput=${input}
    onKeyDown=${event => { if (event.key === "Enter") onText(typed.trim()); }} /></label>`;
}

/** @param {{ query: string, full: boolean, open: string, onOpen: (id: string) => void, onFit: (says: string) => void, message: any }} props */
export function MemoryTab({ query, full, open, onOpen, onFit, message }) {
  const [text, setText] = useState(query), [chip, setChip] = useState(""), { changes, mine } = useShared(), seen = useRef(-1), [limit, setLimit] = useState(50);
  useLayoutEffect(() => { setText(query); }, [query]);
  const filter = chip.startsWith("#") ? { tags: [chip.slice(1)] } : chip ? { kinds: [chip] } : {}, used = Boolean(text || chip || open);
  const { data, error, busy, reload } = useAsk("memories", { ...filter, ...(text ? { query: text } : {}), limit, facets: true }, !used);
  useLayoutEffect(() => { if (data) { seen.current = changes; onFit(data.query ? `${figures(data.total)} of ${figures(data.of)} fit` : ""); } }, [data]);
  useLayoutEffect(() => () => onFit(""), []);
  useLayoutEffect(() => { if (mine) reload(); }, [mine]); // what was done here, and its undo
  const tags = data && data.facets ? Object.keys(data.facets.tags).slice(0, 3) : [], stale = used && data && seen.current >= 0 && seen.current !== changes;
  const rows = data ? data.rows : [], shown = open && !rows.some(row => row.id === open);
  const list = html`<ul class="wl" aria-label="Memories">${rows.map(row => html`<${Card} key=${row.id} row=${row} open=${row.id === open} folds=${!full} onOpen=${onOpen} message=${message} onGone=${() => onOpen("")} />`)}</ul>
    ${data && rows.length < data.total && limit < 200 && html`<div class="ws"><${Btn} quiet on=${() => setLimit(200)}>Show more<//></div>`}`;
  return html`<div class="ws"><${Search} text=${text} onText=${setText} /><div class="chips" role="group" aria-label="Filters">${[...CHIPS, ...tags.map(tag => [`#${tag}`, `#${tag}`])].map(([id, says]) => html`<${Chip} key=${id} pressed=${chip === id} on=${() => { setChip(id); onOpen(""); }}>${says}<//>`)}</div>
    ${data && data.lexical_only && html`<p class="muted fit" role="status">${data.lexical_only}</p>`}${stale && html`<p role="status"><${Btn} on=${reload}>Something changed: show<//></p>`}</div>
    ${error && html`<${Problem} error=${error} retry=${reload} />`}<${Skeleton} busy=${busy && !data} lines=${6} />${data && !rows.length && html`<${Nothing} found=${Boolean(text || chip)} />`}
    ${shown && !full && html`<ul class="wl"><li class="open"><${Unfolded} row=${{ id: open }} message=${message} onGone=${() => onOpen("")} /></li></ul>`}
    ${full && open ? html`<div class="split opened"><div class="list" tabindex="0" role="region" aria-label="Found">${list}</div><${Detail} key=${open} id=${open} onBack=${() => onOpen("")} onChanged=${() => {}} /></div>` : list}`;
}

/** @param {{ found: boolean }} props */
const Nothing = ({ found }) => (found ? html`<${Empty} title="Nothing fits"><p>Try other words or fewer filters.</p><//>`
  : html`<${Empty} title="Nothing is remembered here yet"><p>Say in the chat:</p><span class="cmd">remember that deploys go through the blue pool first</span><//>`);
