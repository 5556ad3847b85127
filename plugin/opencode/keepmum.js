// Keepmum in OpenCode: registers the server and the skill, and runs the hooks that other clients run.
// A failing hook changes nothing, except that the guard can block a write.
// Source: https://opencode.ai/docs/plugins, read 2026-11-21; and runs of version 1.18.33.

import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))
const PYTHON = "python3" // not from a variable, which a project's `.env` could set
const SECONDS = 5

// The answer of a hook, {} if there is none. Exit code 2 of the guard blocks the tool, as in every client.
function hook(word, payload) {
  return new Promise((resolve) => {
    const child = spawn(PYTHON, ["-I", "-S", `${ROOT}hooks/run.py`, word, "--client", "opencode"], {
      stdio: ["pipe", "pipe", "pipe"],
      timeout: SECONDS * 1000,
    })
    let output = ""
    let errors = ""
    child.stdout.on("data", (data) => (output += data))
    child.stderr.on("data", (data) => (errors += data))
    child.on("error", () => resolve({}))
    child.on("close", (code) => {
      if (code === 2) return resolve({ reason: errors.trim() || "Keepmum could not check this write." })
      try {
        resolve(output ? JSON.parse(output) : {})
      } catch {
        resolve({})
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Keepmum = async ({ client, directory }) => {
  const briefings = new Map() // by session: the promise of its text
  const subagents = new Set() // sessions of subagents, which get no briefing
  const reminders = new Map() // by session: the text of the last capture request
  const last = new Map() // by session: the last message, and whether it is our capture request

  const about = (session, event) => ({ hook_event_name: event, session_id: session, cwd: directory })

  function briefing(session) {
    if (!briefings.has(session)) {
      const answer = hook("session-start", about(session, "session.created"))
      briefings.set(session, answer.then(({ text }) => text))
    }
    return briefings.get(session)
  }

  async function idle(session) {
    if (subagents.has(session)) return
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
      if (event.type === "session.created" && info?.parentID) subagents.add(info.id)
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
      const text = sessionID && !subagents.has(sessionID) ? await briefing(sessionID) : ""
      if (text) system.push(text)
    },
  }
}
