// The filters of the list: chips with counts, kept in the address.
import { html } from "../vendor/preact.js";
import { Chip } from "../lib/parts.js";
import { agentOf } from "../lib/state.js";
import { figures, KINDS } from "../lib/words.js";

const DAY = 86_400_000;
const FIRST = ["decision", "instruction", "troubleshooting", "task"];
/** @type {[string, string][]} */
const SINCE = [["", "Since"], ["1", "Since yesterday"], ["7", "Last 7 days"], ["30", "Last 30 days"], ["90", "Last 90 days"]];
/** @type {[string, string][]} */
const SHOW = [["", "More"], ["archived", "Archived"], ["trashed", "In the trash"], ["superseded", "Replaced"], ["pinned", "Pinned"], ["outside", "From outside"], ["everywhere", "All projects"]];
/** @type {Record<string, any>} what each means for the view */
const SHOWN = { archived: { status: "archived" }, trashed: { status: "trashed" }, superseded: { status: "superseded" }, pinned: { flag: "pinned" }, outside: { trusts: ["outside"] }, everywhere: { scope: "all" } };
export const NO_FILTER = { kind: "", tag: "", agent: "", since: "", day: "", show: "" };

/** @param {URLSearchParams} params @returns {any} the arguments of the view `memories` */
export function argumentsOf(params) {
  const get = name => params.get(name) || "", args = /** @type {any} */ ({});
  const date = Number(get("day")), days = Number(get("since"));
  if (get("q")) args.query = get("q");
  if (get("kind")) args.kinds = get("kind").split(",");
  if (get("tag")) args.tags = [get("tag")];
  if (get("agent")) args.agent = get("agent");
  if (days > 0) args.since = new Date().setHours(0, 0, 0, 0) - days * DAY;
  if (date > 0) Object.assign(args, { since: date * DAY, until: (date + 1) * DAY - 1 });
  Object.assign(args, SHOWN[get("show")]);
  if (get("sort") && !get("q")) args.sort = get("sort");
  return args;
}

/** @param {{ label: string, value: string, options: [string, string][], on: (value: string) => void }} props */
export const Pick = ({ label, value, options, on }) => html`<label class="chip pickone" data-on=${value ? "" : undefined}><span class="vh">${label}</span>
  <select value=${value} onChange=${event => on(event.target.value)}>${options.map(([id, says]) => html`<option key=${id} value=${id}>${says}</option>`)}</select></label>`;

/** @param {string} none @param {Record<string, number> | undefined} counts @param {string} chosen @param {(id: string) => string} [name] @returns {[string, string][]} */
function counted(none, counts, chosen, name = id => id) {
  const all = Object.entries(counts || {});
  if (chosen && !all.some(([id]) => id === chosen)) all.push([chosen, 0]);
  return [["", none], ...all.map(([id, n]) => /** @type {[string, string]} */ ([id, `${name(id)} (${figures(n)})`]))];
}

export function Filters({ params, set, facets }) {
  const chosen = (params.get("kind") || "").split(",").filter(Boolean), counts = (facets && facets.kinds) || {};
  const shown = FIRST.filter(kind => counts[kind] || chosen.includes(kind));
  const rest = Object.fromEntries(Object.entries(counts).filter(([kind]) => !shown.includes(kind)));
  const put = more => set({ ...more, open: "" });
  const flip = kind => put({ kind: (chosen.includes(kind) ? chosen.filter(each => each !== kind) : [...chosen, kind]).join(",") });
  const other = chosen.find(kind => !FIRST.includes(kind)) || "", get = name => params.get(name) || "";
  const plain = !Object.keys(NO_FILTER).some(get);
  return html`<div class="chips" role="group" aria-label="Filters"><${Chip} pressed=${plain} on=${() => put(NO_FILTER)}>All<//>
    ${shown.map(kind => html`<${Chip} key=${kind} pressed=${chosen.includes(kind)} on=${() => flip(kind)}>${KINDS[kind][1]} <span class="num">${figures(counts[kind] || 0)}</span><//>`)}
    ${(Object.keys(rest).length > 0 || other) && html`<${Pick} label="Other kinds" value=${other} options=${counted("Kind", rest, other, kind => (KINDS[kind] || [kind, kind])[1])} on=${kind => put({ kind })} />`}
    <${Pick} label="Agent" value=${get("agent")} options=${counted("Agent", facets && facets.agents, get("agent"), id => agentOf(id).title)} on=${agent => put({ agent })} />
    ${(get("tag") || (facets && Object.keys(facets.tags).length > 0)) && html`<${Pick} label="Tag" value=${get("tag")} options=${counted("Tag", facets && facets.tags, get("tag"))} on=${tag => put({ tag })} />`}
    <${Pick} label="Since" value=${get("since")} options=${SINCE} on=${since => put({ since, day: "" })} />
    <${Pick} label="More filters" value=${get("show")} options=${SHOW} on=${show => put({ show })} /></div>`;
}
