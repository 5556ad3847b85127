// One item of the review: what is in doubt, side by side where there are two, and the decisions with their keys.
import { html, useState } from "../vendor/preact.js";
import { diff } from "../lib/diff.js";
import { useKeys } from "../lib/keys.js";
import { Btn, Diff, Dot, Icon, Plain, useFocus, When, Who } from "../lib/parts.js";
import { address } from "../lib/route.js";
import { agentOf, may } from "../lib/state.js";
import { ago, day, spoken } from "../lib/time.js";
import { counted, GROUPS, hundredths, listed, sentence } from "../lib/words.js";
import { Cited, Source } from "./detail.js";

/** @type {Record<string, string>} what the sides of an item are called */
const ROLES = { now: "Kept now", before: "Before", newer: "Newer", older: "Older", only: "As it is" };

/** @typedef {{ k: string, says: string, choice: any, icon?: string, bad?: boolean, primary?: boolean, quiet?: boolean, side?: number }} Decision */

/** What can be decided about an item, with its keys. @param {any} item @returns {Decision[]} */
function decisionsOf(item) {
  const can = name => item.decisions.includes(name), [one, two] = item.sides, pair = Boolean(two);
  const versions = pair && one.memory.id === two.memory.id;
  const keep = side => ({ decision: "merge", memory: side.memory.id });
  /** @type {(Decision | false)[]} */
  const all = [
    versions && can("still-true") && { k: "1", says: "Keep this", primary: true, side: 0, choice: { decision: "still-true" } },
    versions && can("put-back") && { k: "2", says: "Put this back", side: 1, choice: { decision: "put-back" } },
    pair && can("merge") && { k: "1", says: "Keep this", primary: true, side: 0, choice: keep(one) },
    pair && can("merge") && { k: "2", says: "Keep this", side: 1, choice: keep(two) },
    can("accept") && { k: "1", says: "Accept", icon: "check", primary: true, choice: { decision: "accept" } },
    !versions && can("still-true") && { k: "v", says: "Still true", icon: "check", primary: !pair, choice: { decision: "still-true" } },
    can("confirm") && { k: "v", says: "Confirm", icon: "check", primary: true, choice: { decision: "confirm" } },
    can("edit") && { k: "e", says: pair ? "Write one that is right" : "Edit", icon: "edit", choice: "edit" },
    can("both") && { k: "b", says: "Both are true, keep two", choice: { decision: "both" } },
    can("pin") && { k: "p", says: "Pin", icon: "pin", choice: { decision: "pin" } },
    can("wrong") && !pair && { k: "w", says: "Wrong", icon: "flag", bad: true, choice: { decision: "wrong" } },
    can("forget") && !pair && { k: "#", says: "Forget", icon: "bin", bad: true, choice: { decision: "forget" } },
    can("later") && { k: "s", says: "Later", quiet: true, choice: { decision: "later" } },
  ];
  return may("decide") ? /** @type {Decision[]} */ (all.filter(Boolean)) : [];
}

function Version({ side, other, footer }) {
  const { memory, role, citations } = side, name = ROLES[role] || role;
  const older = role === "before" || role === "older", theirs = other ? other.memory.text : "";
  const runs = other ? diff(older ? memory.text : theirs, older ? theirs : memory.text) : null;
  return html`<section class="ver" aria-label=${name}><header><b>${name}</b><${Who} id=${memory.updated_by || memory.agent} /><${Dot} /><span class="muted"><${When} at=${memory.updated_at} /></span></header>
    ${!(other && other.memory.id === memory.id) && html`<h3><a href=${address("memories", { open: memory.id })}>${memory.title || "(no title)"}</a></h3>`}
    <p class="body">${runs ? html`<${Diff} runs=${runs} only=${older ? "del" : "ins"} />` : html`<${Plain} text=${memory.text} />`}</p>
    <dl class="kv">${memory.why && html`<dt>Why</dt><dd>${memory.why}</dd>`}
      ${memory.git && html`<dt>Code</dt><dd><code>${memory.git.branch || "detached"}${memory.git.commit ? `@${memory.git.commit.slice(0, 7)}` : ""}</code></dd>`}
      ${citations.length > 0 && html`<dt>Cites</dt><dd>${citations.map(citation => html`<div><${Cited} citation=${citation} /></div>`)}</dd>`}
      ${memory.source && html`<dt>Source</dt><dd><${Source} source=${memory.source} /></dd>`}</dl>${footer && html`<footer>${footer}</footer>`}</section>`;
}

/** @param {{ text: string, onKeep: (text: string) => void, onLeave: () => void }} props */
function Write({ text, onKeep, onLeave }) {
  const [typed, setTyped] = useState(text), field = useFocus();
  useKeys({ "mod+Enter": () => onKeep(typed), Escape: onLeave });
  return html`<div class="edit field"><label for="write">The text that is right</label><textarea id="write" class="in" rows="5" maxlength="65536" ref=${field} value=${typed}
    onInput=${event => setTyped(event.target.value)}></textarea>
    <div class="acts2"><${Btn} primary k="⌘ ↵" on=${() => onKeep(typed)}>Keep<//><${Btn} quiet k="esc" on=${onLeave}>Leave<//></div></div>`;
}

// Who loaded what may be wrong.
function Told({ sides }) {
  const says = sides.filter(side => side.told && side.told.count).map(({ role, told, memory }) => {
    const by = told.agents.map(id => agentOf(id).title), what = { before: "The older value", older: "The older one", now: "The value of now", newer: "The newer one" };
    return `${/** @type {any} */ (what)[role] || "It"} was loaded ${told.count === 1 ? "once" : told.count === 2 ? "twice" : counted(told.count, "time")} since ${day(memory.created_at)}${by.length ? `, by ${listed(by)}` : ""}, last ${ago(told.last)}.`;
  });
  return says.length ? html`<section class="card"><header><h2>Who loaded it</h2></header><p class="muted says">${says.join(" ")}</p></section>` : null;
}

/** @param {{ item: any, place: string, decide: (choice: any) => Promise<boolean> }} props */
export function Settle({ item, place, decide }) {
  const [writing, setWriting] = useState(false), [taken, setTaken] = useState(/** @type {any} */ (null)), decisions = decisionsOf(item), [one, two] = item.sides;
  // Until the list is read again: an item whose decision was undone can be decided again.
  const busy = taken === item;
  const take = async ({ choice }) => {
    if (choice === "edit") return setWriting(true);
    if (busy) return undefined;
    setTaken(item);
    if (!await decide(choice)) setTaken(null);
    return undefined;
  };
  useKeys(writing ? {} : Object.fromEntries(decisions.map(each => [each.k, () => { take(each); }])));
  const button = each => html`<${Btn} key=${each.k} k=${each.k} icon=${each.icon} primary=${each.primary} bad=${each.bad} quiet=${each.quiet} extra=${each.quiet ? "sp" : ""} disabled=${busy} on=${() => { take(each); }}>${each.says}<//>`;
  const footer = n => { const own = decisions.filter(each => each.side === n); return own.length ? own.map(button) : null; };
  return html`<div class="settle"><div class="line"><h2 class=${`title ${/^[\w.-]+$/u.test(item.title) ? "mono" : ""}`}>${item.title || "(no title)"}</h2>
    <span class="flag warn"><${Icon} name=${item.group === "outside" ? "eye" : "warn"} />${labelOf(item)}</span><span class="muted sp">${place} <kbd aria-hidden="true">j</kbd> <kbd aria-hidden="true">k</kbd></span></div>
    <p class="muted">${spoken(item.reason)}</p><div class=${two ? "cmp" : ""}><${Version} side=${one} other=${two} footer=${footer(0)} />${two && html`<${Version} side=${two} other=${one} footer=${footer(1)} />`}</div>
    ${writing ? html`<${Write} text=${one.memory.text} onLeave=${() => setWriting(false)} onKeep=${async text => { if (await decide({ decision: "edit", text, memory: one.memory.id })) setWriting(false); }} />`
      : html`<div class="acts2">${decisions.filter(each => each.side === undefined).map(button)}</div>`}<${Told} sides=${item.sides} /></div>`;
}

/** @param {any} item */
function labelOf({ group, sides, cosine }) {
  if (group === "contradictions" || group === "conflicts") return sides.length > 1 && sides[0].memory.updated_by !== sides[1].memory.updated_by ? "two agents disagree" : "they disagree";
  return cosine === null ? (GROUPS[group] || sentence(group)).toLowerCase() : `alike ${hundredths(cosine)}`;
}

