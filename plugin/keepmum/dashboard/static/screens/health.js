// What works, what is wrong, secrets, and how it is set.
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Btn, Icon, Plain, Problem, Skeleton } from "../lib/parts.js";
import { address } from "../lib/route.js";
import { act, ask, may, useAsk } from "../lib/state.js";
import { counted, figures, inWords, sentence } from "../lib/words.js";

/** @param {{ level: string }} props */
const Level = ({ level }) => html`<${Icon} name=${level === "ok" ? "check" : level === "problem" || level === "note" ? "warn" : "clock"} colour=${level === "ok" ? "ok" : level === "problem" ? "bad" : level === "note" ? "warn" : "faint"} /><span class="vh">${level}: </span>`;

/** @param {{ text: string }} props a next step: a command in code style where it is one */
const Step = ({ text }) => html`<span>${text && (text.includes("`") ? html`<span class="muted small"><${Plain} text=${text} /></span>` : html`<span class="cmd">${text}</span>`)}</span>`;

/** @param {{ title: string, children?: any }} props */
const Part = ({ title, children }) => html`<section class="card checks"><header><h2>${title}</h2></header><ul>${children}</ul></section>`;

const Checks = ({ checks }) => html`<${Part} title="Store, search and clients">${checks.map((check, n) => html`<li key=${n}><${Level} level=${check.level} /><b>${check.about}</b><span class="muted">${check.says}</span><${Step} text=${check.next_step} /></li>`)}<//>`;

/** The search for secrets in what is stored: started by hand, polled. */
function useAudit() {
  const [state, set] = useState(null), [error, setError] = useState(null), last = useRef(0);
  const look = start => {
    const mine = ++last.current, newest = take => found => { if (mine === last.current) take(found); };
    return ask("audit", { start }).then(newest(set), newest(setError));
  };
  useLayoutEffect(() => { look(false); }, []);
  useLayoutEffect(() => {
    if (!state || state.state !== "running") return undefined;
    const timer = setTimeout(() => look(false), 1000);
    return () => clearTimeout(timer);
  }, [state]);
  return { state, error, look };
}

/** @param {{ audit: ReturnType<typeof useAudit> }} props */
function Found({ audit: { state, error, look } }) {
  const [asking, setAsking] = useState(false), places = (state && state.places) || [];
  const out = async () => { if (await act("take_out", { confirmation: state.confirmation })) { setAsking(false); look(true); } };
  const says = error ? error.message : !state || state.state === "none" ? "not searched yet with the rules of today" : state.state === "running" ? `searching: ${figures(state.looked_at)} of ${figures(state.of)}`
    : state.said || (places.length ? `${figures(places.length)} by the rules of today` : `nothing found in ${counted(state.of, "text")}`);
  return html`<li><${Level} level=${places.length ? "note" : state && state.state === "done" ? "ok" : "absent"} /><b>Found in what was kept before</b><span class="muted" role="status">${says}
    ${places.length > 0 && html`<ul class="places">${places.slice(0, 50).map((place, n) => html`<li key=${n}><code>${place.rule}</code> in ${place.where} of <a href=${address("memories", { open: place.memory })}>${place.title || place.memory}</a>, ${place.field}, line ${place.line}</li>`)}</ul>`}
    ${asking && html`<span class="alert bad" role="alert"><span>This cannot be undone: the secrets are removed from memories, history and backups. The texts around them stay.</span><${Btn} bad on=${out}>Take them out<//><${Btn} quiet on=${() => setAsking(false)}>Leave<//></span>`}</span>
    <span>${places.length > 0 && may("take_out") ? html`<${Btn} disabled=${asking} on=${() => setAsking(true)}>Take it out<//>` : html`<${Btn} disabled=${Boolean(state && state.state === "running")} on=${() => look(true)}>Search now<//>`}</span></li>`;
}

/** @param {{ data: any, audit: ReturnType<typeof useAudit> }} props */
function Secrets({ data: { refused, allowed }, audit }) {
  const rules = refused.rules.slice(0, 6).map(([rule, n]) => `${rule} ${figures(n)}`).join(", ");
  return html`<${Part} title="Secrets"><li><${Level} level="ok" /><b>Refused</b><span class="muted">${figures(refused.total)} in ${refused.days} days${rules ? `: ${rules}` : ""}</span><span>${refused.total > 0 && html`<a class="muted" href=${address("activity", { what: "refused" })}>see them</a>`}</span></li>
    <${Found} audit=${audit} /><li><${Level} level="ok" /><b>Allowed by you</b><span class="muted">${counted(allowed.count, "fingerprint")}; the list is changed at a terminal alone</span><${Step} text=${allowed.command} /></li><//>`;
}

const Settings = ({ data: { settings, store } }) => html`<${Part} title="How it is set">${Object.entries(store || {}).map(([name, value]) => html`<li key=${name}><${Level} level="ok" /><b>${sentence(name.replace(/_/gu, " "))}</b><span class="muted">${String(value)}</span><span></span></li>`)}
  ${settings.map(each => html`<li key=${each.name}><${Level} level="ok" /><b class="mono">${each.name}</b><span class="muted">${String(each.value)}</span><span class="muted small">${each.source}</span></li>`)}<//>`;

export function Screen() {
  const { data, error, busy, reload } = useAsk("health", {}), audit = useAudit();
  const todo = data ? data.checks.filter(check => ["problem", "note"].includes(check.level)).length : 0;
  return html`<div class="main"><div class="head"><div><h1>Health</h1><p>${data ? `${todo ? `${sentence(inWords(todo))} ${todo === 1 ? "thing" : "things"} to do` : "Nothing to do"}. Checked just now, and each time this page is opened.` : "Checking."}</p></div>
    <div class="acts"><${Btn} disabled=${busy} on=${reload}>Check again<//></div></div>${error && html`<${Problem} error=${error} retry=${reload} />`}<${Skeleton} busy=${busy && !data} lines=${8} />
    ${data && html`<div class="col"><${Checks} checks=${data.checks} /><${Secrets} data=${data} audit=${audit} /><${Settings} data=${data} /></div>`}</div>`;
}
