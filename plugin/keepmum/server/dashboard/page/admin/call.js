// Operations of the server's API, in the name of who has signed in; and pieces that the screens share.
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { send } from "../lib/api.js";
import { Btn, Icon, When } from "../lib/parts.js";
import { refreshAbout, tell } from "../lib/state.js";

/** @typedef {{ path?: Record<string, string>, query?: Record<string, string>, body?: any }} Given */

/** @param {string} name @param {Given} [given] @returns {Promise<any>} the whole answer */
export const call = async (name, given = {}) => (await send("./api/admin", { call: name, ...given })).json();

/** An answer that follows its arguments; an older one is dropped. @param {string} name @param {Given} [given] */
export function useCall(name, given = {}) {
  const [state, set] = useState(/** @type {{ data: any, error: any, busy: boolean }} */ ({ data: null, error: null, busy: true }));
  const [again, setAgain] = useState(0), last = useRef(0), key = JSON.stringify([name, given, again]);
  useLayoutEffect(() => {
    const mine = ++last.current;
    set(old => ({ ...old, busy: true }));
    call(name, given).then(data => { if (mine === last.current) set({ data, error: null, busy: false }); },
      error => { if (mine === last.current) set(old => ({ ...old, error, busy: false })); });
  }, [key]);
  useLayoutEffect(() => () => { last.current++; }, []);
  return { ...state, reload: () => setAgain(n => n + 1) };
}

/** Carries out an operation and says so; null when it was refused. @param {string} said @param {string} name @param {Given} given */
export async function carryOut(said, name, given) {
  try {
    const done = await call(name, given);
    tell({ text: said });
    refreshAbout().catch(() => {}); // what this person may do may have changed
    return done;
  } catch (error) {
    tell({ text: error.message, bad: true });
    return null;
  }
}

/** Asks before what has consequences; the way back has the focus. @param {{ title: string, does: string, bad?: boolean, on: () => void, onLeave: () => void, children?: any }} props */
export function Ask({ title, does, bad = true, on, onLeave, children }) {
  const box = useRef(null);
  useLayoutEffect(() => { if (box.current && !box.current.open) box.current.showModal(); }, []);
  return html`<dialog class="card" ref=${box} aria-labelledby="ask-title" onClose=${onLeave}><div class="pad"><h2 id="ask-title">${title}</h2>${children}
    <div class="acts2"><button type="button" class="btn" autofocus onClick=${onLeave}>Leave</button><${Btn} bad=${bad} on=${on}>${does}<//></div></div></dialog>`;
}

/** A field of a form, with what is wrong with it. @param {{ label: string, id: string, hint?: string, problem?: string, children?: any }} props */
export const Field = ({ label, id, hint, problem, children }) => html`<div class=${`field ${problem ? "err" : ""}`}><label for=${id}>${label}</label>${children}
  ${hint && html`<p class="muted small" id=${`${id}-hint`}>${hint}</p>`}${problem && html`<p class="msg" role="alert" id=${`${id}-problem`}><${Icon} name="warn" /><span>${problem}</span></p>`}</div>`;

/** @param {{ id: string, value: string, on: (value: string) => void, options: [string, string][] }} props */
export const Select = ({ id, value, on, options }) => html`<select class="in" id=${id} value=${value} onChange=${event => on(event.target.value)}>${options.map(([name, says]) =>
  html`<option key=${name} value=${name}>${says}</option>`)}</select>`;

/** @type {[string, string][]} */
export const ROLES = [["reader", "Reader: searches and reads"], ["writer", "Writer: also stores and changes"], ["curator", "Curator: also reviews and purges"], ["admin", "Admin: also people, keys and audit"]];

/** @param {string} project @returns {string} as people say it */
export const projectSays = project => (project === "*" ? "every project" : project || "no project");

/** When a key was last used, which the server knows to the hour. @param {{ at: number | null }} props */
export const Used = ({ at }) => (at ? html`last used ${Date.now() - at < 3_600_000 ? "less than an hour ago" : html`<${When} at=${at} />`}` : "never used");

/** Saves a text as a file. @param {string} name @param {BlobPart[]} parts @param {string} type */
export function save(name, parts, type) {
  const link = document.createElement("a"), url = URL.createObjectURL(new Blob(parts, { type }));
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
