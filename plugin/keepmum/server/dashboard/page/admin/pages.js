// The screens of an administrator; only their page loads these modules.
import { ICONS } from "../lib/parts.js";

Object.assign(ICONS, {
  people: ["M8.2 5.500a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0", "M1.5 13.500c0-2.5 1.700-4 4.200-4s4.200 1.500 4.200 4M10.500 3.200a2.500 2.500 0 0 1 0 4.600M12 9.900c1.600.500 2.500 1.800 2.500 3.600"],
  key: ["M8.500 7.500 13.500 2.500M11.500 4.500l2 2M9.500 6.500l1 1", "M9 10.500a3.200 3.200 0 1 1-6.400 0 3.200 3.200 0 0 1 6.400 0"],
  chain: ["M7 9.500a2.500 2.500 0 0 0 3.500 0l2.300-2.300a2.500 2.500 0 0 0-3.500-3.500L8.500 4.500", "M9 6.500a2.500 2.500 0 0 0-3.500 0L3.200 8.800a2.500 2.500 0 0 0 3.500 3.500l.8-.8"],
  bars: ["M3 13.500v-4M6.500 13.500v-8M10 13.500v-6M13.500 13.500v-11"],
});

const sheet = document.createElement("link");
sheet.rel = "stylesheet";
sheet.href = "./admin/admin.css";
document.head.append(sheet);

/** @param {{ every: boolean }} admin who administers single projects only makes no keys */
export function pagesOf({ every }) {
  const people = { icon: "people", title: "People", group: "team", key: "p", load: () => import("./people.js") };
  const keys = { icon: "key", title: "Keys", group: "team", key: "k", load: () => import("./keys.js") };
  const audit = { icon: "chain", title: "Audit", group: "team", key: "l", load: () => import("./audit.js") };
  const usage = { icon: "bars", title: "Usage", group: "team", key: "u", load: () => import("./usage.js") };
  return every ? { people, keys, audit, usage } : { people, audit, usage };
}
