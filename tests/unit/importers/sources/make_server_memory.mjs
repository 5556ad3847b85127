// Writes memory.jsonl through the tools of the npm package @modelcontextprotocol/server-memory 2026.8.31:
//   npm install @modelcontextprotocol/server-memory@2026.8.31 && node make_server_memory.mjs OUT
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const transport = new StdioClientTransport({
  command: "npx", args: ["mcp-server-memory"], env: { ...process.env, MEMORY_FILE_PATH: process.argv[2] },
});
const client = new Client({ name: "fixture", version: "1" });
await client.connect(transport);
const call = (name, args) => client.callTool({ name, arguments: args });
await call("create_entities", { entities: [
  { name: "Ada", entityType: "person", observations: ["likes tabs", "works on billing"] },
  { name: "billing", entityType: "service", observations: ["runs on port 8443"] },
  { name: "Жанна 山田", entityType: "человек", observations: ["пишет на Rust 🦀"] },
] });
await call("create_relations", { relations: [
  { from: "Ada", to: "billing", relationType: "owns" }, { from: "Жанна 山田", to: "Ada", relationType: "reviews" },
] });
await call("add_observations", { observations: [{ entityName: "billing", contents: ["deploys on Tuesdays"] }] });
await client.close();
