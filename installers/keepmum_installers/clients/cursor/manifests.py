"""The files of the bundle that Cursor reads.

The same values make the plugin that the installer puts into Cursor's own folder: there, interpreter and scripts are
named by their full paths, since an editor that was started from the desktop has another PATH than a shell.

Source: https://cursor.com/docs/plugins/building, https://cursor.com/docs/agent/hooks and the schemas in
https://github.com/cursor/plugins, read 2026-11-21; and the loader in `@cursor/sdk` 1.0.32.
"""

from __future__ import annotations

import base64
import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict
from urllib.parse import quote

from keepmum_hooks.clients.cursor import MCP_TOOL, OWN_SERVER, PLAIN_TOOLS
from keepmum_hooks.event import GUARD
from keepmum_hooks.guard_rules import WORDS
from keepmum_installers.clients.cursor.places import EVENTS, NAME
from keepmum_installers.clients.cursor.rule import RULE
from keepmum_installers.product import MARKETPLACE, SKILLS, Product

__all__ = ["HOOKS", "MANIFEST", "RULES", "SERVERS", "Hooks", "Start", "hooks", "link", "plugin", "render", "servers"]

MANIFEST = ".cursor-plugin/plugin.json"
HOOKS = "hooks/cursor.json"
SERVERS = ".mcp.cursor.json"
RULES = "plugin/rules/keepmum.mdc"

# The client's default is a minute. The hooks need milliseconds, and nobody should wait for a stuck one.
_HOOK_SECONDS = 5


class Hooks(TypedDict):
    """A file of hooks."""

    version: int
    hooks: dict[str, list[dict[str, object]]]


@dataclass(frozen=True, slots=True)
class Start:
    """How hooks and server are started."""

    root: str = "${CURSOR_PLUGIN_ROOT}"
    """The folder of the bundle; the client puts the plugin's own in the place of this word, without quotes."""
    python: str = "python3"
    command: str = ""
    """What to call instead, where neither folder nor interpreter can be named."""

    def hook(self, word: str) -> str:
        """The command line of one hook, for a POSIX shell and for PowerShell alike where the root is the client's."""
        if self.command:
            return f"{self.command} {word} --client {NAME}"
        return f"{_quoted(self.python)} -I -S {_quoted(f'{self.root}/hooks/run.py')} {word} --client {NAME}"

    def server(self) -> dict[str, object]:
        """The server's entry; no shell reads it."""
        arguments = ["-I", "-S", f"{self.root}/plugin/launch.py", "mcp", "--client", NAME]
        return {"command": self.python, "args": arguments}


def render(product: Product) -> Mapping[str, object]:
    """Each file, by path below the bundle's root."""
    return {
        MANIFEST: plugin(product),
        ".cursor-plugin/marketplace.json": _marketplace(product),
        SERVERS: servers(Start()),
        HOOKS: hooks(Start()),
        RULES: RULE,
    }


def plugin(product: Product) -> dict[str, object]:
    """The manifest. What it names replaces what the client would look for by itself, the Claude format among it."""
    return {
        "name": product.name,
        "displayName": product.name.capitalize(),
        "version": product.version,
        **product.facts(),
        "skills": f"./{SKILLS}/",
        "rules": f"./{os.path.dirname(RULES)}/",
        "hooks": f"./{HOOKS}",
        "mcpServers": f"./{SERVERS}",
    }


def _marketplace(product: Product) -> dict[str, object]:
    return {
        "name": MARKETPLACE,
        "owner": {"name": product.author},
        "metadata": {"description": product.description},
        # The repository's root is the plugin's root: a folder and a git address work alike.
        "plugins": [{"name": product.name, "source": "./", "description": product.description}],
    }


def servers(start: Start) -> dict[str, object]:
    """The MCP servers; ours has a name that no other memory's server has, since names may collide here."""
    return {"mcpServers": {OWN_SERVER: start.server()}}


def link() -> str:
    """The address that adds the server alone to Cursor by a click; it starts the command that the installer made.

    Source: https://cursor.com/docs/mcp/install-links, read 2026-11-21
    """
    entry = {"command": "${userHome}/.keepmum/bin/keepmum", "args": ["mcp", "--client", NAME]}
    config = base64.b64encode(json.dumps(entry, separators=(",", ":")).encode()).decode()
    return f"https://cursor.com/en/install-mcp?name={OWN_SERVER}&config={quote(config)}"


def hooks(start: Start) -> Hooks:
    """The hooks. One event that the client does not know would make it refuse the whole file."""
    session, stop = ({"command": start.hook(word), "timeout": _HOOK_SECONDS} for word in EVENTS.values())
    return {
        "version": 1,
        "hooks": {
            "sessionStart": [session],
            # One followup is one reminder; what the agent does then is followed up no more.
            "stop": [{**stop, "loop_limit": 1}],
            **_guards(start),
        },
    }


def _guards(start: Start) -> dict[str, list[dict[str, object]]]:
    """The guard, before whatever may write to a memory.

    A server's tool that speaks of memory is not used where the guard cannot run at all. Its other tools, and the
    user's files and commands, are, since most of them have nothing to do with memories.
    """
    guard: dict[str, object] = {"command": start.hook(GUARD), "timeout": _HOOK_SECONDS}
    of_memory = f"({'|'.join(_any_case(word) for word in WORDS)})"
    own_events = "|".join(PLAIN_TOOLS)
    return {
        "beforeMCPExecution": [
            {**guard, "matcher": of_memory, "failClosed": True},
            {**guard, "matcher": f"^(?!.*{of_memory})"},
        ],
        "beforeShellExecution": [guard],
        "preToolUse": [{**guard, "matcher": f"^(?!{MCP_TOOL}|({own_events})$)"}],
    }


def _any_case(word: str) -> str:
    """A pattern for the word in `snake_case`, `kebab-case` and `camelCase`."""
    return "[-_]?".join(f"[{part[0]}{part[0].upper()}]{part[1:]}" for part in word.split("_"))


def _quoted(text: str) -> str:
    """The text as one word of the shell; the client's own word is put in before the shell reads it."""
    if text.startswith("${CURSOR_PLUGIN_ROOT}") or os.name == "nt":
        return f'"{text}"'
    return shlex.quote(text)
