// A chat as the official host side of MCP Apps builds it: AppBridge over a sandbox of another origin.
import { AppBridge, PostMessageTransport, getToolUiResourceUri } from "@modelcontextprotocol/ext-apps/app-bridge";

const rpc = async (method, params) => {
  const answer = await (await fetch("/rpc", { method: "POST", body: JSON.stringify({ method, params }) })).json();
  if (answer.error) throw new Error(answer.error.message);
  return answer.result;
};
window.log = [];

// Options: `strip` hands on the text of results alone, `silent` has no serverTools.
window.start = async (sandbox, args, { strip = false, silent = false, theme = "light" } = {}) => {
  const { tools } = await rpc("tools/list", {});
  const tool = tools.find(each => each.name === "memory_dashboard");
  const [resource] = (await rpc("resources/read", { uri: getToolUiResourceUri(tool) })).contents;
  const iframe = document.getElementById("app");
  const capabilities = { ...(silent ? {} : { serverTools: {} }), serverResources: {}, openLinks: {}, logging: {} };
  const hostContext = { theme, displayMode: "inline", availableDisplayModes: ["inline", "fullscreen"], containerDimensions: { maxHeight: 600 }, toolInfo: { tool } };
  const bridge = window.bridge = new AppBridge(null, { name: "harness", version: "1" }, capabilities, { hostContext });
  bridge.oncalltool = async params => {
    window.log.push(["call", params.name, params.arguments]);
    const { content, structuredContent, isError } = await rpc("tools/call", params);
    return strip ? { content, isError } : { content, structuredContent, isError };
  };
  bridge.onsizechange = ({ height }) => { window.log.push(["size", height]); if (height) iframe.style.height = `${height}px`; };
  bridge.onrequestdisplaymode = async ({ mode }) => { window.log.push(["mode", mode]); return { mode }; };
  const initialized = new Promise(done => { bridge.oninitialized = () => { window.log.push(["initialized"]); done(); }; });
  const ready = new Promise(done => { bridge.onsandboxready = () => done(); });
  iframe.src = sandbox;
  await bridge.connect(new PostMessageTransport(iframe.contentWindow, iframe.contentWindow));
  await ready;
  await bridge.sendSandboxResourceReady({ html: resource.text });
  await initialized;
  await bridge.sendToolInput({ arguments: args });
};
