// Who uses the memory, where and how much: adoption by person, and counts by project and day.
import { html } from "../vendor/preact.js";
import { Chip, Problem, Skeleton } from "../lib/parts.js";
import { address, go } from "../lib/route.js";
import { day } from "../lib/time.js";
import { counted, figures, inWords, sentence } from "../lib/words.js";
import { projectSays, useCall } from "./call.js";

const DAY = 86_400_000;
/** @type {Record<string, "wrote" | "searched" | "refused">} */
const COUNTED = {
  created: "wrote", updated: "wrote", imported: "wrote", superseded: "wrote", archived: "wrote", trashed: "wrote", restored: "wrote", confirmed: "wrote", pinned: "wrote", wrong: "wrote",
  recalled: "searched", loaded: "searched", refused: "refused",
};

/** @typedef {{ wrote: number, searched: number, refused: number, last: number, days: number[], others: Set<string> }} Sum */

/** @param {number} days @returns {Sum} */
const none = days => ({ wrote: 0, searched: 0, refused: 0, last: 0, days: Array(days).fill(0), others: new Set() });

/** Sums by one field; `others` are the values of the other. @param {any[]} rows @param {"agent" | "project"} by @param {number} days @param {number} today */
function sums(rows, by, days, today) {
  /** @type {Map<string, Sum>} */
  const found = new Map();
  for (const row of rows) {
    const what = COUNTED[row.action], sum = found.get(row[by]) || none(days), at = days - 1 - (today - row.day);
    if (!what || at < 0) continue;
    found.set(row[by], sum);
    sum[what] += row.times;
    sum.days[at] += row.times;
    sum.last = Math.max(sum.last, row.day);
    sum.others.add(row[by === "agent" ? "project" : "agent"]);
  }
  return found;
}

/** @param {{ days: number[], label: string }} props what happened on each day */
function Bars({ days, label }) {
  const most = Math.max(1, ...days), step = 240 / days.length;
  return html`<svg class="use" viewBox="0 0 240 28" preserveAspectRatio="none" role="img" aria-label=${label}>${days.map((n, at) => {
    const high = n ? 3 + 23 * n / most : 1;
    return html`<rect x=${at * step} y=${28 - high} width=${step * 0.72} height=${high} class=${n ? "" : "idle"} />`;
  })}</svg>`;
}

/** @param {{ title: string, sum: Sum, link?: string, small: string, today: number }} props one person or project */
const Line = ({ title, sum, link, small, today }) => html`<tr><th scope="row">${link ? html`<a class="quiet" href=${link}>${title}</a>` : title}<div class="muted small">${small}</div></th>
  <td><${Bars} days=${sum.days} label=${`${title}: ${figures(sum.wrote + sum.searched + sum.refused)} actions in ${sum.days.length} days`} /></td>
  <td class="num">${figures(sum.wrote)}<span class="unit"> writes</span></td><td class="num">${figures(sum.searched)}<span class="unit"> searches and loads</span></td>
  <td class="num">${sum.refused ? html`<span class="flag bad">${figures(sum.refused)}</span>` : "0"}<span class="unit"> secrets refused</span></td><td class="num">${sum.last ? (sum.last === today ? "today" : day(sum.last * DAY)) : "never"}<span class="unit"> last</span></td></tr>`;

/** @param {{ title: string, first: string, children?: any }} props */
const Table = ({ title, first, children }) => html`<section class="card usage"><header><h2>${title}</h2></header><table><thead><tr>${[first, "Each day", "Writes", "Searches, loads", "Secrets refused", "Last"].map(name => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${children}</tbody></table></section>`;

/** Adoption in words. @param {any[]} people @param {Map<string, Sum>} by @param {number} days @param {string[]} names */
function summary(people, by, days, names) {
  const active = people.filter(person => by.has(person.name)).length, refused = [...by.values()].reduce((all, sum) => all + sum.refused, 0);
  const who = people.length ? `${sentence(inWords(active))} of ${inWords(people.length)} used the memory in the last ${days} days` : `${sentence(counted(names.length, "person", "people"))} used the memory in the last ${days} days`;
  return `${who}. ${refused ? `${sentence(counted(refused, "secret"))} ${refused === 1 ? "was" : "were"} refused before anything was stored.` : "No secret had to be refused."}`;
}

/** @param {{ params: URLSearchParams }} props */
export function Screen({ params }) {
  const days = [7, 30, 90].includes(Number(params.get("days"))) ? Number(params.get("days")) : 30, today = Math.floor(Date.now() / DAY), since = (today - days + 1) * DAY;
  const activity = useCall("count_activity", { query: { since: String(since) } }), people = useCall("list_people"), stored = useCall("list_projects"), { data, error, busy, reload } = activity;
  const persons = people.data ? people.data.data : [], rows = data ? data.data : [], byPerson = sums(rows, "agent", days, today), byProject = sums(rows, "project", days, today);
  const names = [...new Set([...byPerson.keys(), ...persons.map(person => person.name)])].sort((one, other) => total(byPerson, other) - total(byPerson, one) || (one < other ? -1 : 1));
  const kindOf = name => { const found = persons.find(person => person.name === name); return found ? (found.kind === "service" ? "service, " : "") : "key of API_KEYS, operator, or removed; "; };
  const kept = new Map((stored.data ? stored.data.data : []).map(each => [each.project, each])), active = name => (kept.get(name) || { active: 0 }).active;
  const projects = [...new Set([...byProject.keys(), ...kept.keys()])].filter(name => byProject.has(name) || active(name)).sort((one, other) => total(byProject, other) - total(byProject, one) || active(other) - active(one));
  return html`<div class="main"><div class="head"><div><h1>Usage</h1><p>${data && people.data ? summary(persons, byPerson, days, names) : "Who uses the memory, and where."}</p></div></div>
    <div class="chips filters" role="group" aria-label="Time">${[7, 30, 90].map(n => html`<${Chip} key=${n} pressed=${n === days} on=${() => go("usage", { days: n === 30 ? "" : String(n) }, true)}>${n} days<//>`)}</div>
    ${error && html`<${Problem} error=${error} retry=${reload} />`}<${Skeleton} busy=${busy && !data} lines=${8} />
    ${data && html`<div class="col"><${Table} title="By person" first="Person">${names.map(name => { const sum = byPerson.get(name) || none(days); return html`<${Line} key=${name} title=${name} sum=${sum} today=${today} link=${address("audit", { actor: name })} small=${`${kindOf(name)}${sum.last ? `in ${counted(sum.others.size, "project")}` : "not in this time"}`} />`; })}<//>
      ${projects.length ? html`<${Table} title="By project" first="Project">${projects.map(name => { const sum = byProject.get(name) || none(days); return html`<${Line} key=${name} title=${projectSays(name)} sum=${sum} today=${today} small=${`${counted(active(name), "memory", "memories")} now${sum.others.size ? `, used by ${figures(sum.others.size)}` : ""}`} />`; })}<//>` : html`<p class="muted">Nothing happened in this time.</p>`}</div>`}</div>`;
}

/** @param {Map<string, Sum>} by @param {string} name */
function total(by, name) {
  const sum = by.get(name);
  return sum ? sum.wrote + sum.searched + sum.refused : 0;
}
