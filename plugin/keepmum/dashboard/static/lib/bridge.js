// The app's side of MCP Apps (2026-01-26): JSON-RPC 2.0 over postMessage with the host; no SDK.

/** @typedef {{ hostCapabilities?: any, hostContext?: any }} Hello what the host says first */

/**
 * @param {{ name: string, version: string }} info @param {string[]} modes that the app can be shown in
 * @param {(method: string, params: any) => void} on what the host tells
 */
export function connect(info, modes, on) {
  let next = 1, greeted = false;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  const host = window.parent;
  const post = message => host.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const request = (method, params) => new Promise((resolve, reject) => {
    const id = next++;
    waiting.set(id, { resolve, reject });
    post({ id, method, params });
  });
  window.addEventListener("message", event => {
    const message = event.data;
    if (event.source !== host || !message || message.jsonrpc !== "2.0") return;
    if (message.method === undefined) settle(waiting, message);
    else if (message.id !== undefined) post({ id: message.id, ...answer(message.method, on) });
    else on(message.method, message.params || {});
  });
  const ready = request("ui/initialize", { protocolVersion: "2026-01-26", appInfo: info, appCapabilities: { availableDisplayModes: modes } })
    .then(hello => { greeted = true; post({ method: "ui/notifications/initialized" }); return /** @type {Hello} */ (hello); });
  reportSize(size => { if (greeted) post({ method: "ui/notifications/size-changed", params: size }); }, ready);
  return { ready, request, call: (name, args) => request("tools/call", { name, arguments: args }) };
}

/** @param {Map<number, any>} waiting @param {any} message an answer of the host */
function settle(waiting, { id, error, result }) {
  const who = waiting.get(id);
  if (!who) return;
  waiting.delete(id);
  if (error) who.reject(new Error(error.message || "refused by the host")); else who.resolve(result);
}

/** @param {string} method @param {(method: string, params: any) => void} on @returns {any} the answer to a request of the host */
function answer(method, on) {
  if (method === "ping") return { result: {} };
  if (method !== "ui/resource-teardown") return { error: { code: -32601, message: "method not found" } };
  on("teardown", {});
  return { result: {} };
}

/** Reports the height of the content, once a frame and only when it changed. @param {(size: { width: number, height: number }) => void} report @param {Promise<any>} ready */
function reportSize(report, ready) {
  let last = "", planned = false;
  const measure = () => {
    planned = false;
    const height = Math.ceil(document.body.getBoundingClientRect().height), width = Math.ceil(document.documentElement.clientWidth);
    if (last !== (last = `${width} ${height}`)) report({ width, height });
  };
  const plan = () => { if (!planned) { planned = true; requestAnimationFrame(measure); } };
  ready.then(() => { last = ""; plan(); }, () => {});
  new ResizeObserver(plan).observe(document.body);
}
