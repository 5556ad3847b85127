// Where the user is, in the fragment of the address: `#/memories?q=deploy&open=mem_…`. Each view has one.
import { useLayoutEffect, useState } from "../vendor/preact.js";

/** @typedef {{ screen: string, params: URLSearchParams }} Route */

/** @returns {Route} */
export function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/u, "").split("?");
  return { screen: path || "home", params: new URLSearchParams(query) };
}

/** @param {string} screen @param {Record<string, string>} [params] empty values are left out @returns {string} for a link */
export function address(screen, params = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value)).toString();
  return `#/${screen}${query ? `?${query}` : ""}`;
}

/** @param {string} screen @param {Record<string, string>} [params] @param {boolean} [replace] without a step in the history */
export function go(screen, params = {}, replace = false) {
  const wanted = address(screen, params);
  if (wanted === location.hash) return;
  if (replace) history.replaceState(null, "", wanted); else history.pushState(null, "", wanted);
  window.dispatchEvent(new Event("routed"));
}

/** @returns {Route} drawn again when it changes */
export function useRoute() {
  const [now, set] = useState(route);
  useLayoutEffect(() => {
    const update = () => set(route());
    for (const name of ["hashchange", "popstate", "routed"]) window.addEventListener(name, update);
    return () => { for (const name of ["hashchange", "popstate", "routed"]) window.removeEventListener(name, update); };
  }, []);
  return now;
}
