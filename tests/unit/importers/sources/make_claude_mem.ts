// Writes claude_mem.db with the npm package claude-mem 13.25.3, run by the npm package bun:
//   npm pack claude-mem@13.25.3 && tar xzf claude-mem-*.tgz && bun make_claude_mem.ts package/plugin/sqlite/SessionStore.js OUT
const [, , storeModule, out] = process.argv;
const { SessionStore } = require(storeModule);
const store = new SessionStore(out);
const day = 86_400_000;
const start = Date.UTC(2026, 0, 5, 9, 30);
const sessions = [
  ["content-1", "memory-1", "shop", "Fix the basket", "claude"],
  ["content-2", "memory-2", "ドキュメント", "Опиши выпуск", "cursor"],
];
for (const [content, memory, project, prompt, platform] of sessions) {
  const row = store.createSDKSession(content, project, prompt, undefined, platform);
  store.updateMemorySessionId(row, memory);
  store.saveUserPrompt(content, 1, prompt);
}
store.storeObservation("memory-1", "shop", {
  type: "bugfix", title: "Basket total was rounded twice", subtitle: "Totals of 3 items were off by a cent",
  facts: ["round() was called in cart.ts and in total.ts", "cart.ts keeps cents"], narrative: "Rounding moved to total.ts.",
  concepts: ["problem-solution", "gotcha"], files_read: ["src/cart.ts"], files_modified: ["src/total.ts"],
}, 1, 42, start);
store.storeObservation("memory-1", "shop", {
  type: "decision", title: "Keep money in cents", subtitle: null, facts: [], narrative: "Integers avoid rounding.",
  concepts: ["trade-off"], files_read: [], files_modified: [],
}, 2, 0, start + day);
store.storeObservation("memory-2", "ドキュメント", {
  type: "discovery", title: "リリース手順 – выпуск по вторникам", subtitle: "", facts: ["الإصدار يوم الثلاثاء"],
  narrative: "🚀 Releases go out on Tuesdays", concepts: ["how-it-works"], files_read: [], files_modified: [],
}, 1, 7, start + 2 * day);
store.storeSummary("memory-1", "shop", {
  request: "Fix the basket", investigated: "cart.ts", learned: "Two places rounded", completed: "One is left",
  next_steps: "Add a test", notes: null,
}, 2, 9, start + day + 1000);
store.db.run("PRAGMA wal_checkpoint(TRUNCATE)");
store.db.close();
