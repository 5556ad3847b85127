// Work that one agent left for another: waiting, in progress, done.
import { html, useState } from "../vendor/preact.js";
import { Btn, Dot, Empty, Plain, Problem, Skeleton, useFocus, When, Who } from "../lib/parts.js";
import { address } from "../lib/route.js";
import { act, agentOf, may, useAsk, useShared } from "../lib/state.js";

// Who left it for whom.
const Way = ({ each }) => html`<span class="go"><${Who} id=${each.from_agent} /> → ${each.picked_up_by || each.to_agent ? html`<${Who} id=${each.picked_up_by || each.to_agent} />` : "anyone"} <${Dot} />
  <${When} at=${each.updated_at || each.created_at} prefix=${each.status === "pending" ? "since " : each.picked_up_by && !each.result ? "picked up " : ""} /></span>`;

/** @param {{ number: number, onDone: () => void }} props */
function Give({ number, onDone }) {
  const [agent, setAgent] = useState(""), field = useFocus();
  const give = async () => { if (agent.trim() && await act("give", { handoff: number, agent: agent.trim() })) onDone(); };
  return html`<div class="ask"><label>To which agent? <input ref=${field} list="agents" value=${agent} maxlength="200" onInput=${event => setAgent(event.target.value)}
    onKeyDown=${event => { if (event.key === "Enter") give(); if (event.key === "Escape") onDone(); }} /></label>
    <datalist id="agents">${["claude-code", "codex", "cursor", "gemini-cli", "copilot-cli", "opencode", "vscode"].map(id => html`<option value=${id}>${agentOf(id).title}</option>`)}</datalist>
    <${Btn} primary disabled=${!agent.trim()} on=${give}>Give<//></div>`;
}

/** @param {{ each: any, open: boolean, onChanged: () => void }} props */
function Handoff({ each, open, onChanged }) {
  const [giving, setGiving] = useState(false), withdraw = async () => { if (await act("withdraw", { handoff: each.number })) onChanged(); };
  const facts = each.next_steps || each.stuck_reason || each.needs.length > 0;
  return html`<article class="card hand"><b>${each.summary || "(no summary)"}</b><${Way} each=${each} />${facts && html`<dl class="kv">
    ${each.next_steps && html`<dt>Next</dt><dd><${Plain} text=${each.next_steps} /></dd>`}${each.stuck_reason && html`<dt>Stuck on</dt><dd><${Plain} text=${each.stuck_reason} /></dd>`}
    ${each.needs.length > 0 && html`<dt>Needs</dt><dd>${each.needs.map(need => html`${need.id ? html`<a class="tag" title=${need.title} href=${address("memories", { open: need.id })}>${need.key}</a>` : html`<span class="tag">${need.key}</span>`} `)}</dd>`}</dl>`}
    ${each.result && html`<p class="muted"><${Plain} text=${each.result} /></p>`}
    ${open && (may("withdraw") || may("give")) && html`<div class="acts2">${may("give") && html`<${Btn} on=${() => setGiving(!giving)}>Give to …<//>`}${may("withdraw") && html`<${Btn} quiet on=${withdraw}>Withdraw<//>`}</div>`}
    ${giving && html`<${Give} number=${each.number} onDone=${() => { setGiving(false); onChanged(); }} />`}</article>`;
}

/** @param {{ title: string, all: any[], open?: boolean, onChanged: () => void }} props */
const Lane = ({ title, all, open = false, onChanged }) => html`<section class="lane"><h2>${title} <span>${all.length}</span></h2>${all.map(each => html`<${Handoff} key=${each.number} each=${each} open=${open} onChanged=${onChanged} />`)}
  ${!all.length && html`<p class="muted says">none</p>`}</section>`;

export function Screen() {
  const { about } = useShared(), { data, error, busy, reload } = useAsk("handoffs", {}, true), none = data && !data.waiting.length && !data.in_progress.length && !data.done.length;
  return html`<div class="main"><div class="head"><div><h1>Handoffs</h1><p>Work that one agent left for another. One agent gets each; only that one can finish it.</p></div></div>
    ${error && html`<${Problem} error=${error} retry=${reload} />`}<${Skeleton} busy=${busy && !data} lines=${6} />
    ${none && html`<${Empty} title="Nothing was handed over"><p>Before you stop, say to an agent:</p><span class="cmd">hand this over to ${about && about.agents > 1 ? "the next agent" : "another agent"}</span><//>`}
    ${data && !none && html`<div class="lanes"><${Lane} title="Waiting" all=${data.waiting} open onChanged=${reload} /><${Lane} title="In progress" all=${data.in_progress} open onChanged=${reload} /><${Lane} title="Done" all=${data.done} onChanged=${reload} /></div>`}</div>`;
}
