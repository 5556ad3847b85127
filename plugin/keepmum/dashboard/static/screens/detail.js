// One memory: its text, why it is there, where it comes from, whether it still holds, and what can be done about it.
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Curve } from "../lib/charts.js";
import { diff, shortened } from "../lib/diff.js";
import { useKeys } from "../lib/keys.js";
import { Btn, Diff, Dot, Flag, Icon, Plain, Problem, Skeleton, When, Who } from "../lib/parts.js";
import { address } from "../lib/route.js";
import { act, agentOf, revisionOf, useAsk } from "../lib/state.js";
import { ago, moment, spoken } from "../lib/time.js";
import { counted, DID, hundredths, KINDS, listed, sentence, TRUST } from "../lib/words.js";
import { Edit } from "./edit.js";

/** @type {Record<string, string>} */
const SCOPES = { project: "shared with the project", global: "everywhere", session: "this session only", shared: "shared with the team" };
/** @type {Record<string, string>} */
const VERDICTS = { valid: "unchanged", changed: "changed", gone: "gone", unknown: "" };

// @returns {any} a cited place, and whether its code is as it was.
export const Cited = ({ citation: { path, symbol, line, verdict, now } }) => html`<code>${path}${line ? `:${line}` : ""}${symbol ? ` ${symbol}` : ""}</code>
  ${VERDICTS[verdict] && html` <span class=${`flag ${verdict === "valid" ? "ok" : "warn"}`}><${Icon} name=${verdict === "valid" ? "check" : "warn"} />${VERDICTS[verdict]}</span>`}
  ${now && (now.path !== path || now.line !== line) && html` <span class="muted">now <code>${now.path}${now.line ? `:${now.line}` : ""}</code></span>`}`;

/** @param {{ source: string }} props a link only where it is a complete https address */
export const Source = ({ source }) => {
  const safe = /^https:\/\/[^\s\\@]+$/iu.test(source) && URL.canParse(source) && new URL(source).protocol === "https:";
  return safe ? html`<a href=${new URL(source).href} target="_blank" rel="noopener noreferrer">${source}</a>` : source;
};

/** @param {{ id: string, path: string }} props what changed in a cited file since it was learnt */
function Change({ id, path }) {
  const { data, error, busy } = useAsk("code", { id, path });
  if (error) return html`<${Problem} error=${error} />`;
  if (!data) return html`<${Skeleton} busy=${busy} />`;
  return html`<div class="code" tabindex="0" role="region" aria-label=${`Change in ${data.path}`}>${data.lines.map(([op, text]) =>
    html`<div class=${op === "+" ? "add" : op === "-" ? "rem" : ""}><span>${op}</span>${text}</div>`)}${data.cut && html`<div class="muted">… more was left out</div>`}</div>`;
}

function Warnings({ view }) {
  const [shown, show] = useState(""), changed = view.citations.find(each => each.verdict === "changed" || each.verdict === "gone");
  return html`${view.wrong && html`<div class="alert bad"><${Icon} name="flag" /><div><b>Marked as wrong on ${moment(view.wrong.at)}.</b> ${view.wrong.reason}</div></div>`}
    ${view.warnings.map(warning => html`<div class="alert" key=${warning.kind}><${Icon} name="warn" /><div><b>${spoken(warning.says)}</b> ${warning.do}
      ${warning.kind.startsWith("code-") && changed && html`<br /><${Btn} icon="file" pressed=${Boolean(shown)} on=${() => show(shown ? "" : changed.path)}>Show the change<//>`}</div></div>`)}
    ${shown && html`<${Change} id=${view.memory.id} path=${shown} />`}`;
}

function Origin({ view: { memory, citations, used } }) {
  const trust = memory.confirmed_at ? `${TRUST[memory.trust]}; confirmed ${memory.confirmed_by ? `by ${agentOf(memory.confirmed_by).title} ` : ""}${ago(memory.confirmed_at)}`
    : memory.trust === "person" ? TRUST.person : `${TRUST[memory.trust] || memory.trust}; not confirmed by you`;
  const by = used.agents.map(id => agentOf(id).title);
  return html`<div class="sec"><h2>Where it comes from</h2><dl class="kv"><dt>Learnt by</dt><dd><${Who} id=${memory.created_by || memory.agent} />${memory.session ? ", in a session on " : ", "}<${When} at=${memory.created_at} form="exact" /></dd>
    ${memory.git && html`<dt>Code</dt><dd><code>${memory.git.branch || "detached"}${memory.git.commit ? `@${memory.git.commit.slice(0, 7)}` : ""}</code></dd>`}
    ${citations.length > 0 && html`<dt>Cites</dt><dd>${citations.map(citation => html`<div><${Cited} citation=${citation} /></div>`)}</dd>`}
    ${memory.source && html`<dt>Source</dt><dd><${Source} source=${memory.source} /></dd>`}<dt>Trust</dt><dd>${trust}</dd>
    <dt>Used</dt><dd>${used.count ? `${counted(used.count, "load")}, last ${ago(used.last)}${by.length ? `, by ${listed(by)}` : ""}` : "never loaded"}</dd>
    ${memory.key && html`<dt>Key</dt><dd class="mono">${memory.key}</dd>`}${memory.project && html`<dt>Project</dt><dd>${memory.project}</dd>`}<dt>Id</dt><dd class="mono">${memory.short}</dd>
    ${memory.data !== null && memory.data !== undefined && html`<dt>Data</dt><dd><code>${JSON.stringify(memory.data)}</code></dd>`}</dl></div>`;
}

/** @param {any} newer @param {any} older @returns {[string, any][]} what a version changed, field by field */
function changesOf(newer, older) {
  /** @type {[string, any][]} */
  const all = [["", [newer.text, older.text]], ["title", [newer.title, older.title]], ["why", [newer.why || "", older.why || ""]],
    ["kind", [newer.kind, older.kind]], ["tags", [newer.tags.join(", "), older.tags.join(", ")]]];
  return all.filter(([, [now, before]]) => now !== before);
}

function History({ view: { versions, versions_total: total, can }, onPutBack }) {
  return html`<div class="sec"><h2>History</h2><ol class="hist">${versions.map((version, n) => {
    const older = versions[n + 1], changes = older ? changesOf(version, older) : [];
    const says = older ? sentence(DID[version.action] || version.action) : versions.length < total ? "Older versions are not shown." : "Learnt.";
    return html`<li key=${version.revision}><div>${changes.map(([field, [now, before]]) => html`<p>${field && html`<span class="muted">${field}: </span>`}<${Diff} runs=${shortened(diff(before, now))} /></p>`)}
      ${!changes.length && html`<p>${says}</p>`}<small>${agentOf(version.agent).title}, ${moment(version.at)}${older && html` <${Dot} /> revision ${version.revision}`}
      ${n > 0 && can.includes("put_back") && html` <${Dot} /> <button type="button" class="link" onClick=${() => onPutBack(version.revision)} aria-label=${`Put back revision ${version.revision}`}>put back</button>`}</small></div></li>`;
  })}</ol></div>`;
}

/** @type {Record<string, string>} */
const RELATIONS = { replaces: "replaces", "replaced-by": "replaced by", "claims-to-replace": "wants to replace" };

const Near = ({ near }) => (near.length ? html`<div class="sec"><h2>Near it</h2><dl class="kv">${near.map(other => html`<dt class="num">${RELATIONS[other.relation]
  || (other.cosine === null ? "near" : hundredths(other.cosine))}</dt><dd><a href=${address("memories", { open: other.id })} class=${other.status === "active" ? "" : "muted"}>${other.title || "(no title)"}</a>${other.status === "active" ? "" : ` (${other.status})`}</dd>`)}</dl></div>` : null);

/** @param {{ view: any, run: Record<string, () => void>, onBack: () => void }} props */
const Actions = ({ view: { memory, can }, run, onBack }) => html`<div class="acts2"><${Btn} quiet extra="back" k="esc" on=${onBack}>Back<//>
  ${memory.status === "active" && can.includes("still_true") && html`<${Btn} primary icon="check" k="v" on=${run.v}>${memory.trust === "outside" && can.includes("confirm") ? "Confirm" : "Still true"}<//>`}
  ${memory.status !== "active" && can.includes("restore") && html`<${Btn} primary icon="check" k="a" on=${run.a}>Bring back<//>`}
  ${can.includes("edit") && html`<${Btn} icon="edit" k="e" on=${run.e}>Edit<//>`}
  ${can.includes("pin") && html`<${Btn} icon="pin" k="p" on=${run.p}>${memory.pinned ? "Unpin" : "Pin"}<//>`}
  ${memory.status === "active" && can.includes("archive") && html`<${Btn} icon="box" k="a" on=${run.a}>Archive<//>`}
  ${can.includes("wrong") && html`<${Btn} bad icon="flag" k="w" on=${run.w}>Wrong<//>`}
  ${can.includes("forget") && html`<${Btn} bad icon="bin" k="#" on=${run["#"]}>Forget<//>`}</div>`;

/** What the keys and buttons do. @param {any} view @param {(gone: boolean) => void} done @param {() => void} edit */
function actionsOf(view, done, edit) {
  const { memory, can } = view, ids = [memory.id];
  const run = (verb, more = {}, gone = false) => async () => {
    if (can.includes(verb) && await act(verb, () => ({ ids, revisions: { [memory.id]: revisionOf(memory) }, ...more }))) done(gone);
  };
  const active = memory.status === "active";
  return /** @type {Record<string, () => void>} */ ({
    v: run(memory.trust === "outside" && can.includes("confirm") ? "confirm" : "still_true"), e: () => can.includes("edit") && edit(),
    p: run("pin", { pinned: !memory.pinned }), a: run(active ? "archive" : "restore", {}, true), w: run("wrong", {}, true), "#": run("forget", {}, true),
  });
}

/** The keys of what is open; one that comes while it is loading acts when it is there. @param {any} view @param {any} error @param {Record<string, () => void>} run @param {boolean} waits */
function useActions(view, error, run, waits) {
  const early = useRef("");
  useKeys(waits ? Object.fromEntries(["v", "e", "p", "a", "w", "#"].map(key => [key, () => { early.current = key; }])) : run);
  useLayoutEffect(() => {
    const act = run[early.current];
    early.current = "";
    if (act) act();
  }, [Boolean(view), error]);
}

/** @param {{ id: string, picked?: Set<string>, onBack: () => void, onChanged: (gone?: boolean) => void }} props */
export function Detail({ id, picked, onBack, onChanged }) {
  const { data, error, busy, reload } = useAsk("memory", { id }, true), [editing, setEditing] = useState(false);
  const done = (gone = false) => { reload(); onChanged(gone); };
  const keys = !editing && !(picked && picked.size), run = data && keys ? actionsOf(data, done, () => setEditing(true)) : {};
  useActions(data, error, run, !data && keys);
  if (error && !data) return html`<article class="detail" aria-label="Memory"><${Problem} error=${error} retry=${reload} /></article>`;
  if (!data) return html`<article class="detail" aria-label="Memory" aria-busy="true"><${Skeleton} busy=${busy} lines=${8} /></article>`;
  if (editing) return html`<article class="detail" aria-label="Edit memory"><${Edit} memory=${data.memory} onDone=${() => { setEditing(false); done(); }} onLeave=${() => setEditing(false)} /></article>`;
  return html`<article class="detail" aria-label="Memory" tabindex="-1"><${Head} memory=${data.memory} /><${Actions} view=${data} run=${run} onBack=${onBack} />
    <${Warnings} view=${data} />${data.memory.text.trim() !== data.memory.title && html`<p class="body"><${Plain} text=${data.memory.text} /></p>`}
    ${data.memory.why && html`<div class="sec"><h2>Why</h2><p class="note"><${Plain} text=${data.memory.why} /></p></div>`}<${Origin} view=${data} /><${Fades} fading=${data.fading} />
    <${History} view=${data} onPutBack=${async version => { if (await act("put_back", { id, revision: revisionOf(data.memory), version })) done(); }} /><${Near} near=${data.near} /></article>`;
}

const Head = ({ memory }) => html`<div class="head2"><div class="chips"><span class="tag line">${(KINDS[memory.kind] || [memory.kind])[0]}</span>
  ${memory.tags.map(tag => html`<a class="tag" href=${address("memories", { tag })}>${tag}</a>`)}<span class="tag">${SCOPES[memory.scope] || memory.scope}</span>
  ${memory.status !== "active" && html`<span class="flag warn"><${Icon} name="box" />${memory.status === "trashed" ? "in the trash" : memory.status}</span>`}
  ${memory.flags.filter(flag => ["pinned", "confirmed", "conflict"].includes(flag)).map(flag => html`<${Flag} name=${flag} />`)}</div>
  <h2 class="title">${memory.title || "(no title)"}</h2></div>`;

function Fades({ fading }) {
  return html`<div class="sec"><h2>How it fades</h2>${fading.fades ? html`<${Curve} fading=${fading} now=${Date.now()} />` : html`<p class="muted">${spoken(sentence(fading.says || "does not fade"))}</p>`}</div>`;
}

