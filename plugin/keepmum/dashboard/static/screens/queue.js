// The queue of the review, for the page and for the panel.
import { useRef } from "../vendor/preact.js";
import { act, ask, useAsk, usePages } from "../lib/state.js";

/** The queue, what is open in it, and what to do next. @param {string} wanted @param {(id: string) => void} onOpen */
export function useQueue(wanted, onOpen) {
  const { data, error, busy, reload } = useAsk("review", { limit: 50 }, true);
  const { rows: items, grow } = usePages(data, ({ items: rows, cursor }) => ({ rows, cursor }), cursor => ask("review", { limit: 50, cursor }));
  const at = Math.max(0, items.findIndex(item => item.id === wanted)), item = items[at];
  const shown = useRef("");
  shown.current = item ? item.id : "";
  const step = by => { const to = items[Math.min(items.length - 1, Math.max(0, at + by))]; if (to) onOpen(to.id); };
  const decide = async choice => {
    const next = items[at + 1] || items[at - 1];
    if (!await act("decide", { item: item.id, ...choice })) return false;
    // Who has gone on meanwhile stays there.
    if (shown.current === item.id) onOpen(next ? next.id : "");
    return true;
  };
  return { data, error, busy, reload, items, at, item, step, decide, grow };
}
