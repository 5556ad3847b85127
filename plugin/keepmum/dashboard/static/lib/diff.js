// What changed between two texts, by words.

/** @typedef {{ op: "same" | "del" | "ins", text: string }} Run */
const CELLS = 2_000_000; // of the table; larger changes are shown as one replacement

/** @param {string} text @returns {string[]} words and signs, with the blanks after them */
const words = text => text.match(/[\p{L}\p{N}_]+\s*|[^\p{L}\p{N}_\s]\s*|\s+/gu) || [];

/** @param {string} before @param {string} after @returns {Run[]} deletions come before insertions */
export function diff(before, after) {
  const a = words(before), b = words(after);
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = changes(a.slice(start, a.length - end), b.slice(start, b.length - end));
  /** @type {Run[]} */
  const runs = [{ op: "same", text: a.slice(0, start).join("") }, ...middle,
    { op: "same", text: a.slice(a.length - end).join("") }];
  return merged(runs.filter(run => run.text));
}

/** @param {string[]} a @param {string[]} b @returns {Run[]} */
function changes(a, b) {
  if (a.length * b.length > CELLS) return [{ op: "del", text: a.join("") }, { op: "ins", text: b.join("") }];
  const wide = b.length + 1, longest = new Uint32Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * wide + j] = same(a[i], b[j]) ? longest[(i + 1) * wide + j + 1] + 1
        : Math.max(longest[(i + 1) * wide + j], longest[i * wide + j + 1]);
    }
  }
  /** @type {Run[]} */
  const runs = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && same(a[i], b[j])) { runs.push({ op: "same", text: b[j] }); i++; j++; }
    else if (j >= b.length || (i < a.length && longest[(i + 1) * wide + j] >= longest[i * wide + j + 1])) {
      runs.push({ op: "del", text: a[i++] });
    } else runs.push({ op: "ins", text: b[j++] });
  }
  return runs;
}

/** @param {string} a @param {string} b */
const same = (a, b) => a.trimEnd() === b.trimEnd();

/** @param {Run[]} runs @returns {Run[]} neighbours joined, and deletions moved before insertions */
function merged(runs) {
  /** @type {Run[]} */
  const out = [];
  let del = "", ins = "";
  const flush = () => {
    if (del) out.push({ op: "del", text: del });
    if (ins) out.push({ op: "ins", text: ins });
    del = ins = "";
  };
  for (const run of runs) {
    if (run.op === "del") del += run.text;
    else if (run.op === "ins") ins += run.text;
    else {
      flush();
      const last = out[out.length - 1];
      if (last && last.op === "same") last.text += run.text;
      else out.push({ ...run });
    }
  }
  flush();
  return out;
}

/** @param {Run[]} runs @param {number} [around] @returns {Run[]} unchanged text reduced to some words next to a change */
export function shortened(runs, around = 6) {
  return runs.map((run, n) => {
    const all = words(run.text);
    if (run.op !== "same" || all.length <= 2 * around) return run;
    const head = n === 0 ? "" : all.slice(0, around).join("").trimEnd();
    const tail = n === runs.length - 1 ? "" : all.slice(-around).join("");
    return { op: "same", text: `${head}${head ? " … " : "… "}${tail}`.replace(/… $/u, "…") };
  });
}
