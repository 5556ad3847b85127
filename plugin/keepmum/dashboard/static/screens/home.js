// What agents know, what needs the user, and what a new session reads.
import { html, useRef } from "../vendor/preact.js";
import { Lanes } from "../lib/charts.js";
import { Btn, Dot, Empty, Icon, Problem, Skeleton, When, Who } from "../lib/parts.js";
import { address, go } from "../lib/route.js";
import { agentOf, useAsk, useShared } from "../lib/state.js";
import { counted, figures, hundredths, inWords, sentence } from "../lib/words.js";

// The state in words before numbers.
function Summary({ data, about }) {
  const { learnt } = data, [first] = learnt ? learnt.by : [];
  const parts = [counted(about.memories, "memory", "memories")];
  if (learnt) parts.push(learnt.count ? `${sentence(inWords(learnt.count))} ${learnt.count === 1 ? "was" : "were"} learnt since yesterday${first && learnt.count > 1 ? `, ${inWords(first[1])} of them by ${agentOf(first[0]).title}` : ""}` : "None was learnt since yesterday");
  if (about.review) parts.push(`${sentence(inWords(about.review))} ${about.review === 1 ? "needs" : "need"} your decision`);
  return html`<p>${parts.join(". ")}.</p>`;
}

function SearchBox() {
  const field = useRef(null);
  const pressed = event => { if (event.key === "Enter" && field.current) go("memories", { q: field.current.value.trim() }); };
  return html`<div class="acts"><label class="search"><${Icon} name="search" /><span class="vh">Search memories</span><input type="search" ref=${field} maxlength="1000" placeholder="Ask, or type words" onKeyDown=${pressed} /><kbd aria-hidden="true">/</kbd></label></div>`;
}

const Timeline = ({ lanes }) => html`<section class="card"><header><h2>Who learnt what</h2><span class="legend"><span><svg width="10" height="10" aria-hidden="true"><circle cx="5" cy="5" r="4.5" fill="var(--muted)" /></svg>learnt</span>
  <span><svg width="11" height="11" aria-hidden="true"><path d="M5.5 0 11 5.5 5.5 11 0 5.5Z" fill="var(--bad)" /></svg>secret refused</span><span><svg width="12" height="11" aria-hidden="true"><path d="M6 0 12 10.5H0Z" fill="var(--warn)" /></svg>conflict</span></span></header>
  <div class="tl" tabindex="0" role="region" aria-label="The last 30 days">${lanes.agents.length ? html`<${Lanes} lanes=${lanes} onDay=${(day, agent) => go("memories", { day: String(day), agent })} />` : html`<p class="muted">Nothing happened in the last 30 days.</p>`}</div></section>`;

const Lately = ({ rows }) => html`<section class="card learn"><header><h2>Learnt lately</h2><a class="more" href=${address("activity")}>All activity</a></header><ul>${rows.map(row => html`<li key=${row.id}>
  <${When} at=${row.updated_at} /><span><a href=${address("memories", { open: row.id })}><b>${row.title || "(no title)"}</b></a></span><${Who} id=${row.updated_by || row.agent} /></li>`)}</ul></section>`;

// The briefing, word for word.
function Told({ briefing }) {
  const { tokens, budget, lines } = briefing;
  return html`<section class="card"><header><h2>What a new session reads</h2><span class="more meter"><i><u style=${`width:${Math.min(100, 100 * tokens / Math.max(1, budget))}%`}></u></i><span class="num">${figures(tokens)} of ${figures(budget)} tokens</span></span></header>
    ${briefing.enabled ? "" : html`<p class="muted says">The briefing is switched off; this is what it would say.</p>`}
    ${lines.length ? html`<ol class="told" tabindex="0" aria-label="The briefing">${lines.map((line, n) => html`<li key=${n}>${Line(line)}</li>`)}</ol>` : html`<p class="muted says">Nothing yet.</p>`}</section>`;
}

const Line = ({ kind, title, text, id }) => (kind ? html`<em>${kind}</em><span>${id ? html`<a href=${address("memories", { open: id })}><b>${title || text}</b></a>` : html`<b>${title || text}</b>`}</span>` : html`<span>${text}</span>`);

/** @type {Record<string, string>} */
const ICONS = { contradictions: "warn", conflicts: "warn", "changed-code": "commit", duplicates: "copy", outside: "eye", unconfirmed: "eye", expiring: "clock", unused: "clock" };

/** What a group of the review says in one line. @param {any} need @returns {[string, string]} */
function needSays({ group, count, title: full, reason, key, cosine }) {
  const title = full.replace(/\.$/u, "");
  const more = count > 1 ? `${sentence(inWords(count))} ` : "";
  /** @type {Record<string, [string, string]>} */
  const says = {
    contradictions: count > 1 ? [`${more}memories are in dispute`, `first: ${title}`] : [`Two memories contradict each other: ${key || title}`, reason],
    conflicts: count > 1 ? [`${more}values were replaced by another agent`, `first: ${key || title}`] : [`Two agents disagree on ${key || title}`, reason],
    "changed-code": count > 1 ? [`${more}may be out of date`, `first: ${title}`] : [`${title} may be out of date`, reason],
    duplicates: count > 1 ? [`${more}pairs say nearly the same`, `${cosine ? `closest: ${hundredths(cosine)}, ` : ""}${title}`] : ["Two say nearly the same", title],
    outside: [count > 1 ? `${more}came from outside` : `${title} came from outside`, "found by a search, never shown unasked, until you confirm"],
    unconfirmed: [count > 1 ? `${more}rules were noted by agents` : title, "shown to every session; no one has confirmed them"],
    expiring: [count > 1 ? `${more}expire soon` : `${title} expires soon`, reason], unused: [count > 1 ? `${more}were never used` : `${title} was never used`, reason],
  };
  return says[group] || [title, reason];
}

/** @param {{ needs: any[], review: number }} props */
const Needs = ({ needs, review }) => html`<section class="card need"><header><h2>Needs you</h2>${review > 0 && html`<a class="more" href=${address("review")}>Review all ${figures(review)} <kbd aria-hidden="true">r</kbd></a>`}</header>
  ${needs.length ? html`<ul>${needs.map(need => { const [says, small] = needSays(need); return html`<li key=${need.group}><${Icon} name=${ICONS[need.group] || "warn"} colour=${["contradictions", "conflicts", "changed-code"].includes(need.group) ? "warn" : "muted"} /><a href=${address("review", { item: need.item })}><b>${says}</b><small>${small}</small></a></li>`; })}</ul>`
    : html`<p class="muted says">Nothing to settle.</p>`}</section>`;

// Four numbers, none of them a boast.
const Facts = ({ health }) => html`<section class="card"><header><h2>Health</h2><a class="more" href=${address("health")}>All checks</a></header><dl class="facts num">
  <div><dt>Secrets refused, 30 days</dt><dd>${figures(health.refused_30)} <small>${health.refused_30 ? `by ${inWords(health.refused_agents)} ${health.refused_agents === 1 ? "agent" : "agents"}` : ""}</small></dd></div>
  <div><dt>Cited code changed</dt><dd>${figures(health.code_changed)} <small>${health.with_code ? `of ${figures(health.with_code)} with a source` : ""}</small></dd></div>
  <div><dt>Expire this week</dt><dd>${figures(health.expiring)}</dd></div><div><dt>Fading, never loaded</dt><dd>${figures(health.unused)} <small>older than 30 days</small></dd></div></dl></section>`;

/** @param {{ handoffs: any[], count: number }} props */
const Waiting = ({ handoffs, count }) => (handoffs.length ? html`<section class="card"><header><h2>Waiting handoff</h2><a class="more" href=${address("handoffs")}>${figures(count)} waiting</a></header>
  ${handoffs.slice(0, 3).map(each => html`<div class="hand" key=${each.number}><b>${each.summary}</b><span class="go"><${Who} id=${each.from_agent} /> → ${each.to_agent ? agentOf(each.to_agent).title : "anyone"} <${Dot} /> <${When} at=${each.created_at} prefix="since " /></span></div>`)}</section>` : null);

const First = ({ about }) => html`<div class="main"><h1>What your agents know about ${about.project || "your projects"}</h1><${Empty} title="Nothing is remembered here yet">
  <p>Agents write down what will matter later, every fifth turn or when you ask. Others find it, and a new session starts with what matters most. A secret is refused before it is stored. Say to yours:</p>
  <span class="cmd">remember that deploys go through the blue pool first</span><${Btn} on=${() => go("health")}>Check that it works<//><//></div>`;

export function Screen() {
  const { about } = useShared(), { data, error, busy, reload } = useAsk("home", {}, true);
  if (!data || !about) return html`<div class="main"><h1 class="vh">Home</h1>${error && html`<${Problem} error=${error} retry=${reload} />`}<${Skeleton} busy=${busy} lines=${8} /></div>`;
  if (data.first_run) return html`<${First} about=${about} />`;
  return html`<div class="main"><div class="head"><div><h1>What your agents know about ${about.project || "your projects"}</h1><${Summary} data=${data} about=${about} /></div><${SearchBox} /></div>
    <div class="grid"><div class="col"><${Timeline} lanes=${data.lanes} /><${Lately} rows=${data.latest} /><${Told} briefing=${data.briefing} /></div>
    <div class="col"><${Needs} needs=${data.needs} review=${about.review} /><${Facts} health=${data.health} /><${Waiting} handoffs=${data.handoffs} count=${about.handoffs} /></div></div></div>`;
}
