// Times as people read them. All functions take milliseconds since 1970 and write English.

const MINUTE = 60_000, HOUR = 60 * MINUTE, DAY = 24 * HOUR, MONTH = 30.4 * DAY, YEAR = 365 * DAY;
/** @type {Intl.DateTimeFormatOptions} */
const DATE = { day: "numeric", month: "short" };
const months = new Intl.DateTimeFormat("en-GB", DATE);
const full = new Intl.DateTimeFormat("en-GB", { ...DATE, year: "numeric" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** @param {number} at @returns {string} `3 h`, `11 d`, `1 mo`: for narrow columns */
export function short(at, now = Date.now()) {
  const past = Math.max(0, now - at);
  if (past < MINUTE) return "now";
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h`;
  if (past < 30 * DAY) return `${Math.floor(past / DAY)} d`;
  if (past < YEAR) return `${Math.floor(past / MONTH)} mo`;
  return `${Math.floor(past / YEAR)} y`;
}

/** @param {number} at @returns {string} `3 h ago`, `yesterday`, `2 days ago`, `8 Nov` */
export function ago(at, now = Date.now()) {
  const past = now - at;
  if (past < MINUTE) return "just now";
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min ago`;
  const days = Math.round((midnight(now) - midnight(at)) / DAY);
  if (days < 1) return `${Math.floor(past / HOUR)} h ago`;
  if (days === 1) return "yesterday";
  return days < 14 ? `${days} days ago` : day(at, now);
}

/** @param {number} at @returns {string} `8 Nov`, with the year when it is another one */
export function day(at, now = Date.now()) {
  const same = new Date(at).getFullYear() === new Date(now).getFullYear();
  return (same || Math.abs(now - at) < 200 * DAY ? months : full).format(at);
}

/** @param {number} at @returns {string} `11 Nov 2026, 16:20` */
export const exact = at => `${full.format(at)}, ${clock.format(at)}`;

/** @param {number} at @returns {string} `11 Nov, 16:20` */
export const moment = (at, now = Date.now()) => `${day(at, now)}, ${clock.format(at)}`;

/** @param {number} at @returns {number} the start of its day, where the reader is */
export const midnight = at => new Date(at).setHours(0, 0, 0, 0);

/** @param {number} at @returns {string} for the `datetime` of a `time` element */
export const iso = at => new Date(at).toISOString();

/** @param {string} text whose dates are to read as `31 Jan` */
export const spoken = text => text.replace(/\b\d{4}-\d\d-\d\d\b/gu, date => day(Date.parse(date)));
