// What agents could not settle: a queue on the left, one thing on the right, one key each, then the next.
import { html } from "../vendor/preact.js";
import { useKeys } from "../lib/keys.js";
import { Btn, Empty, Problem, Skeleton } from "../lib/parts.js";
import { address, go, route } from "../lib/route.js";
import { figures, GROUPS } from "../lib/words.js";
import { useQueue } from "./queue.js";
import { Settle } from "./settle.js";

/** @param {Record<string, number>} counts @returns {[string, string[], number][]} headings, their groups and how many there are */
function sectionsOf(counts) {
  /** @type {Map<string, [string, string[], number]>} */
  const found = new Map();
  for (const [group, count] of Object.entries(counts)) {
    const name = GROUPS[group] || group, section = found.get(name) || [name, [], 0];
    section[1].push(group);
    section[2] += count;
    if (section[2]) found.set(name, section);
  }
  return [...found.values()];
}

/** @param {{ items: any[], counts: Record<string, number>, open: string, onOpen: (id: string) => void }} props */
const Queue = ({ items, counts, open, onOpen }) => html`<nav aria-label="To review">${sectionsOf(counts).map(([name, groups, count]) => html`<section key=${name}>
  <h2>${name} <span class="num">${figures(count)}</span></h2>
  ${items.filter(item => groups.includes(item.group)).map(item => html`<a key=${item.id} href=${address("review", { item: item.id })} aria-current=${item.id === open ? "true" : undefined}
    onClick=${event => { event.preventDefault(); onOpen(item.id); }}>${item.title || "(no title)"}<small>${item.subtitle}</small></a>`)}</section>`)}</nav>`;

export function Screen({ params }) {
  const show = id => { if (route().screen === "review") go("review", { item: id }, true); }; // a decision may end after the user left
  const queue = useQueue(params.get("item") || "", show), { data, error, busy, items, at, item, step, decide, grow } = queue;
  useKeys({ j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1) });
  return html`<div class="main"><div class="head"><div><h1>Review</h1><p>What agents could not settle among themselves. One key each; everything can be undone for 30 days.</p></div></div>
    ${error && html`<${Problem} error=${error} retry=${queue.reload} />`}<${Skeleton} busy=${busy && !data} lines=${8} />
    ${data && !item && html`<${Empty} title="Nothing to settle."><p>Agents agree, and the code they cite is as it was.</p><//>`}
    ${data && item && html`<div class="queue"><div><${Queue} items=${items} counts=${data.counts} open=${item.id} onOpen=${show} />
      ${grow && html`<${Btn} quiet on=${grow}>Show more<//>`}</div>
      <${Settle} key=${item.id} item=${item} place=${`${at + 1} of ${figures(data.total)}`} decide=${decide} /></div>`}</div>`;
}
