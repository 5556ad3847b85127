// Who has access: people and services, and what each may do in which project; and who was removed.
import { html, useState } from "../vendor/preact.js";
import { Btn, Chip, Icon, Problem, Skeleton, useFocus, When } from "../lib/parts.js";
import { address, go } from "../lib/route.js";
import { useShared } from "../lib/state.js";
import { counted, inWords, sentence } from "../lib/words.js";
import { Ask, call, carryOut, Field, projectSays, ROLES, Select, useCall, Used } from "./call.js";

/** @typedef {{ id: string, name: string, kind: string, roles: { project: string, role: string }[], created_at: number, removed_at: number | null }} Person */

/** @param {{ roles: Person["roles"] }} props */
const Roles = ({ roles }) => (roles.length ? roles.map(({ project, role }) => html`<span class=${`flag ${role === "admin" ? "ok" : "plain"}`} key=${project}>${role} in ${projectSays(project)}</span> `)
  : html`<span class="muted">no role: their keys open nothing</span>`);

/** A new person. @param {{ every: boolean, onDone: () => void, onLeave: () => void }} props */
function Add({ every, onDone, onLeave }) {
  const [draft, set] = useState({ name: "", kind: "person", role: "writer", project: "", all: false }), [problem, setProblem] = useState("");
  const name = useFocus(), put = more => { set({ ...draft, ...more }); setProblem(""); };
  const keep = async () => {
    const roles = draft.all || draft.project.trim() ? [{ project: draft.all ? "*" : draft.project.trim(), role: draft.role }] : [];
    try {
      await call("add_person", { body: { name: draft.name.trim(), kind: draft.kind, roles } });
      onDone();
    } catch (error) { setProblem(error.message); name.current.focus(); }
  };
  const pressed = event => { if (event.key === "Enter" && draft.name.trim()) keep(); if (event.key === "Escape") onLeave(); };
  return html`<section class="card pad form" aria-label="Add someone"><h2>Add someone</h2><div class="fields">
    <${Field} label="Name" id="person-name" problem=${problem} hint="The author of what they store."><input class="in" id="person-name" ref=${name} value=${draft.name} maxlength="64" autocomplete="off" aria-describedby="person-name-hint${problem ? " person-name-problem" : ""}" aria-invalid=${problem ? "true" : undefined} onInput=${event => put({ name: event.target.value })} onKeyDown=${pressed} /><//>
    <${Field} label="Kind" id="person-kind"><${Select} id="person-kind" value=${draft.kind} on=${kind => put({ kind })} options=${[["person", "Person"], ["service", "Service, such as a build"]]} /><//>
    <${Field} label="First role" id="person-role"><${Select} id="person-role" value=${draft.role} on=${role => put({ role })} options=${ROLES} /><//>
    <${Where} id="person-project" draft=${draft} put=${put} every=${every} pressed=${pressed} /></div>
    <div class="acts2"><${Btn} primary disabled=${!draft.name.trim()} on=${keep}>Add<//><${Btn} quiet on=${onLeave}>Leave<//></div></section>`;
}

/** In which project a role counts. @param {any} props */
const Where = ({ id, draft, put, every, pressed }) => html`<${Field} label="Project" id=${id} hint="Its full id, such as github.com/acme/api"><input class="in" id=${id} list="projects" aria-describedby=${`${id}-hint`} value=${draft.all ? "" : draft.project} disabled=${draft.all} maxlength="255" autocomplete="off" spellcheck=${false} onInput=${event => put({ project: event.target.value })} onKeyDown=${pressed} />
  ${every && html`<label class="tickbox"><input type="checkbox" checked=${draft.all} onChange=${event => put({ all: event.target.checked })} />every project, also later ones</label>`}<//>`;

/** The roles of one person; each change counts at once. @param {{ person: Person, own: boolean, every: boolean, onChanged: () => void }} props */
function Edit({ person, own, every, onChanged }) {
  const [draft, set] = useState({ role: "reader", project: "", all: false }), put = more => set({ ...draft, ...more });
  const [asking, setAsking] = useState(/** @type {null | { project: string, role: string | null }} */ (null));
  const change = async (project, role) => {
    setAsking(null);
    const says = role ? `${person.name} is ${role} in ${projectSays(project)}` : `${person.name} has no role in ${projectSays(project)} any more`;
    if (await carryOut(says, "set_role", { path: { id: person.id }, body: { project, role } })) onChanged();
  };
  // A person cannot take back their own administration after giving it up.
  const choose = (project, role, held) => { if (own && held === "admin" && role !== "admin") setAsking({ project, role }); else change(project, role); };
  const give = () => { const project = draft.all ? "*" : draft.project.trim(); if (project) change(project, draft.role); };
  return html`<div class="pad form" role="group" aria-label=${`Roles of ${person.name}`}>${person.roles.map(({ project, role }, n) => html`<div class="held" key=${project}><label for=${`held-${n}`} class="clip" title=${project}>${projectSays(project)}</label>
      <${Select} id=${`held-${n}`} value=${role} on=${next => choose(project, next, role)} options=${ROLES} /><${Btn} quiet label=${`Take away the role in ${projectSays(project)}`} on=${() => choose(project, null, role)}>Take away<//></div>`)}
    <div class="fields"><${Where} id="given-project" draft=${draft} put=${put} every=${every} pressed=${event => { if (event.key === "Enter") give(); }} /><${Field} label="Role there" id="given-role"><${Select} id="given-role" value=${draft.role} on=${role => put({ role })} options=${ROLES} /><//></div>
    <div class="acts2"><${Btn} disabled=${!draft.all && !draft.project.trim()} on=${give}>Give this role<//></div>
    ${asking && html`<${Ask} title="Give up your own administration?" does="Give it up" on=${() => change(asking.project, asking.role)} onLeave=${() => setAsking(null)}><p>You are admin in ${projectSays(asking.project)}. Only another admin can give this role back to you.</p><//>`}</div>`;
}

/** @param {{ person: Person, keys: any[] | null, own: boolean, every: boolean, open: boolean, onOpen: () => void, onRemove: () => void, onChanged: () => void }} props */
function One({ person, keys, own, every, open, onOpen, onRemove, onChanged }) {
  const mine = (keys || []).filter(key => key.person === person.id && counts(key)), used = Math.max(0, ...mine.map(key => key.used_at || 0));
  return html`<li><div class="person"><span class="name"><b>${person.name}</b>${person.kind === "service" && html` <span class="tag">service</span>`}${own && html` <span class="tag line">you</span>`}</span>
    <span class="roles"><${Roles} roles=${person.roles} /></span>
    <span class="muted small">${keys && (mine.length ? html`<a href=${address("keys", { person: person.name })}>${counted(mine.length, "key")}</a>, <${Used} at=${used} />` : "no key")}${keys && html`<br />`}added <${When} at=${person.created_at} /></span>
    <span class="acts2"><${Btn} pressed=${open} label=${`Roles of ${person.name}`} on=${onOpen}>Roles<//>${every && html`<${Btn} bad label=${`Remove ${person.name}`} on=${onRemove}>Remove<//>`}</span></div>
    ${open && html`<${Edit} person=${person} own=${own} every=${every} onChanged=${onChanged} />`}</li>`;
}

/** @param {{ person: Person, onRestore: () => void }} props */
const Removed = ({ person, onRestore }) => html`<li><div class="person"><span class="name"><b>${person.name}</b>${person.kind === "service" && html` <span class="tag">service</span>`}</span>
  <span class="roles"><${Roles} roles=${person.roles} /></span><span class="muted small">added <${When} at=${person.created_at} /><br />removed <${When} at=${person.removed_at} /></span>
  <span class="acts2"><${Btn} label=${`Restore ${person.name}`} on=${onRestore}>Restore<//></span></div></li>`;

/** Everybody who may be restored. @param {{ onRestored: () => void }} props */
function Former({ onRestored }) {
  const people = useCall("list_people", { query: { removed: "true" } }), [asking, setAsking] = useState(/** @type {Person | null} */ (null));
  const restore = async () => {
    const person = /** @type {Person} */ (asking);
    setAsking(null);
    if (await carryOut(`Restored ${person.name}; make a key for them`, "restore_person", { path: { id: person.id } })) { people.reload(); onRestored(); }
  };
  const list = people.data ? /** @type {Person[]} */ (people.data.data) : [];
  return html`${people.error && html`<${Problem} error=${people.error} retry=${people.reload} />`}<${Skeleton} busy=${people.busy && !people.data} lines=${4} />
    ${people.data && (list.length ? html`<section class="card team"><ul>${list.map(person => html`<${Removed} key=${person.id} person=${person} onRestore=${() => setAsking(person)} />`)}</ul></section>` : html`<p class="muted">Nobody was removed.</p>`)}
    ${asking && html`<${Ask} title=${`Restore ${asking.name}?`} does=${`Restore ${asking.name}`} bad=${false} on=${restore} onLeave=${() => setAsking(null)}><p>${asking.name} will be ${asking.roles.length ? asking.roles.map(({ project, role }) => `${role} in ${projectSays(project)}`).join(", ") : "without a role"} again. Their former keys and sessions stay invalid; make a new key.</p><//>`}`;
}

/** @param {any} key @returns {boolean} whether it counts now */
export const counts = key => !key.withdrawn_at && !(key.expires_at && key.expires_at <= Date.now());

/** @param {Person[]} people @returns {string} */
function summary(people) {
  const services = people.filter(person => person.kind === "service").length, admins = people.filter(person => person.roles.some(({ project, role }) => project === "*" && role === "admin")).length;
  const who = `${sentence(counted(people.length - services, "person", "people"))}${services ? ` and ${counted(services, "service")}` : ""}`;
  return admins ? `${who}. ${sentence(inWords(admins))} ${admins === 1 ? "is" : "are"} admin of every project${admins === 1 ? "; a second one keeps you from being locked out" : ""}.` : `${who} in your projects.`;
}

/** @param {{ params: URLSearchParams }} props */
export function Screen({ params }) {
  const { about } = useShared(), admin = about.admin || { every: false }, people = useCall("list_people"), keys = useCall("list_keys"), projects = useCall("list_projects");
  const [open, setOpen] = useState(""), [adding, setAdding] = useState(false), [removing, setRemoving] = useState(/** @type {Person | null} */ (null));
  const remove = async () => {
    const person = /** @type {Person} */ (removing);
    setRemoving(null);
    if (await carryOut(`Removed ${person.name}; their keys are no longer valid`, "remove_person", { path: { id: person.id } })) { people.reload(); keys.reload(); }
  };
  const former = admin.every && params.get("show") === "removed", list = people.data ? /** @type {Person[]} */ (people.data.data) : [], known = admin.every && keys.data ? keys.data.data : null;
  const theirs = removing && known ? known.filter(key => key.person === removing.id && counts(key)) : [];
  return html`<div class="main"><div class="head"><div><h1>People</h1><p>${people.data ? summary(list) : "Who has access, and to what."}</p></div>
    ${admin.every && !adding && html`<div class="acts"><${Btn} primary on=${() => setAdding(true)}>Add someone<//></div>`}</div>
    ${people.error && html`<${Problem} error=${people.error} retry=${people.reload} />`}<${Skeleton} busy=${people.busy && !people.data} lines=${8} />
    ${adding && html`<${Add} every=${admin.every} onDone=${() => { setAdding(false); people.reload(); }} onLeave=${() => setAdding(false)} />`}
    ${admin.every && html`<div class="chips filters" role="group" aria-label="Which people"><${Chip} pressed=${!former} on=${() => go("people", {}, true)}>Have access<//><${Chip} pressed=${former} on=${() => go("people", { show: "removed" }, true)}>Removed<//></div>`}
    ${former && html`<${Former} onRestored=${people.reload} />`}
    ${!former && list.length > 0 && html`<section class="card team"><ul>${list.map(person => html`<${One} key=${person.id} person=${person} keys=${known} own=${person.id === admin.person} every=${admin.every} open=${open === person.id}
      onOpen=${() => setOpen(open === person.id ? "" : person.id)} onRemove=${() => setRemoving(person)} onChanged=${people.reload} />`)}</ul></section>`}
    <datalist id="projects">${(projects.data ? projects.data.data : []).map(({ project }) => project && html`<option key=${project} value=${project}></option>`)}</datalist>
    ${removing && html`<${Ask} title=${`Remove ${removing.name}?`} does=${`Remove ${removing.name}`} on=${remove} onLeave=${() => setRemoving(null)}><p>${theirs.length ? `${sentence(counted(theirs.length, "key"))} of ${removing.name} will no longer be valid within 5 seconds, for good.` : ""} What ${removing.name} stored stays. You can restore ${removing.name} later, with the same roles and without keys.</p>
      ${removing.id === admin.person && html`<p class="alert"><${Icon} name="warn" /><span>This is you: you will be signed out.</span></p>`}<//>`}</div>`;
}
