// Keys: who has which, when each was last used and ends; made, rotated and withdrawn here. A new key is shown once.
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Btn, Chip, Icon, Problem, Skeleton, When } from "../lib/parts.js";
import { go } from "../lib/route.js";
import { tell, useShared } from "../lib/state.js";
import { day } from "../lib/time.js";
import { counted, figures, sentence } from "../lib/words.js";
import { Pick } from "../screens/filters.js";
import { Ask, call, carryOut, Field, projectSays, ROLES, Select, useCall, Used } from "./call.js";
import { counts } from "./people.js";

const DAY = 86_400_000;
/** @type {[string, string][]} */
const DAYS = [["365", "In a year"], ["90", "In 90 days"], ["30", "In 30 days"], ["7", "In a week"], ["", "Never"]];

/** A key that was made, until its user has it; it is in no address, history or storage. @param {{ made: any, onDone: () => void }} props */
function Made({ made, onDone }) {
  const box = useRef(null);
  useLayoutEffect(() => { if (box.current) box.current.focus(); }, [made.id]);
  const copy = () => navigator.clipboard.writeText(made.key).then(() => tell({ text: "Copied" }), () => tell({ text: "The browser does not let this page copy; select the key", bad: true }));
  return html`<section class="card pad form made" tabindex="-1" ref=${box} aria-label="The new key"><h2>New key “${made.name}” of ${made.owner}: shown once</h2><code class="secret">${made.key}</code>
    <p class="muted">Give it to its user by a way that only they read; they run <code>keepmum login</code>. The server keeps a digest only. ${made.until ? html`The former key is valid until <${When} at=${made.until} form="exact" />.` : ""}</p>
    <div class="acts2"><${Btn} primary icon="copy" on=${copy}>Copy<//><${Btn} on=${onDone}>Done: remove it from this page<//></div></section>`;
}

/** @param {{ people: any[], person: string, onMade: (made: any) => void, onLeave: () => void }} props */
function Make({ people, person, onMade, onLeave }) {
  const [draft, set] = useState({ person: person || (people[0] || { name: "" }).name, name: "", role: "", projects: "", days: "365" }), [error, setError] = useState(/** @type {any} */ (null));
  const put = more => { set({ ...draft, ...more }); setError(null); }, problem = name => (error && (error.more.field || "name") === name ? error.message : "");
  const make = async () => {
    const projects = draft.projects.split(/[\s,]+/u).filter(Boolean);
    const body = { person: draft.person, name: draft.name.trim() || "key", days: draft.days ? Number(draft.days) : null, ...(draft.role ? { role: draft.role } : {}), ...(projects.length ? { projects } : {}) };
    try { onMade((await call("make_key", { body })).data); } catch (refused) { setError(refused); }
  };
  const pressed = event => { if (event.key === "Enter") make(); if (event.key === "Escape") onLeave(); };
  const input = (name, more) => html`<input class="in" id=${`key-${name}`} value=${draft[name]} autocomplete="off" spellcheck=${false} aria-describedby=${`key-${name}-hint`} onInput=${event => put({ [name]: event.target.value })} onKeyDown=${pressed} ...${more} />`;
  return html`<section class="card pad form" aria-label="Make a key"><h2>Make a key</h2><div class="fields">
    <${Field} label="For" id="key-person" problem=${problem("person")}><${Select} id="key-person" value=${draft.person} on=${chosen => put({ person: chosen })} options=${people.map(each => [each.name, each.name])} /><//>
    <${Field} label="Name" id="key-name" hint="Where it is used, such as laptop" problem=${problem("name")}>${input("name", { maxlength: 64 })}<//>
    <${Field} label="Gives at most" id="key-role" problem=${problem("role")}><${Select} id="key-role" value=${draft.role} on=${role => put({ role })} options=${[["", "All that the person may do"], ...ROLES]} /><//>
    <${Field} label="Ends" id="key-days" problem=${problem("days")}><${Select} id="key-days" value=${draft.days} on=${days => put({ days })} options=${DAYS} /><//>
    <${Field} label="Only in projects" id="key-projects" hint="Full ids with commas; empty: wherever the person has a role" problem=${problem("projects") || problem("project")}>${input("projects", { maxlength: 4000 })}<//></div>
    ${error && !["person", "name", "role", "days", "projects", "project"].includes(error.more.field || "name") && html`<${Problem} error=${error} />`}
    <div class="acts2"><${Btn} primary disabled=${!draft.person} on=${make}>Make<//><${Btn} quiet on=${onLeave}>Leave<//></div></section>`;
}

/** @param {{ each: any }} props how long a key counts */
function Ends({ each }) {
  if (each.withdrawn_at) return html`<span class="flag bad"><${Icon} name="bin" />withdrawn</span> <${When} at=${each.withdrawn_at} />`;
  if (!each.expires_at) return "never ends";
  const left = Math.ceil((each.expires_at - Date.now()) / DAY);
  if (left <= 0) return html`<span class="flag warn"><${Icon} name="clock" />ended</span> ${day(each.expires_at)}`;
  return left <= 30 ? html`<span class="flag warn"><${Icon} name="clock" />ends in ${counted(left, "day")}</span>` : `ends on ${day(each.expires_at)}`;
}

/** @param {any} key @returns {string} what it gives */
const gives = key => `${key.role ? `${key.role} at most` : "all that the person may do"}${key.projects ? `, in ${key.projects.map(projectSays).join(", ")} only` : ""}`;

/** @param {{ each: any, person: string, own: boolean, onRotate: () => void, onWithdraw: () => void }} props */
const One = ({ each, person, own, onRotate, onWithdraw }) => html`<li><div class="person"><span class="name"><b>${each.name}</b>${own && html` <span class="tag line">this session</span>`}<br /><span class="muted small">${person} · <code>${each.id}</code></span></span>
  <span class="small">${gives(each)}</span><span class="muted small"><${Used} at=${each.used_at} /><br /><${Ends} each=${each} /></span>
  <span class="acts2">${counts(each) && html`<${Btn} label=${`Rotate ${each.name} of ${person}`} on=${onRotate}>Rotate<//><${Btn} bad label=${`Withdraw ${each.name} of ${person}`} on=${onWithdraw}>Withdraw<//>`}</span></div></li>`;

/** @param {{ each: any, person: string, own: boolean, last: boolean, on: () => void, onLeave: () => void }} props */
const Withdraw = ({ each, person, own, last, on, onLeave }) => html`<${Ask} title=${`Withdraw “${each.name}” of ${person}?`} does="Withdraw it" on=${on} onLeave=${onLeave}>
  <p>It was <b><${Used} at=${each.used_at} /></b>. It will no longer be valid within 5 seconds, and this cannot be undone: programs that use it fail until they get another. To replace it without a gap, rotate it.</p>
  ${own && html`<p class="alert"><${Icon} name="warn" /><span>You signed in with this key: you will be signed out.</span></p>`}
  ${last && html`<p class="alert bad"><${Icon} name="warn" /><span>No other key gives the administration of every project. Afterwards only <code>keepmum keys make</code> on the server’s machine makes one.</span></p>`}<//>`;

/** @param {any[]} keys @param {any[]} people @returns {any[]} those that make their holder admin of every project */
const ofAdmins = (keys, people) => keys.filter(key => counts(key) && (!key.role || key.role === "admin") && (!key.projects || key.projects.includes("*"))
  && people.some(person => person.id === key.person && person.roles.some(({ project, role }) => project === "*" && role === "admin")));

/** @param {{ params: URLSearchParams }} props */
export function Screen({ params }) {
  const { about } = useShared(), admin = about.admin || {}, people = useCall("list_people"), keys = useCall("list_keys");
  const [making, setMaking] = useState(false), [made, setMade] = useState(/** @type {any} */ (null)), [asking, setAsking] = useState(/** @type {any} */ (null));
  const who = params.get("person") || "", old = params.get("show") === "all", set = more => go("keys", { person: who, show: old ? "all" : "", ...more }, true);
  const persons = people.data ? people.data.data : [], all = keys.data ? keys.data.data : [], nameOf = id => (persons.find(person => person.id === id) || { name: "removed person" }).name;
  const good = key => counts(key) && persons.some(person => person.id === key.person), shown = all.filter(key => (old || good(key)) && (!who || nameOf(key.person) === who)).sort((one, other) => (other.used_at || 0) - (one.used_at || 0) || other.created_at - one.created_at);
  const show = found => { setMade({ ...found, owner: nameOf(found.person) }); setMaking(false); keys.reload(); };
  const rotate = async key => { const done = await carryOut(`Rotated “${key.name}”; the former key is valid for 7 more days`, "rotate_key", { path: { id: key.id } }); if (done) show({ ...done.data, until: Math.min(Date.now() + 7 * DAY, key.expires_at || Infinity) }); };
  const withdraw = async () => { const key = asking; setAsking(null); if (await carryOut(`Withdrew “${key.name}” of ${nameOf(key.person)}`, "withdraw_key", { path: { id: key.id } })) keys.reload(); };
  const idle = all.filter(key => good(key) && !key.used_at).length, error = keys.error || people.error, admins = ofAdmins(all, persons);
  return html`<div class="main"><div class="head"><div><h1>Keys</h1><p>${keys.data && people.data ? `${sentence(counted(all.filter(good).length, "key"))} can be used${idle ? `; ${figures(idle)} never ${idle === 1 ? "was" : "were"}` : ""}. A key never gives more than its person has.` : "Who has which key."}</p></div>
    ${!making && html`<div class="acts"><${Btn} primary disabled=${!persons.length} on=${() => setMaking(true)}>Make a key<//></div>`}</div>
    ${error && html`<${Problem} error=${error} retry=${() => { keys.reload(); people.reload(); }} />`}<${Skeleton} busy=${keys.busy && !keys.data} lines=${8} />
    ${made && html`<${Made} made=${made} onDone=${() => setMade(null)} />`}${making && html`<${Make} people=${persons} person=${who} onMade=${show} onLeave=${() => setMaking(false)} />`}
    ${keys.data && html`<div class="chips filters" role="group" aria-label="Which keys"><${Chip} pressed=${!old} on=${() => set({ show: "" })}>Can be used<//><${Chip} pressed=${old} on=${() => set({ show: "all" })}>Also ended and withdrawn<//>
      <${Pick} label="Person" value=${who} options=${[["", "Everybody"], ...persons.map(person => [person.name, person.name])]} on=${person => set({ person })} /></div>
      ${shown.length ? html`<section class="card team"><ul>${shown.map(key => html`<${One} key=${key.id} each=${key} person=${nameOf(key.person)} own=${key.id === admin.key} onRotate=${() => rotate(key)} onWithdraw=${() => setAsking(key)} />`)}</ul></section>`
        : html`<p class="muted">No such key.</p>`}`}
    ${asking && html`<${Withdraw} each=${asking} person=${nameOf(asking.person)} own=${asking.id === admin.key} last=${admins.length === 1 && admins[0].id === asking.id} on=${withdraw} onLeave=${() => setAsking(null)} />`}</div>`;
}
