// A listbox that draws only the rows in sight: one tab stop, and each row knows its place among all of them.
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";

const OVER = 5; // rows drawn above and below what is in sight
const PAGE = 60; // rows asked for at once

/**
 * The rows of a long list, fetched by pages as they come into sight.
 * @param {(offset: number, limit: number) => Promise<{ total: number, rows: any[] }>} load
 * @param {string} key another key means another list @param {unknown} again the same list, read again
 */
export function useRows(load, key, again) {
  const [, draw] = useState(0);
  const box = useRef({ key: "", again, rows: /** @type {any[]} */ ([]), total: -1, asked: new Set(), error: /** @type {any} */ (null), extra: /** @type {any} */ (null) });
  const fetchPage = async page => {
    const mine = box.current;
    if (mine.asked.has(page)) return;
    mine.asked.add(page);
    try {
      const found = await load(page * PAGE, PAGE);
      if (mine !== box.current) return;
      mine.total = found.total;
      mine.extra = page === 0 || !mine.extra ? found : mine.extra;
      found.rows.forEach((row, n) => { mine.rows[page * PAGE + n] = row; });
      mine.rows.length = Math.min(mine.rows.length, Math.max(found.total, 0));
      mine.error = null;
    } catch (error) {
      mine.asked.delete(page);
      mine.error = error;
    }
    draw(n => n + 1);
  };
  useLayoutEffect(() => {
    const old = box.current, kept = old.key === key;
    // The same list read again keeps its rows in sight until the new ones are there.
    box.current = { key, again, rows: kept ? old.rows.slice() : [], total: kept ? old.total : -1, asked: new Set(), error: null, extra: kept ? old.extra : null };
    fetchPage(0);
  }, [key, again]);
  const { rows, total, error, extra } = box.current, ready = box.current.key === key && total >= 0;
  const show = (first, last) => {
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last - 1) / PAGE); page++) fetchPage(page);
  };
  const retry = () => { box.current.asked.clear(); fetchPage(0); };
  return { rows, total, error, extra, ready, show, retry, redraw: () => draw(n => n + 1) };
}

/** @param {import("../vendor/preact.js").Ref<HTMLElement>} box @param {number} height of a row */
function useWindow(box, height) {
  const [view, setView] = useState({ top: 0, size: 800 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const measure = () => setView(old => {
      const now = { top: element.scrollTop, size: element.clientHeight || 800 };
      return Math.floor(old.top / height) === Math.floor(now.top / height) && old.size === now.size ? old : now;
    });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    measure();
    return () => { observer.disconnect(); element.removeEventListener("scroll", measure); };
  }, [height]);
  return view;
}

/** @param {any} props id, label, total, height, active, rows, render, selected, current, onShow, onActive, onOpen, onToggle */
export function List(props) {
  const { id, label, total, height, active, rows } = props;
  const box = useRef(null), view = useWindow(box, height);
  const first = Math.max(0, Math.floor(view.top / height) - OVER);
  const last = Math.min(total, Math.ceil((view.top + view.size) / height) + OVER);
  useLayoutEffect(() => { if (total > 0) props.onShow(first, last); }, [first, last, total]);
  useLayoutEffect(() => { // the active row stays in sight
    const element = box.current;
    if (!element || active < 0) return;
    const top = active * height;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight) element.scrollTop = top + height - element.clientHeight;
  }, [active, height]);
  const shown = [];
  for (let n = first; n < last; n++) shown.push(Row(props, n));
  const drawn = active >= first && active < last && rows[active];
  return html`<div class="rows" id=${id} ref=${box} role="listbox" tabindex="0" aria-label=${label} aria-multiselectable="true"
    aria-activedescendant=${drawn ? `${id}-${active}` : undefined} onKeyDown=${event => move(event, props, view.size)}>
    <div class="all" role="presentation" style=${`height:${total * height}px`}>${shown}</div></div>`;
}

/** @param {any} props @param {number} n */
function Row(props, n) {
  const { id, total, height, active, rows, render, selected, current } = props, row = rows[n];
  const place = `top:${n * height}px;height:${height}px`;
  if (!row) return html`<div key=${n} class="row wait" role="option" aria-selected="false" aria-setsize=${total} aria-posinset=${n + 1} style=${place}>
    <span class="vh">Loading</span></div>`;
  return html`<div key=${n} id=${`${id}-${n}`} role="option" style=${place} aria-setsize=${total} aria-posinset=${n + 1}
    class=${`row ${n === active ? "active" : ""} ${current(row) ? "open" : ""}`} aria-selected=${selected(row) ? "true" : "false"}
    aria-current=${current(row) ? "true" : undefined}
    onClick=${event => clicked(event, props, n)}>${render(row, n)}</div>`;
}

/** @param {MouseEvent} event @param {any} props @param {number} n */
function clicked(event, props, n) {
  const target = /** @type {Element} */ (event.target);
  if (event.shiftKey || event.ctrlKey || event.metaKey || target.closest(".pick")) return props.onToggle(n, event.shiftKey);
  props.onActive(n);
  return props.onOpen(n);
}

/** @param {KeyboardEvent} event @param {any} props @param {number} size of what is in sight */
function move(event, props, size) {
  const { active, total, height } = props, page = Math.max(1, Math.floor(size / height) - 1);
  /** @type {Record<string, number>} */
  const steps = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: total - 1 };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in steps) props.onActive(Math.min(total - 1, Math.max(0, steps[event.key])));
  else if (event.key === "Enter") props.onOpen(active);
  else if (event.key === " ") props.onToggle(active, event.shiftKey);
  else return;
  event.preventDefault();
}
