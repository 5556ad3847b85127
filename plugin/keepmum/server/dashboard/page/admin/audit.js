// The audit log: who did what to which memory, person or key; whether its chain is whole; and the log as a file.
import { html, useLayoutEffect, useState } from "../vendor/preact.js";
import { Btn, Icon, Problem, Skeleton, When } from "../lib/parts.js";
import { address, go } from "../lib/route.js";
import { tell, usePages, useShared } from "../lib/state.js";
import { iso } from "../lib/time.js";
import { counted, DID, figures } from "../lib/words.js";
import { Pick } from "../screens/filters.js";
import { call, Field, projectSays, save, useCall } from "./call.js";

const PAGE = 100, MOST = 1000; // rows of a page, and of one answer
const AT_ONCE = 100_000; // rows of a chain that is checked when the screen opens
const LAST = String(2 ** 53 - 1);
const FIELDS = ["actor", "action", "project", "subject"];
/** @type {Record<string, string>} what the log says about people and keys */
const SAYS = {
  "person-added": "added a person", "person-removed": "removed a person", "person-restored": "restored a person", "key-made": "made a key", "key-rotated": "rotated a key", "key-limited": "limited a key", "key-withdrawn": "withdrew a key",
  "role-reader": "made reader", "role-writer": "made writer", "role-curator": "made curator", "role-admin": "made admin", "role-none": "took the role away",
};
const says = action => SAYS[action] || DID[action] || action;
const OF_MEMORIES = ["created", "updated", "superseded", "archived", "trashed", "restored", "purged", "refused", "conflict", "confirmed", "wrong", "imported", "masked"];

/** The state of the chain, for who may see all of it. @param {{ head: string }} props as the log has it now */
function Chain({ head }) {
  const [verdict, set] = useState(/** @type {any} */ (null)), [kept, setKept] = useState(""), [error, setError] = useState(/** @type {any} */ (null)), [busy, setBusy] = useState(false);
  const rows = Number(head.split(":")[0]);
  const check = async (compared = "") => {
    setBusy(true);
    setError(null);
    try { set({ ...await call("verification", { query: compared ? { head: compared } : {} }), at: Date.now(), compared }); } catch (problem) { setError(problem); }
    setBusy(false);
  };
  useLayoutEffect(() => { if (rows <= AT_ONCE) check(); }, []);
  const copy = () => navigator.clipboard.writeText(verdict.head).then(() => tell({ text: "Copied" }), () => tell({ text: "The browser does not let this page copy; select the head", bad: true }));
  return html`<section class="card chain" aria-label="The chain"><header><h2>The chain</h2></header><div class="pad"><div role="status">${busy ? html`<p class="muted">Checking ${counted(rows, "row")} …</p>` : verdict ? html`<${Verdict} verdict=${verdict} />` : html`<p class="muted">Not checked yet; ${counted(rows, "row")} take some time.</p>`}</div>
    ${verdict && html`<div class="head3"><code class="secret">${verdict.head}</code><${Btn} icon="copy" label="Copy the head" on=${copy}>Copy<//></div><p class="muted small">Keep this head elsewhere: a log that is cut off later does not have its row.</p>`}
    <div class="fields"><${Field} label="Compare with a head that you kept" id="kept" problem=${error && error.message}><input class="in mono" id="kept" value=${kept} maxlength="100" autocomplete="off" spellcheck=${false} aria-describedby=${error ? "kept-problem" : undefined} onInput=${event => setKept(event.target.value)} onKeyDown=${event => { if (event.key === "Enter") check(kept.trim()); }} /><//></div>
    <div class="acts2"><${Btn} disabled=${busy} on=${() => check(kept.trim())}>${kept.trim() ? "Check and compare" : "Check again"}<//></div></div></section>`;
}

/** @param {{ verdict: any }} props what the check found */
const Verdict = ({ verdict: { intact, problem, head, at, compared } }) => (intact
  ? html`<p class="verdict"><${Icon} name="check" colour="ok" /><span><b>Whole up to row ${figures(Number(head.split(":")[0]))}${compared ? ", and it has the row of your head" : ""}.</b> Checked <${When} at=${at} />.</span></p>`
  : html`<p class="alert bad"><${Icon} name="warn" /><span><b>The log was changed: ${problem}.</b> It is whole up to row ${figures(Number(head.split(":")[0]))}. Keep a copy of the database and find out who could write to it.</span></p>`);

/** @param {{ row: any, names: Map<string, string> }} props one row, with the names of people and keys */
const Row = ({ row, names }) => html`<tr><td class="t num"><${When} at=${row.at} form="exact" /></td><td>${row.actor}</td><td>${says(row.action)}</td>
  <td>${row.subject && (row.subject.startsWith("mem_") ? html`<a class="quiet mono" href=${address("memories", { open: row.subject })}>${row.subject.slice(0, 16)}</a>` : names.get(row.subject) || html`<code>${row.subject}</code>`)}</td>
  <td class="muted">${row.project === null ? "" : projectSays(row.project)}</td><td class="t num"><span class="vh">row </span>${figures(row.number)}</td></tr>`;

/** @param {{ params: URLSearchParams, people: any[] }} props */
function Filters({ params, people }) {
  const get = name => params.get(name) || "", set = more => go("audit", { ...Object.fromEntries(params), ...more }, true);
  const field = (name, label, hint) => html`<label class="small"><span class="vh">${label}</span><input class="in" value=${get(name)} placeholder=${hint} maxlength="255" autocomplete="off" spellcheck=${false} onChange=${event => set({ [name]: event.target.value.trim() })} /></label>`;
  const actors = [...new Set([...people.map(person => person.name), get("actor")].filter(Boolean))], actions = [...new Set([...OF_MEMORIES, ...Object.keys(SAYS), get("action")].filter(Boolean))];
  return html`<div class="chips filters" role="group" aria-label="Filters"><${Pick} label="Who" value=${get("actor")} options=${[["", "Everybody"], ...actors.map(name => [name, name])]} on=${actor => set({ actor })} />
    <${Pick} label="What was done" value=${get("action")} options=${[["", "Everything"], ...actions.map(name => [name, says(name)])]} on=${action => set({ action })} />
    ${field("project", "Project", "Project")}${field("subject", "Id of a memory, person or key", "Id")}
    ${FIELDS.some(get) && html`<${Btn} quiet on=${() => go("audit", {}, true)}>Show all<//>`}</div>`;
}

/** The filtered rows, oldest first, as JSON lines. @param {Record<string, string>} query @param {(rows: number) => void} progress @returns {Promise<string[]>} */
async function everyRow(query, progress) {
  const lines = [];
  for (let after = "0"; after;) {
    const { data } = await call("rows", { query: { ...query, after, limit: String(MOST) } });
    for (const row of data) lines.push(`${JSON.stringify({ ...row, time: iso(row.at) })}\n`);
    progress(lines.length);
    after = data.length < MOST ? "" : String(data[data.length - 1].number);
  }
  return lines;
}

/** @param {{ query: Record<string, string> }} props */
function Export({ query }) {
  const [rows, set] = useState(-1);
  const run = async () => {
    set(0);
    try { save("audit.jsonl", await everyRow(query, set), "application/x-ndjson"); } catch (error) { tell({ text: `Nothing was saved: ${error.message}`, bad: true }); }
    set(-1);
  };
  return html`<${Btn} icon="save" disabled=${rows >= 0} on=${run}>${rows >= 0 ? `${figures(rows)} rows …` : "Export"}<//>`;
}

/** @param {{ params: URLSearchParams }} props */
export function Screen({ params }) {
  const { about } = useShared(), admin = about.admin || {}, people = useCall("list_people"), keys = useCall("list_keys");
  const query = Object.fromEntries(FIELDS.map(name => [name, params.get(name) || ""]).filter(([, value]) => value)), first = useCall("rows", { query: { ...query, before: LAST, limit: String(PAGE) } });
  const { data, error, busy, reload } = first, persons = people.data ? people.data.data : [];
  const names = new Map([...persons.map(person => [person.id, person.name]), ...(keys.data ? keys.data.data : []).map(key => [key.id, `key “${key.name}”`])]);
  const page = found => ({ rows: found.data, cursor: found.data.length < PAGE ? "" : String(found.data[PAGE - 1].number) });
  const { rows, grow } = usePages(data, page, before => call("rows", { query: { ...query, before, limit: String(PAGE) } }));
  return html`<div class="main"><div class="head"><div><h1>Audit</h1><p>Every change of a memory, a person or a key: who, when, and the id. The log holds no text.</p></div><div class="acts"><${Export} query=${query} /></div></div>
    ${error && html`<${Problem} error=${error} retry=${reload} />`}<${Skeleton} busy=${busy && !data} lines=${8} />
    ${data && html`<div class="col">${admin.every && html`<${Chain} head=${data.head} />`}<div><${Filters} params=${params} people=${persons} />
      ${rows.length ? html`<section class="card log audit"><table><thead><tr>${["When", "Who", "Did", "What", "Project", "Row"].map(title => html`<th scope="col">${title}</th>`)}</tr></thead><tbody>${rows.map(row => html`<${Row} key=${row.number} row=${row} names=${names} />`)}</tbody></table>
        ${grow && html`<div class="pad"><${Btn} on=${grow}>Show more<//></div>`}</section>` : html`<p class="muted">No such row.</p>`}</div></div>`}</div>`;
}
