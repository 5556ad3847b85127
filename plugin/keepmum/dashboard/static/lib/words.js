// Names of what the service reports, in words for people.

/** @type {Record<string, [string, string]>} a kind by itself, and as a filter */
export const KINDS = {
  decision: ["decision", "Decisions"], instruction: ["instruction", "Instructions"],
  troubleshooting: ["troubleshooting", "Fixes"], task: ["task", "Tasks"], preference: ["preference", "Preferences"],
  fact: ["fact", "Facts"], project: ["project", "Project"], workflow: ["workflow", "Workflows"], skill: ["skill", "Skills"],
  snippet: ["snippet", "Snippets"], relationship: ["relationship", "Relationships"],
  personality: ["personality", "Personality"], note: ["note", "Notes"],
};

/** @type {Record<string, string>} of the review */
export const GROUPS = {
  contradictions: "Disagree", conflicts: "Disagree", "changed-code": "Cited code changed", outside: "From outside",
  unconfirmed: "Rules nobody confirmed", expiring: "Expire soon", duplicates: "Nearly the same", unused: "Never used",
};

/** @type {Record<string, [string, string, string]>} colour, icon and words of what is remarkable about a memory */
export const FLAGS = {
  outside: ["warn", "eye", "from outside"], "code-gone": ["warn", "warn", "cited code is gone"],
  "code-changed": ["warn", "warn", "cited code changed"], conflict: ["warn", "warn", "conflict"],
  unconfirmed: ["plain", "eye", "not confirmed"], expires: ["warn", "clock", "expires soon"],
  fading: ["plain", "clock", "fading"], pinned: ["ok", "pin", "pinned"], confirmed: ["ok", "check", "confirmed"],
};

/** @type {Record<string, string>} actions of the log */
export const DID = {
  created: "learnt", updated: "changed", conflict: "conflict", superseded: "replaced", archived: "archived",
  trashed: "forgot", tombstoned: "forgot", restored: "brought back", purged: "removed for good", recalled: "searched",
  loaded: "loaded", refused: "refused", imported: "imported", masked: "masked", confirmed: "confirmed", wrong: "marked wrong",
  pinned: "pinned", unpinned: "unpinned", postponed: "put off",
};

/** @type {Record<string, string>} */
export const ICON_OF = {
  created: "check", updated: "edit", conflict: "warn", superseded: "copy", archived: "box", trashed: "bin", tombstoned: "bin",
  restored: "check", purged: "bin", recalled: "search", loaded: "eye", refused: "lock", imported: "file", masked: "lock",
  confirmed: "check", wrong: "flag", pinned: "pin", unpinned: "pin", postponed: "clock",
};

/** @type {Record<string, string>} where a text came from */
export const TRUST = {
  person: "written by you", agent: "the agent’s own work", team: "from your team’s server", outside: "read outside",
};

/** @type {[string[], string][]} */
export const KEYS = [
  [["/"], "search"], [["v"], "still true"], [["j", "k"], "next, previous"], [["e"], "edit"], [["↵", "esc"], "open, back"],
  [["p", "a"], "pin, archive"], [["x"], "select"], [["w"], "wrong"], [["u"], "undo"], [["#"], "forget"],
  [["g", "m"], "go to memories"], [["t", "?"], "theme, keys"], [["g", "h"], "go home"], [["g", "r"], "go to review"],
  [["g", "a"], "go to activity"], [["g", "o"], "go to handoffs"], [["g", "d"], "go to health"], [["⇧", "x"], "select a range"],
];

const SMALL = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/** @param {number} n @returns {string} `six`, `214`, `1,905` */
export const inWords = n => SMALL[n] || figures(n);

export const figures = n => n.toLocaleString("en-GB");

export const sentence = text => text.charAt(0).toUpperCase() + text.slice(1);

/** @param {number} n @param {string} one @param {string} [many] @returns {string} `1 memory`, `214 memories` */
export const counted = (n, one, many = `${one}s`) => `${figures(n)} ${n === 1 ? one : many}`;

/** @param {number} value between 0 and 1 @returns {string} `.71` */
export const hundredths = value => (value >= 0.995 ? "1" : value.toFixed(2).replace(/^0/u, ""));

/** @param {string[]} names @returns {string} `a, b and c` */
export const listed = names => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);

/** @param {string} text @returns {string[]} */
export const tagsOf = text => [...new Set(text.split(",").map(tag => tag.trim()).filter(Boolean))];
