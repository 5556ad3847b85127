// Who wrote, used and was refused what; and a way to take back what one agent wrote.
import { html, useState } from "../vendor/preact.js";
import { Bars } from "../lib/charts.js";
import { Btn, Chip, Icon, Problem, Skeleton, When, Who } from "../lib/parts.js";
import { address, go } from "../lib/route.js";
import { act, agentOf, ask, may, useAsk, usePages } from "../lib/state.js";
import { counted, DID, figures, ICON_OF } from "../lib/words.js";

/** @type {[string, string][]} */
const WHAT = [["", "Everything"], ["writes", "Writes"], ["reads", "Reads"], ["refused", "Refused"], ["conflicts", "Conflicts"]];

// What was done, as a flag where it needs attention.
export const Did = ({ entry }) => (["conflict", "refused"].includes(entry.action)
  ? html`<span class=${`flag ${entry.action === "refused" ? "bad" : "warn"}`}><${Icon} name=${ICON_OF[entry.action]} />${DID[entry.action]}</span>` : DID[entry.action] || entry.action);

/** @param {{ card: any, chosen: boolean, onChoose: () => void, onUndo: () => void }} props */
const Card = ({ card, chosen, onChoose, onUndo }) => html`<section class=${`card agent ${chosen ? "chosen" : ""}`}><b><button type="button" class="bare" aria-pressed=${chosen ? "true" : "false"} onClick=${onChoose}><${Who} id=${card.agent} /></button></b>
  <p class="num">wrote ${figures(card.wrote)}, used ${figures(card.used)}${card.refused ? `, refused ${figures(card.refused)}` : ""}</p><${Bars} days=${card.days} agent=${card.agent} />
  ${may("undo_agent") && card.wrote > 0 && html`<button type="button" class="link muted" onClick=${onUndo} aria-label=${`Undo what ${agentOf(card.agent).title} did`}>undo …</button>`}</section>`;

const Log = ({ entries }) => html`<table><thead><tr><th scope="col">When</th><th scope="col">Agent</th><th scope="col">Did</th><th scope="col">What</th></tr></thead><tbody>${entries.map((entry, n) => html`<tr key=${n}>
  <td class="t num"><${When} at=${entry.at} /></td><td><${Who} id=${entry.agent} /></td><td><${Did} entry=${entry} /></td>
  <td>${entry.memory && entry.title ? html`<a class="quiet" href=${address("memories", { open: entry.memory })}>${entry.title}</a>${entry.detail && entry.detail !== entry.title && html`<div class="muted small">${entry.detail}</div>`}` : entry.detail || entry.key || ""}
    ${entry.action === "refused" && html`<div class="muted small">nothing was stored; the agent was asked to say where the secret is kept</div>`}</td></tr>`)}</tbody></table>`;

const DAY = 86_400_000;

/** Lists what would be taken back, then asks. @param {{ agent: string, onDone: () => void, onLeave: () => void }} props */
function UndoAgent({ agent, onDone, onLeave }) {
  const [days, setDays] = useState(1), [since] = useState(Date.now()), { data, error, busy } = useAsk("undo_agent", { agent, since: since - days * DAY });
  const run = async () => { if (await act("undo_agent", { agent, since: since - days * DAY, confirmation: data.confirmation })) onDone(); };
  return html`<section class="card pad" aria-label="Undo"><h2>Undo what ${agentOf(agent).title} did</h2><label class="pickone btn since"><span>since</span><select value=${String(days)} onChange=${event => setDays(Number(event.target.value))}>
    ${[[0.05, "an hour ago"], [1, "yesterday"], [7, "7 days ago"], [30, "30 days ago"]].map(([value, says]) => html`<option value=${String(value)}>${says}</option>`)}</select></label>
    ${error && html`<${Problem} error=${error} />`}<${Skeleton} busy=${busy && !data} />
    ${data && html`<p>${data.count ? `${counted(data.count, "memory", "memories")} would be as before:` : "Nothing to undo."}</p><ul class="undo" tabindex="0" aria-label="What would be undone">${data.rows.map(row => html`<li key=${row.id}><span class="muted">${row.does}</span> ${row.title || "(no title)"}</li>`)}
      ${data.skipped.map(row => html`<li key=${row.id} class="muted">stays: ${row.title} (${row.why})</li>`)}</ul>`}
    <div class="acts2"><${Btn} bad disabled=${busy || !data || !data.count} on=${run}>Undo ${data && data.count ? figures(data.count) : ""}<//><${Btn} quiet on=${onLeave}>Leave<//></div></section>`;
}

export function Screen({ params }) {
  const what = params.get("what") || "", agent = params.get("agent") || "", [undoing, setUndoing] = useState("");
  const args = { limit: 100, cards: true, ...(what ? { what } : {}), ...(agent ? { agent } : {}) }, { data, error, busy, reload } = useAsk("activity", args, true);
  const { rows: entries, grow } = usePages(data, ({ entries: rows, cursor }) => ({ rows, cursor }), cursor => ask("activity", { ...args, cards: false, cursor }));
  const set = next => go("activity", { what, agent, ...next }, true);
  return html`<div class="main"><div class="head"><div><h1>Activity</h1><p>Who wrote, used and was refused what. Kept for 90 days; the log itself holds no memory’s text.</p></div></div>
    ${error && html`<${Problem} error=${error} retry=${reload} />`}<${Skeleton} busy=${busy && !data} lines=${8} />
    ${data && html`<div class="agents">${(data.cards || []).map(card => html`<${Card} key=${card.agent} card=${card} chosen=${agent === card.agent} onChoose=${() => set({ agent: agent === card.agent ? "" : card.agent })} onUndo=${() => setUndoing(card.agent)} />`)}</div>
      ${undoing && html`<${UndoAgent} key=${undoing} agent=${undoing} onDone=${() => { setUndoing(""); reload(); }} onLeave=${() => setUndoing("")} />`}
      <section class="card log"><header><div class="chips" role="group" aria-label="What is listed">${WHAT.map(([id, says]) => html`<${Chip} key=${id} pressed=${what === id} on=${() => set({ what: id })}>${says}<//>`)}
        ${agent && html`<${Chip} pressed on=${() => set({ agent: "" })} label=${`Only ${agentOf(agent).title}; show all agents`}>${agentOf(agent).title} ×<//>`}</div></header>
        ${entries.length ? html`<${Log} entries=${entries} />` : html`<p class="muted says">Nothing of this kind happened.</p>`}${grow && html`<div class="pad"><${Btn} on=${grow}>Show more<//></div>`}</section>`}</div>`;
}

