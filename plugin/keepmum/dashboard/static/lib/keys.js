// Single keys and short sequences. They act outside fields only, without modifiers, and can be switched off.
import { useLayoutEffect, useRef } from "../vendor/preact.js";
import { route } from "./route.js";

/** @typedef {Record<string, (event: KeyboardEvent) => void>} Bindings names as in `event.key`, `g m`, `mod+Enter` */

/** @type {{ current: Bindings }[]} the last one that knows a key is called */
const layers = [];
const STORED = "keepmum.keys";
let on = stored() !== "off", prefix = "", prefixAt = 0, early = "";

function stored() {
  try { return localStorage.getItem(STORED); } catch { return null; } // a sandbox has no storage
}

export const keysAreOn = () => on;

export function switchKeys(wanted) {
  on = wanted;
  document.documentElement.classList.toggle("nokeys", !on);
  try { localStorage.setItem(STORED, on ? "on" : "off"); } catch { /* lasts until the page is closed */ }
}

/**
 * Keys of a component, as long as it is shown. The next key may come before a frame is drawn, and acts on what the page
 * holds by then; so here and in all modules, effects are those of the layout, which run with the change of the page.
 * @param {Bindings} bindings
 */
export function useKeys(bindings) {
  const layer = useRef(bindings);
  layer.current = bindings;
  useLayoutEffect(() => {
    layers.push(layer);
    return () => { layers.splice(layers.indexOf(layer), 1); };
  }, []);
}

/** What was typed for the search before its field was there. @returns {string} */
export function takeEarly() {
  const text = early;
  early = "";
  return text;
}

/** @param {EventTarget | null} target */
export const isField = target => target instanceof HTMLElement
  && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/u.test(target.tagName)) && target.getAttribute("type") !== "checkbox";

const find = name => layers.map(layer => layer.current[name]).filter(Boolean).pop();

function nameOf(event) {
  if (event.ctrlKey || event.metaKey) return event.altKey ? "" : `mod+${event.key}`;
  if (event.altKey) return "";
  return event.key.length === 1 && event.shiftKey && /[a-z]/iu.test(event.key) ? `shift ${event.key.toLowerCase()}` : event.key;
}

function pressed(event) {
  if (event.defaultPrevented || event.isComposing) return;
  const always = event.key === "Escape" || event.ctrlKey || event.metaKey;
  if (isField(event.target) && !always) return;
  if (!always && !event.altKey && event.key.length === 1 && route().params.has("find")) {
    early += event.key;
    event.preventDefault();
    return;
  }
  if (!always && !on && event.key.length === 1) return;
  let name = nameOf(event);
  if (prefix && event.timeStamp - prefixAt < 1500 && find(`${prefix} ${name}`)) name = `${prefix} ${name}`;
  prefix = "";
  if (name === "g") { prefix = "g"; prefixAt = event.timeStamp; return; }
  const act = find(name);
  if (!act || (event.key === "Enter" && !always && isPressable(event.target))) return;
  event.preventDefault();
  act(event);
}

/** A button or link takes Enter itself. @param {EventTarget | null} target */
const isPressable = target => target instanceof HTMLElement && /^(A|BUTTON|SUMMARY)$/u.test(target.tagName);

export function listen() {
  document.documentElement.classList.toggle("nokeys", !on);
  document.addEventListener("keydown", pressed);
}
