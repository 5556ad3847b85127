"""The prompt that asks the model to store what it learned.

It is one line because clients also show it to the user; the procedure is in the skill. It is a module rather than a
text file because modules come from the bytecode cache, while a text file would be one more file to open.
"""

from __future__ import annotations

from keepmum_hooks import tool_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CAPTURE_PROMPT", "SKILLS", "capture_prompt"]

# The skill as each client lists it: with the plugin's name before it, or alone.
# Source: requests of Claude Code 2.1.329, Codex 0.169.0, Copilot CLI 1.0.102, Gemini CLI 0.61.0, OpenCode 1.18.33 and
# Cursor's agent in `@cursor/sdk` 1.0.32 (2026-11-22). Visual Studio Code reads the same plugin as Copilot CLI.
SKILLS: Mapping[str, str] = {
    "claude-code": "keepmum:memory",
    "codex": "keepmum:memory",
    "copilot-cli": "memory",
    "cursor": "memory",
    "gemini-cli": "memory",
    "opencode": "memory",
    "vscode": "memory",
}

# The part that is the same for every client.
CAPTURE_PROMPT = (
    "to capture what the latest turns taught that will still matter, then stop; if nothing will, just stop."
)


def capture_prompt(client: str, dialect: str = "") -> str:
    """The prompt for a client; it names the tools where the model would have to look for them."""
    skill = SKILLS.get(client, "memory")
    listed = "" if skill == "memory" else f" ({skill})"
    tools = tool_names.of(dialect)
    names = f"`{tools['search']}` and `{tools['store']}`"
    advice = ""
    if client == "codex":  # lists no tool of a server before it is searched for
        advice = f" tool_search finds {names}."
    elif tools is not tool_names.TOOL_NAMES[tool_names.DEFAULT]:
        advice = f" Its tools here are {names}."
    return f"Keepmum: use its memory skill{listed} {CAPTURE_PROMPT}{advice}"
