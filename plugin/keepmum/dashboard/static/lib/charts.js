// The three pictures: lanes of days, a fading curve, and bars. SVG, so that a stylesheet and a screen reader understand them.
import { html } from "../vendor/preact.js";
import { agentOf } from "./state.js";
import { day, spoken } from "./time.js";
import { inWords, listed } from "./words.js";

const DAY = 86_400_000;
const colourOf = id => (/^#[0-9a-f]{6}$/iu.test(agentOf(id).colour) ? agentOf(id).colour : "#7d8590");

/** @typedef {{ agent: string, days: [number, number, number, number, number][] }} Lane day, learnt, used, refused, conflicts */

/** @param {{ lanes: { from: number, to: number, agents: Lane[] }, onDay?: (day: number, agent: string) => void, narrow?: boolean }} props */
export function Lanes({ lanes, onDay, narrow }) {
  const left = narrow ? 12 : 100, right = narrow ? 318 : 678, step = narrow ? 21.5 : 34.7;
  const wide = narrow ? 356 : 720, bottom = lanes.agents.length * step;
  const x = d => left + (right - left) * (d - lanes.from) / Math.max(1, lanes.to - lanes.from);
  const now = right + (narrow ? 8 : 12);
  return html`<svg viewBox=${`0 0 ${wide} ${bottom + 36}`} role="img" aria-label=${describe(lanes)}>
    ${lanes.agents.map((lane, n) => html`<g key=${lane.agent}>
      <line class="rule" x1=${left - 8} x2=${right + 8} y1=${12 + n * step} y2=${12 + n * step} />
      ${!narrow && html`<text x="0" y=${16 + n * step}>${agentOf(lane.agent).title}</text>`}
      ${lane.days.map(each => Day(each, x(each[0]), 12 + n * step, lane.agent, Boolean(narrow), onDay))}</g>`)}
    <line class="now" x1=${now} x2=${now} y1="2" y2=${bottom + 16} /><text x=${now} y=${bottom + 32} text-anchor="middle">now</text>
    ${!narrow && [0, 10, 20].map(d => html`<text x=${x(lanes.from + d)} y=${bottom + 32} text-anchor="middle">${day((lanes.from + d) * DAY)}</text>`)}</svg>`;
}

/** @param {number[]} counts @param {number} x @param {number} y @param {string} agent @param {boolean} small @param {any} onDay */
function Day([date, learnt, , refused, conflicts], x, y, agent, small, onDay) {
  const says = [learnt && `${learnt} learnt`, refused && `${refused} refused`, conflicts && `${conflicts} in conflict`].filter(Boolean).join(", ");
  if (!says) return null;
  const r = (small ? 2.6 : 3) + Math.sqrt(Math.min(learnt, 25)) * (small ? 1.6 : 2);
  return html`<g class="day" style=${onDay ? "cursor:pointer" : ""} onClick=${onDay && (() => onDay(date, agent))}><title>${`${agentOf(agent).title}, ${day(date * DAY)}: ${says}`}</title>
    ${learnt > 0 && html`<circle cx=${x} cy=${y} r=${r} fill=${colourOf(agent)} fill-opacity=".88" />`}
    ${refused > 0 && html`<path class="refused" d=${`M${x} ${y - 6.5}l6.5 6.5-6.5 6.5-6.5-6.5Z`} />`}
    ${conflicts > 0 && html`<path class="conflict" d=${`M${x} ${y - 6}l6.2 11h-12.4Z`} />`}</g>`;
}

/** @param {{ from: number, to: number, agents: Lane[] }} lanes @returns {string} the picture in one sentence */
function describe(lanes) {
  const sum = (lane, n) => lane.days.reduce((all, each) => all + each[n], 0);
  const all = n => lanes.agents.reduce((total, lane) => total + sum(lane, n), 0);
  const each = lanes.agents.map(lane => `${agentOf(lane.agent).title} ${sum(lane, 1)}`);
  return `What each agent learnt in the last 30 days: ${listed(each) || "nothing"}; ${inWords(all(3))} writes refused, ${inWords(all(4))} in conflict`;
}

/** @param {{ days: number[], agent: string }} props */
export function Bars({ days, agent }) {
  const most = Math.max(1, ...days);
  return html`<svg viewBox="0 0 240 28" preserveAspectRatio="none" role="img" aria-label=${`${agentOf(agent).title}: writes a day, ${days.length} days`}>
    ${days.map((n, at) => {
      const high = n ? 2 + 24 * n / most : 1;
      return html`<rect x=${at * 240 / days.length} y=${28 - high} width="5.5" height=${high} rx="1" fill=${colourOf(agent)} opacity=${n ? 0.9 : 0.35} />`;
    })}</svg>`;
}

/** @typedef {{ left: number, half_at: number | null, past: [number, number][], ahead: [number, number][], loads: number[], says: string }} Fading */

/** @param {{ fading: Fading, now: number }} props what is left of a memory: drawn through, and dotted what comes */
export function Curve({ fading, now }) {
  const all = [...fading.past, ...fading.ahead];
  if (all.length < 2) return null;
  const from = all[0][0], to = all[all.length - 1][0];
  const x = at => 26 + 366 * (at - from) / Math.max(1, to - from);
  const y = left => 98 - 88 * Math.min(1, Math.max(0, left));
  const line = points => points.map(([at, left], n) => `${n ? "L" : "M"}${x(at).toFixed(1)} ${y(left).toFixed(1)}`).join("");
  const says = fading.half_at ? `half left on ${day(fading.half_at)}, if nobody loads it` : spoken(fading.says), marks = [[from, "start"], [now, "middle"], [to, "end"]];
  return html`<svg class="curve" viewBox="0 0 400 122" role="img" aria-label=${`How much of it is left: ${Math.round(fading.left * 100)} % today; ${says}`}>
    ${[[1, "1"], [0.5, ".5"], [0, "0"]].map(([left, says]) => html`<line class="rule" x1="26" x2="392" y1=${y(Number(left))} y2=${y(Number(left))} /><text x="20" y=${y(Number(left)) + 4} text-anchor="end">${says}</text>`)}
    ${fading.past.length > 1 && html`<path class="area" d=${`${line(fading.past)}L${x(now).toFixed(1)} 98L${x(fading.past[0][0]).toFixed(1)} 98Z`} /><path class="past" d=${line(fading.past)} />`}
    <path class="ahead" d=${line(fading.ahead)} />
    ${fading.loads.filter(at => at >= from).map(at => html`<circle class="load" cx=${x(at)} cy=${y(1)} r="3" />`)}
    ${fading.half_at && fading.half_at <= to && html`<circle class="half" cx=${x(fading.half_at)} cy=${y(fading.left / 2)} r="3.5" />`}
    <text x="392" y=${(fading.ahead[fading.ahead.length >> 1] || [0, 0])[1] > 0.7 ? 92 : 25} text-anchor="end">${says}</text>
    ${marks.map(([at, anchor], n) => (n !== 1 || (x(now) > 84 && x(now) < 320)) && html`<text x=${x(Number(at))} y="116" text-anchor=${anchor}>${n === 1 ? "today" : day(Number(at))}</text>`)}</svg>`;
}
