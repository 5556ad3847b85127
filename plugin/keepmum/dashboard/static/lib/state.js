// What all screens share: the host that answers, agents by name, what was said last, and what can be undone.
import { useLayoutEffect, useRef, useState } from "../vendor/preact.js";

/**
 * @typedef {{ now: number, changes: number, agents: Record<string, Agent>, caveat: string, data: any, about?: any, asked: number }} Answer asked: its number in the order of the calls, which `useHost` adds
 * @typedef {{ title: string, colour: string }} Agent
 * @typedef {{ ask: (view: string, args?: any) => Promise<Answer>, change: (verb: string, args?: any) => Promise<Answer>,
 *   download?: (args: any) => Promise<Blob> }} Host
 * @typedef {{ text: string, bad?: boolean, undo?: string | null }} Notice
 */

export class Refused extends Error {
  /** @param {number} status 0: nobody answered @param {{ kind?: string, message?: string, [name: string]: any }} error */
  constructor(status, error) {
    super(error.message || "The dashboard was closed. Run `keepmum dashboard` again.");
    this.status = status;
    this.kind = error.kind || (status ? "failed" : "closed");
    this.more = error;
  }
}

/** @type {Host} */
let host;
/** @type {Record<string, Agent>} */
const agents = {};
const shared = {
  /** @type {any} */ about: null, changes: -1, mine: 0, caveat: "", now: Date.now(), asked: 0, counted: -1,
  /** @type {Notice | null} */ notice: null,
};
/** @type {Set<() => void>} */
const watchers = new Set();
/** @type {Map<string, number>} revisions that this tab made itself: what it does next is not a conflict with them */
const made = new Map();
/** @type {string[]} handles of what this tab did, the last one last */
const undoable = [];

const publish = () => { for (const watcher of watchers) watcher(); };

let calls = 0;

/** Answers that know the order of the calls. @param {(what: string, args?: any) => Promise<Answer>} call @returns {(what: string, args?: any) => Promise<Answer>} */
const numbered = call => async (what, args) => {
  const asked = ++calls;
  return { ...await call(what, args), asked };
};

/** @param {Host} wanted */
export function useHost(wanted) { host = { ...wanted, ask: numbered(wanted.ask), change: numbered(wanted.change) }; }

/** @returns {Host} */
export const currentHost = () => host;

/** @param {string} id @returns {Agent} */
export const agentOf = id => agents[id] || { title: id || "unknown", colour: "#7d8590" };

/** What every answer carries. One that was overtaken by the answer to a later call says nothing new. @param {Answer} answer @returns {any} its data */
function take(answer) {
  Object.assign(agents, answer.agents);
  if (answer.asked < shared.asked && answer.changes <= shared.changes) return answer.data;
  shared.asked = Math.max(shared.asked, answer.asked);
  shared.now = answer.now || Date.now();
  const news = (answer.about && JSON.stringify(answer.about) !== JSON.stringify(shared.about))
    || answer.caveat !== shared.caveat || answer.changes !== shared.changes;
  if (answer.about) { shared.about = answer.about; shared.counted = answer.changes; }
  shared.caveat = answer.caveat || "";
  shared.changes = answer.changes;
  if (news) publish();
  return answer.data;
}

/** The first call carries what every screen needs. @param {string} view @param {any} args */
const answerOf = (view, args) => host.ask(view, shared.about ? args : { ...args, about: true });

/** @param {string} view @param {any} [args] */
export const ask = async (view, args = {}) => take(await answerOf(view, args));

/** Asks again for the counts of the navigation. */
export const refreshAbout = async () => take(await host.ask("live", { about: true }));

/** A component that shows shared values is drawn again when they change. @returns {typeof shared} */
export function useShared() {
  const [, draw] = useState(0);
  useLayoutEffect(() => {
    const watcher = () => draw(n => n + 1);
    watchers.add(watcher);
    return () => { watchers.delete(watcher); };
  }, []);
  return shared;
}

/** @param {{ id: string, revision: number }} memory @returns {number} the revision that a change refers to */
export const revisionOf = memory => Math.max(memory.revision, made.get(memory.id) || 0);

/** @param {string} verb @returns {boolean} whether an action may be offered */
export const may = verb => Boolean(shared.about) && shared.about.can.includes(verb);

/** Says what happened, in sight and for screen readers. @param {Notice | null} notice */
export function tell(notice) {
  shared.notice = notice;
  publish();
}

/** Carries out a change and says so. @param {string} verb @param {any} args @returns {Promise<any>} null when it failed */
export async function act(verb, args) {
  try {
    const done = await perform(verb, args);
    tell({ text: done.said, undo: done.undo });
    return done;
  } catch (error) {
    tell({ text: error.message, bad: true });
    return null;
  }
}

/** @type {Promise<any>} */
let before = Promise.resolve();

/** Carries out a change without a word, after the one before it; errors are the caller's. @param {string} verb @param {any} args or a function that makes them */
export function perform(verb, args) {
  const mine = before.then(() => carryOut(verb, typeof args === "function" ? args() : args));
  before = mine.catch(() => {});
  return mine;
}

/** @param {string} verb @param {any} args */
async function carryOut(verb, args) {
  const done = take(await host.change(verb, args));
  for (const { id, revision } of done.memories || []) made.set(id, revision);
  if (done.undo) undoable.push(done.undo);
  shared.mine++; // lists are read again after what this tab did, also after an undo
  publish();
  refreshAbout().catch(() => {});
  return done;
}

/** Takes back the last change of this tab. @param {string | null} [handle] */
export async function undo(handle) {
  const wanted = handle || undoable[undoable.length - 1];
  if (!wanted) return tell({ text: "Nothing to undo." });
  const at = undoable.indexOf(wanted);
  if (at >= 0) undoable.splice(at, 1);
  return act("undo", { undo: wanted });
}

/**
 * An answer that follows its arguments, and changes made elsewhere where wanted; an older answer is dropped.
 * @param {string} view @param {any} args @param {boolean} [live] asked again when memories changed
 */
export function useAsk(view, args, live = false) {
  const [state, set] = useState(/** @type {{ data: any, error: any, busy: boolean }} */ ({ data: null, error: null, busy: true }));
  const [again, setAgain] = useState(0), { changes } = useShared(), key = JSON.stringify([view, args, again]);
  const last = useRef(0), got = useRef({ key: "", changes: -1 });
  useLayoutEffect(() => {
    const mine = ++last.current;
    if (got.current.key === key && (!live || got.current.changes === changes)) {
      // What was asked meanwhile is not wanted any more.
      set(old => (old.busy || old.error ? { ...old, error: null, busy: false } : old));
      return;
    }
    set(old => ({ ...old, busy: true }));
    answerOf(view, args).then(answer => {
      if (mine === last.current) {
        got.current = { key, changes: answer.changes };
        set({ data: answer.data, error: null, busy: false });
      }
      // Last: who is drawn again by it has this answer already.
      take(answer);
    }, error => { if (mine === last.current) set(old => ({ ...old, error, busy: false })); });
  }, [key, live && changes]);
  useLayoutEffect(() => () => { last.current++; }, []);
  return { ...state, reload: () => setAgain(n => n + 1) };
}

/**
 * The rows of a list that grows by pages. A page that comes after the first one was read again is dropped.
 * @param {any} first the answer with the first page @param {(answer: any) => { rows: any[], cursor: string }} read an answer; the cursor is empty at the end
 * @param {(cursor: string) => Promise<any>} load the answer with the next page
 */
export function usePages(first, read, load) {
  const [kept, set] = useState({ first: /** @type {any} */ (null), rows: /** @type {any[]} */ ([]), cursor: "" }), now = useRef(first);
  const { rows, cursor } = kept.first === first ? kept : read(first);
  now.current = first;
  const grow = async () => {
    try {
      const next = read(await load(cursor));
      if (now.current === first) set({ first, rows: [...rows, ...next.rows], cursor: next.cursor });
    } catch (error) { tell({ text: error.message, bad: true }); }
  };
  return { rows, grow: cursor ? grow : null };
}

/** True after a time of waiting, so that a fast answer shows no skeleton. @param {boolean} waiting */
export function useLate(waiting, after = 150) {
  const [late, setLate] = useState(false);
  useLayoutEffect(() => {
    if (!waiting) { setLate(false); return undefined; }
    const timer = setTimeout(() => setLate(true), after);
    return () => clearTimeout(timer);
  }, [waiting]);
  return waiting && late;
}

/** Looks for changes made elsewhere, and for counts that lag behind, as long as the page is in sight. @param {number} every milliseconds */
export function watchChanges(every) {
  return setInterval(() => {
    if (!document.hidden && shared.about) host.ask("live", shared.counted === shared.changes ? {} : { about: true }).then(take, () => {});
  }, every);
}
