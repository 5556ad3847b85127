// All memories: search, filters with counts, selection, and the open one.
import { html, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { isField, takeEarly, useKeys } from "../lib/keys.js";
import { List, useRows } from "../lib/list.js";
import { Box, Btn, Dot, Empty, Flag, Icon, Legs, Marked, Problem, Skeleton, When, Who } from "../lib/parts.js";
import { go, route } from "../lib/route.js";
import { ask, currentHost, tell, useShared } from "../lib/state.js";
import { counted, figures, KINDS } from "../lib/words.js";
import { Bulk } from "./bulk.js";
import { Detail } from "./detail.js";
import { argumentsOf, Filters, NO_FILTER } from "./filters.js";

/** @param {any} row a row of the list, with why it was found */
const Summary = row => html`<span class="pick"><${Box} checked=${row.picked} /></span>
  <b class="clip">${row.hit && row.hit.title_marks ? html`<${Marked} pieces=${row.hit.title_marks} />` : row.title || "(no title)"}</b>
  <span class="when num"><${When} at=${row.updated_at} form="short" /></span>
  ${row.hit && html`<p class="snip clip"><${Marked} pieces=${row.hit.passage} /></p>`}
  <span class="meta"><span class="tag line">${(KINDS[row.kind] || [row.kind])[0]}</span><${Who} id=${row.updated_by || row.agent} />
    ${row.key && !row.hit && html`<${Dot} /><span class="mono clip">${row.key}</span>`}
    ${row.project && html`<${Dot} /><span class="clip">${row.project}</span>`}
    ${row.flags.slice(0, 2).map(flag => html`<${Dot} /><${Flag} name=${flag} />`)}
    ${row.hit && html`<${Dot} /><${Legs} hit=${row.hit} />`}</span>`;

/**
 * Writes to the address 150 ms after the last key, or when the list is wanted.
 * @param {{ params: URLSearchParams, set: any, onDown: (another: boolean) => void, onType: () => void }} props
 */
function Search({ params, set, onDown, onType }) {
  const [text, setText] = useState(params.get("q") || ""), timer = useRef(0), field = useRef(null);
  useLayoutEffect(() => { if (document.activeElement !== field.current) setText(params.get("q") || ""); }, [params.get("q")]);
  const find = value => {
    clearTimeout(timer.current);
    const another = value.trim() !== (params.get("q") || "");
    if (another) set({ q: value.trim(), open: "" });
    return another;
  };
  const typed = value => {
    setText(value);
    onType();
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => set({ q: value.trim(), open: "" }), 150);
  };
  useLayoutEffect(() => {
    if (!params.has("find") || !field.current) return;
    const early = takeEarly();
    field.current.focus();
    set({ find: "" });
    if (early) typed(text + early);
  }, [params.has("find")]);
  useLayoutEffect(() => () => clearTimeout(timer.current), []);
  const pressed = event => {
    if (event.key === "ArrowDown" || event.key === "Enter") { event.preventDefault(); onDown(find(event.target.value)); }
    if (event.key === "Escape") { event.stopPropagation(); if (text) { setText(""); find(""); } else onDown(find("")); }
  };
  return html`<label class="search"><${Icon} name="search" /><span class="vh">Search memories</span><input type="search" ref=${field} value=${text}
    onInput=${event => typed(event.target.value)} onKeyDown=${pressed} maxlength="1000" placeholder="Ask, or type words" autocomplete="off" spellcheck=${false} /><kbd aria-hidden="true">/</kbd></label>`;
}

// How many there are; with a query, what the colours mean.
const Count = ({ found }) => (found && found.query ? html`<p class="muted fit" role="status"><span class="num">${figures(found.total)}</span>${
  found.more ? "+" : ""} of <span class="num">${figures(found.of)}</span> fit. <span class="legs"><i class="meaning"></i>by meaning</span>
  <span class="legs"><i class="words"></i>by words</span></p>
  ${found.lexical_only && html`<p class="muted fit" role="status">${found.lexical_only}</p>`}`
  : html`<p class="muted fit" role="status">${found ? counted(found.total, "memory", "memories") : ""}</p>`);

/** What the user does to the list: move, open, select. @param {any} list @param {any[]} chosen @param {any} set */
function useMoves(list, [active, setActive], [picked, setPicked], set) {
  const anchor = useRef(-1);
  return useMemo(() => ({
    move: n => {
      const to = Math.min(list.total - 1, Math.max(0, n));
      setActive(to);
      if (list.rows[to] && wide()) set({ open: list.rows[to].id }, true);
    },
    open: n => { if (list.rows[n]) set({ open: list.rows[n].id }, wide()); },
    toggle: (n, range) => {
      const next = new Set(picked), from = range && anchor.current >= 0 ? anchor.current : n;
      const ids = list.rows.slice(Math.min(from, n), Math.max(from, n) + 1).filter(Boolean).map(row => row.id);
      const remove = from === n && next.has(ids[0]);
      for (const id of ids) if (remove) next.delete(id); else next.add(id);
      anchor.current = n;
      setActive(n);
      setPicked(next);
    },
  }), [list.rows, list.total, active, picked]);
}

/** Beside the list there is always one open, and the open one is the active one. */
function useOpen(list, open, [active, setActive], onOpen) {
  const beside = wide();
  useLayoutEffect(() => {
    const at = list.rows.findIndex(row => row && row.id === open);
    if (at >= 0 && list.ready) setActive(at);
  }, [open, list.rows[0] && list.rows[0].id, list.total, list.ready]);
  useLayoutEffect(() => {
    const first = list.rows[Math.max(0, Math.min(active, list.total - 1))];
    if (!open && beside && list.ready && first) onOpen(first.id);
  });
}

/** @returns {boolean} whether list and detail are side by side */
const wide = () => matchMedia("(min-width: 901px)").matches;

const focusList = () => { const list = document.getElementById("memories"); if (list) list.focus(); };

/** After an answer of the server: who types elsewhere by now goes on there. @param {string} own where a field is left for the list */
const returnToList = (own = "#memories") => { const at = document.activeElement; if (!at || !isField(at) || at.closest(own)) focusList(); };

/** Opens the neighbour of what is gone, unless the user has gone on. */
function leave(list, active, open, set) {
  const other = wide() ? list.rows[active + 1] || list.rows[active - 1] : null;
  if (route().params.get("open") === open) set({ open: other ? other.id : "" });
  returnToList();
}

/** Enters the list from the search; one that is still loading, when it is there. @param {any} list @param {() => void} enter */
function useEntry(list, enter) {
  const wanted = useRef(false);
  const settle = () => {
    if (!wanted.current || !list.ready) return;
    wanted.current = false;
    if (list.total > 0) enter();
  };
  useLayoutEffect(settle);
  return { down: another => { wanted.current = true; if (!another) settle(); }, stay: () => { wanted.current = false; } };
}

export function Screen({ params }) {
  // Of the address as it is by then; what ends after the user left the screen does not lead back to it.
  const set = (more, quiet = true) => { const now = route(); if (now.screen === "memories") go("memories", { ...Object.fromEntries(now.params), ...more }, quiet); };
  const args = argumentsOf(params), open = params.get("open") || "", [shown, setShown] = useState(0);
  const query = args.query, { about, mine } = useShared(), again = shown + mine;
  const list = useRows((offset, limit) => ask("memories", { ...args, offset, limit: query ? 200 : limit, facets: offset === 0 }), JSON.stringify(args), again);
  const chosen = useState(-1), selection = useState(/** @type {Set<string>} */ (new Set())), [active, setActive] = chosen, [picked, setPicked] = selection;
  const moves = useMoves(list, chosen, selection, set), reload = () => setShown(n => n + 1);
  useLayoutEffect(() => { setActive(-1); setPicked(new Set()); }, [JSON.stringify(args)]);
  useOpen(list, open, chosen, id => { if (!params.has("keys")) set({ open: id }); });
  const entry = useEntry(list, () => { focusList(); if (active < 0) moves.move(0); });
  const none = () => setPicked(new Set()), done = () => { if (picked.has(open)) set({ open: "" }); setPicked(now => new Set([...now].filter(id => !picked.has(id)))); returnToList(".bulk"); };
  const close = () => { if (picked.size) none(); else if (open && !wide()) set({ open: "" }); else if (query) set({ q: "", open: "" }); focusList(); };
  useKeys({
    j: () => moves.move(active + 1), k: () => moves.move(active - 1), Enter: () => moves.open(active), Escape: close,
    x: () => active >= 0 && moves.toggle(active, false), "shift x": () => active >= 0 && moves.toggle(active, true),
  });
  const rows = list.rows, height = query ? 90 : 67, narrow = wide() ? 0 : 22;
  return html`<div class=${`split ${open ? "opened" : ""}`}><h1 class="vh">Memories</h1><div class="list"><div class="bar">
    <div class="line"><${Search} params=${params} set=${set} onDown=${entry.down} onType=${entry.stay} />
      ${!query && html`<${Sort} params=${params} set=${set} />`}<${Export} args=${args} /></div>
    <${Filters} params=${params} set=${set} facets=${list.extra && list.extra.facets} /><${Count} found=${list.total >= 0 ? list.extra : null} />
    <${News} args=${args} total=${list.total} onShow=${reload} seen=${again} /></div>
    ${picked.size > 0 && html`<${Bulk} picked=${picked} status=${args.status} onDone=${done} onClear=${none} />`}
    ${list.error && html`<div class="pad"><${Problem} error=${list.error} retry=${list.retry} /></div>`}<${Skeleton} busy=${list.total < 0 && !list.error} lines=${8} />
    ${list.total === 0 && !list.error && html`<${Nothing} params=${params} about=${about} set=${set} />`}
    ${list.total > 0 && html`<${List} id="memories" label="Memories" total=${list.total} height=${height + narrow} active=${active} rows=${rows}
      onShow=${query ? () => {} : list.show} onActive=${moves.move} onOpen=${moves.open} onToggle=${moves.toggle}
      selected=${row => picked.has(row.id)} current=${row => row.id === open}
      render=${row => Summary({ ...row, picked: picked.has(row.id) })} />`}</div>
    ${open ? html`<${Detail} key=${open} id=${open} picked=${picked} onBack=${() => { set({ open: "" }); focusList(); }} onChanged=${gone => { if (gone) leave(list, active, open, set); }} />`
      : html`<div class="detail"></div>`}</div>`;
}

const Sort = ({ params, set }) => html`<label class="pickone btn"><span class="vh">Sort</span><select value=${params.get("sort") || "updated"}
  onChange=${event => set({ sort: event.target.value === "updated" ? "" : event.target.value, open: "" })}>
  ${[["updated", "Newest"], ["used", "Most used"], ["fading", "Fading"], ["created", "First learnt"]].map(([value, says]) => html`<option value=${value}>${says}</option>`)}</select></label>`;

// What is filtered, as a file.
function Export({ args }) {
  const save = async format => {
    const host = currentHost();
    if (!host.download) return;
    try {
      const { query, ...filter } = args, blob = await host.download({ format, filter, query: query || "" });
      const link = document.createElement("a"), url = URL.createObjectURL(blob);
      link.href = url;
      link.download = `memories.${format === "jsonl" ? "jsonl" : "md"}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    } catch (error) { tell({ text: error.message, bad: true }); }
  };
  return html`<label class="pickone btn"><${Icon} name="save" /><span class="vh">Export what is listed</span><select value="" onChange=${event => {
    const format = event.target.value;
    event.target.value = "";
    if (format) save(format);
  }}><option value="">Export</option><option value="jsonl">as JSON lines</option><option value="markdown">as Markdown</option></select></label>`;
}

/** Says that others wrote. @param {{ args: any, total: number, onShow: () => void, seen: number }} props */
function News({ args, total, onShow, seen }) {
  const { changes } = useShared(), known = useRef(changes), [fresh, setFresh] = useState(""), key = JSON.stringify([seen, args, total]);
  useLayoutEffect(() => { known.current = changes; setFresh(""); }, [key]);
  useLayoutEffect(() => {
    if (changes === known.current || total < 0 || args.query) return undefined;
    let wanted = true;
    ask("memories", { ...args, offset: 0, limit: 1 }).then(found => { if (wanted) setFresh(found.total > total ? `${found.total - total} new` : "Something changed"); }, () => {});
    return () => { wanted = false; };
  }, [changes, key]);
  return fresh ? html`<p role="status"><${Btn} on=${onShow}>${fresh}: show<//></p>` : null;
}

function Nothing({ params, about, set }) {
  const filtered = ["q", ...Object.keys(NO_FILTER)].some(name => params.get(name));
  if (!filtered && !(about && about.memories)) {
    return html`<${Empty} title="Nothing is remembered here yet"><p>Agents write down what will matter later, every fifth turn or when you ask. Say to yours:</p>
      <span class="cmd">remember that deploys go through the blue pool first</span><//>`;
  }
  return html`<${Empty} title="Nothing fits"><p>Try other words or fewer filters.</p><${Btn} on=${() => set({ ...NO_FILTER, q: "" })}>Show all<//><//>`;
}

