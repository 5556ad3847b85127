// The panel's activity: lanes of the last 30 days, and what was done last.
import { html } from "../vendor/preact.js";
import { Lanes } from "../lib/charts.js";
import { Icon, Problem, Skeleton, When, Who } from "../lib/parts.js";
import { address } from "../lib/route.js";
import { agentOf, useAsk } from "../lib/state.js";
import { DID, ICON_OF } from "../lib/words.js";

/** @type {Record<string, string>} */
const COLOUR = { refused: "bad", conflict: "warn", created: "ok", confirmed: "ok" };

function Entry({ entry }) {
  const what = entry.title || entry.key || "", did = DID[entry.action] || entry.action;
  const says = entry.action === "refused" ? `refused${entry.detail ? `: ${entry.detail}` : ""}` : entry.action === "conflict" ? `conflict on ${entry.key || what}` : `${did} ${what}`.trim();
  const more = entry.action === "refused" ? "nothing was stored" : entry.detail;
  return html`<li><${Icon} name=${ICON_OF[entry.action] || "clock"} colour=${COLOUR[entry.action] || "fg"} /><span class="clip">${entry.memory && entry.title ? html`<a class="quiet" href=${address("memories", { open: entry.memory })}>${says}</a>` : says}</span>
    <span class="when num"><${When} at=${entry.at} form="short" /></span><small>${agentOf(entry.agent).title}${more ? `: ${more}` : ""}</small></li>`;
}

export function ActivityTab() {
  const { data, error, busy, reload } = useAsk("activity", { limit: 30 }, true), days = useAsk("activity_days", { days: 30 }, true);
  return html`${days.data && days.data.agents.length > 0 && html`<div class="tlw"><${Lanes} lanes=${days.data} narrow /></div><div class="chips whos">${days.data.agents.map(lane => html`<${Who} key=${lane.agent} id=${lane.agent} />`)}</div>`}
    ${error && html`<${Problem} error=${error} retry=${reload} />`}<${Skeleton} busy=${busy && !data} lines=${6} />
    ${data && (data.entries.length ? html`<ul class="al" tabindex="0" aria-label="What was done">${data.entries.map((entry, n) => html`<${Entry} key=${n} entry=${entry} />`)}</ul>` : html`<p class="ws muted">Nothing happened yet.</p>`)}`;
}
