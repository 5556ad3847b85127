// The panel's review: one item at a time.
import { html, useState } from "../vendor/preact.js";
import { Btn, Empty, Problem, Skeleton } from "../lib/parts.js";
import { figures } from "../lib/words.js";
import { useQueue } from "./queue.js";
import { Settle } from "./settle.js";

export function ReviewTab() {
  const [wanted, setWanted] = useState(""), { data, error, busy, reload, items, at, item, step, decide } = useQueue(wanted, setWanted);
  return html`${error && html`<${Problem} error=${error} retry=${reload} />`}<${Skeleton} busy=${busy && !data} lines=${6} />
    ${data && !item && html`<${Empty} title="Nothing to settle." />`}
    ${data && item && html`<div class="ws"><${Settle} key=${item.id} item=${item} place=${`${at + 1} of ${figures(data.total)}`} decide=${decide} />
      ${items.length > 1 && html`<div class="acts2"><${Btn} disabled=${at === 0} on=${() => step(-1)}>Previous<//><${Btn} disabled=${at >= items.length - 1} on=${() => step(1)}>Next<//></div>`}</div>`}`;
}
