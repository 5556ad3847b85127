"""Maps the name that an MCP client reports to an agent: the id under which memories are stored, a title and a colour.

Clients report any name they like, and the names differ between versions. Names in the table map to one id per agent;
other names are used as they are. `KEEPMUM_AGENT` overrides both.

Source: initialize requests of Claude Code 2.1.329, Copilot CLI 1.0.102, Gemini CLI 0.61.0, OpenCode 1.18.33 and
Cursor's agent in `@cursor/sdk` 1.0.32; for the others https://github.com/apify/mcp-client-capabilities and their own
documentation, read 2026-11-21.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

__all__ = ["AGENTS", "Agent", "identify"]


class Agent:
    """One agent. Not a dataclass, since it is created during the handshake, before `dataclasses` is imported."""

    __slots__ = ("colour", "id", "title")

    def __init__(self, id: str, title: str, colour: str) -> None:  # noqa: A002 - named like the attribute
        self.id: Final = id  # under which its memories are stored
        self.title: Final = title  # for people
        self.colour: Final = colour  # `#rrggbb`, of medium brightness: visible on black and on white


# Each agent and the names that it reports, in lower case, words joined by "-".
_TABLE = (
    (Agent("claude-code", "Claude Code", "#d97757"), ("claude-code",)),
    (Agent("claude-desktop", "Claude", "#c15f3c"), ("claude-ai", "claude-desktop", "claude")),
    (Agent("codex", "Codex", "#10a37f"), ("codex-mcp-client", "codex")),
    (Agent("chatgpt", "ChatGPT", "#0d8f70"), ("chatgpt", "openai-mcp")),
    (Agent("cursor", "Cursor", "#7c6cf0"), ("cursor", "cursor-vscode", "cursor-agent")),
    (Agent("vscode", "Visual Studio Code", "#0078d4"), ("visual-studio-code", "visual-studio-code-insiders", "vscode")),
    (Agent("copilot-cli", "Copilot CLI", "#8957e5"), ("copilot-cli", "github-copilot-developer")),
    (Agent("gemini-cli", "Gemini CLI", "#4285f4"), ("gemini-cli-mcp-client", "gemini-cli")),
    (Agent("opencode", "OpenCode", "#b8860b"), ("opencode",)),
    (Agent("windsurf", "Windsurf", "#0b9a8d"), ("windsurf", "windsurf-client")),
    (Agent("zed", "Zed", "#2f7fd6"), ("zed",)),
    (Agent("cline", "Cline", "#9b6a3c"), ("cline",)),
    (Agent("roo-code", "Roo Code", "#c2578f"), ("roo-code",)),
    (Agent("kilo-code", "Kilo Code", "#8a8d1e"), ("kilo-code",)),
    (Agent("goose", "Goose", "#c06a1e"), ("goose",)),
    (Agent("amp", "Amp", "#d9463e"), ("amp-mcp-client", "amp")),
    (Agent("antigravity", "Antigravity", "#5b6ee1"), ("antigravity-client", "antigravity")),
    (Agent("amazon-q", "Amazon Q", "#a05ad0"), ("q-dev-cli",)),
    (Agent("crush", "Crush", "#d0508f"), ("crush",)),
    (Agent("raycast", "Raycast", "#e0565b"), ("com.raycast.macos", "raycast")),
)

AGENTS: Mapping[str, Agent] = {agent.id: agent for agent, _ in _TABLE}
_BY_NAME: Mapping[str, Agent] = {name: agent for agent, names in _TABLE for name in names}
_COLOURS = ("#5f7d95", "#7d6f95", "#95705f", "#6f9560", "#957a5f", "#5f958b")  # muted, for unknown agents


def identify(name: str) -> Agent:
    """The agent that reports this name; for an unknown name, an agent with this name as its id and title."""
    spelled = "-".join(name.lower().replace("_", " ").replace("-", " ").split())
    known = AGENTS.get(name) or _BY_NAME.get(spelled)
    return known or Agent(name, name, _COLOURS[sum(name.encode("utf-8", "replace")) % len(_COLOURS)])
