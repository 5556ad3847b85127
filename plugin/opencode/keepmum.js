// Keepmum in OpenCode: adds the server and the skill, and hands what happens here to the same hooks that other clients
// start. A hook that fails changes nothing here, except where it forbids a write to a memory.
// Source: https://opencode.ai/docs/plugins, read 2026-11-21; and runs of version 1.18.33.

import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))
const PYTHON = process.env.KEEPMUM_PYTHON || "python3"
const SECONDS = 5

// What a hook answered: an object, {} for nothing. The guard's exit with 2 forbids, as it does everywhere.
function hook(word, payload) {
  return new Promise((resolve) => {
    const child = spawn(PYTHON, ["-I", "-S", `${ROOT}hooks/run.py`, word, "--client", "opencode"], {
      stdio: ["pipe", "pipe", "pipe"],
      timeout: SECONDS * 1000,
    })
    let said = ""
    let complaint = ""
    child.stdout.on("data", (data) => (said += data))
    child.stderr.on("data", (data) => (complaint += data))
    child.on("error", () => resolve({}))
    child.on("close", (code) => {
      if (code === 2) return resolve({ reason: complaint.trim() || "Keepmum could not check this write." })
      try {
        resolve(said ? JSON.parse(said) : {})
      } catch {
        resolve({})
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Keepmum = async ({ client, directory }) => {
  const briefings = new Map() // of each session: the promise of its text
  const inner = new Set() // sessions of subagents, which nobody speaks to
  const reminders = new Map() // of each session: the text of the last reminder
  const last = new Map() // of each session: the last message to the agent, and whether it is a reminder

  const about = (session, event) => ({ hook_event_name: event, session_id: session, cwd: directory })

  function briefing(session) {
    if (!briefings.has(session)) {
      const told = hook("session-start", about(session, "session.created"))
      briefings.set(session, told.then((answer) => answer.text))
    }
    return briefings.get(session)
  }

  async function idle(session) {
    if (inner.has(session)) return
    const { id, isReminder } = last.get(session) ?? {}
    const payload = { prompt_id: id, continued: isReminder === true }
    const { text } = await hook("stop", { ...about(session, "session.idle"), ...payload })
    if (!text) return
    reminders.set(session, text)
    await client.session.promptAsync({ path: { id: session }, body: { parts: [{ type: "text", text }] } })
  }

  return {
    config: async (config) => {
      const launch = `${ROOT}plugin/launch.py`
      const command = [PYTHON, "-I", "-S", launch, "mcp", "--client", "opencode"]
      config.mcp = { keepmum: { type: "local", command }, ...config.mcp }
      config.skills = { ...config.skills, paths: [...(config.skills?.paths ?? []), `${ROOT}plugin/skills`] }
    },
    event: async ({ event }) => {
      const { sessionID, info } = event.properties ?? {}
      if (event.type === "session.created" && info?.parentID) inner.add(info.id)
      if (event.type === "session.idle") await idle(sessionID)
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const isReminder = parts.some(({ text }) => text !== undefined && text === reminders.get(sessionID))
      last.set(sessionID, { id: message.id, isReminder })
    },
    "tool.execute.before": async ({ tool, sessionID }, { args }) => {
      const call = { tool_name: tool, tool_input: args ?? {} }
      const { reason } = await hook("guard", { ...about(sessionID, "tool.execute.before"), ...call })
      if (reason) throw new Error(reason)
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      const text = sessionID && !inner.has(sessionID) ? await briefing(sessionID) : ""
      if (text) system.push(text)
    },
  }
}
