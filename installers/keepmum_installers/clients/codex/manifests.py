"""The files of the bundle that Codex reads.

The same values make the plugin that the installer hands to the client: there, interpreter and scripts are named by
their full paths, so that the client's copy holds no code and need not change with it.

Source: runs of version 0.169.0; that the client fills nothing in, https://github.com/openai/codex/issues/19582, read
2026-11-21.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from keepmum.workspace import credentials
from keepmum.workspace.settings import SETTINGS
from keepmum_hooks.clients.codex import PATCH_TOOL, SHELL_TOOL
from keepmum_hooks.event import GUARD, SESSION_START
from keepmum_installers.clients.codex.places import EVENTS, NAME, SERVER
from keepmum_installers.product import MARKETPLACE, SKILLS, Product

__all__ = [
    "HOOKS",
    "MANIFEST",
    "MARKETPLACE_FILE",
    "SERVERS",
    "Start",
    "hooks",
    "marketplace",
    "plugin",
    "render",
    "servers",
]

MANIFEST = ".codex-plugin/plugin.json"
MARKETPLACE_FILE = ".agents/plugins/marketplace.json"
HOOKS = "hooks/codex.json"
SERVERS = ".mcp.codex.json"

# The client's default is ten minutes. The hooks need milliseconds, and nobody should wait for a stuck one.
_HOOK_SECONDS = 5
# Of a longer context the client shows the model both ends, and writes the whole of it to a file in /tmp. A briefing has
# at most 10,000 characters, and no script takes two tokens for each of them.
_CONTEXT_TOKENS = 20_000


@dataclass(frozen=True, slots=True)
class Start:
    """How hooks and server are started."""

    root: str | None = None
    """The folder of the bundle; None when it is the plugin's own."""
    python: str = "python3"

    def hook(self, word: str) -> str:
        """The command line of one hook, which a POSIX shell reads."""
        return f"{shlex.quote(self.python)} {self._hook_arguments(word, shlex.quote)}"

    def hook_on_windows(self, word: str) -> str:
        """The same for PowerShell, for which a program's name must come first, and bare; `python3` may be a stub."""
        return f"py -3 {self._hook_arguments(word, _in_quotes)}"

    def server(self) -> dict[str, object]:
        """The server's entry, without anything to be filled in: here the client fills in nothing.

        A relative working folder is the plugin's own; without one the server starts where the session works.
        """
        folder = "." if self.root is None else self.root
        arguments = ["-I", "-S", f"{folder}/plugin/launch.py", "mcp", "--client", NAME]
        entry: dict[str, object] = {"command": self.python, "args": arguments}
        return entry if self.root else {**entry, "cwd": "."}

    def _hook_arguments(self, word: str, quoted: Callable[[str], str]) -> str:
        # Without -I a file in the user's project could shadow a module; without -S every start pays for site-packages.
        script = quoted(f"{self.root}/hooks/run.py") if self.root else '"${PLUGIN_ROOT}/hooks/run.py"'
        return f"-I -S {script} {word} --client {NAME}"


def render(product: Product) -> Mapping[str, object]:
    """The JSON value of each file, by path below the bundle's root."""
    return {
        MARKETPLACE_FILE: marketplace(product),
        MANIFEST: {**plugin(product), "version": product.version},
        SERVERS: servers(Start()),
        HOOKS: hooks(Start()),
    }


def marketplace(product: Product) -> dict[str, object]:
    """The marketplace's manifest, which lists one plugin, the folder around it."""
    return {
        "name": MARKETPLACE,
        "interface": {"displayName": product.name.capitalize()},
        "plugins": [
            {
                "name": product.name,
                # The marketplace's root is the plugin's root: a folder and a git address work alike.
                "source": {"source": "local", "path": "./"},
                "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                "category": "Productivity",
            }
        ],
    }


def plugin(product: Product) -> dict[str, object]:
    """The manifest, without a version."""
    return {
        "name": product.name,
        **product.facts(),
        "skills": f"./{SKILLS}/",
        # Both are named, since the files of these purposes that the client finds by itself are Claude Code's.
        "mcpServers": f"./{SERVERS}",
        "hooks": f"./{HOOKS}",
        "interface": {
            "displayName": product.name.capitalize(),
            "shortDescription": product.description,
            "longDescription": _LONG_DESCRIPTION,
            "developerName": product.author,
            "category": "Productivity",
            "capabilities": ["Read", "Write"],
            "websiteURL": product.homepage,
            "defaultPrompt": ["What do you remember of this project?", "Remember what we decided, and why."],
        },
    }


_LONG_DESCRIPTION = (
    "Agents recall what was learnt before they start, and keep decisions and hard-won facts for the next session, "
    "whichever client that is in. Everything stays on this machine, and a text that holds a secret is refused before "
    "anything is written."
)


def servers(start: Start) -> dict[str, object]:
    """The MCP servers. Of the user's variables a server gets those that are named."""
    return {"mcpServers": {SERVER: {**start.server(), "env_vars": _variables()}}}


def _variables() -> list[str]:
    """Every variable that a setting can come from, and those that are none, sorted."""
    named = (variable for setting in SETTINGS.values() for variable in setting.variables)
    of_settings = {variable for variable in named if not variable.startswith("CLAUDE_")}
    return sorted(of_settings | {"KEEPMUM_EMBEDDING_KEY", "KEEPMUM_HOME", "KEEPMUM_SESSION", *credentials.VARIABLES})


def hooks(start: Start) -> dict[str, object]:
    """The hooks. A matcher that is a list of names stands for these; any other is an expression without look-ahead."""

    def group(word: str, **matcher: str) -> list[object]:
        commands = {"command": start.hook(word), "commandWindows": start.hook_on_windows(word)}
        limit = {"additionalContextLimit": _CONTEXT_TOKENS} if word == SESSION_START else {}
        return [{**matcher, "hooks": [{"type": "command", **commands, "timeout": _HOOK_SECONDS, **limit}]}]

    guards = group(GUARD, matcher="mcp__.*") + group(GUARD, matcher=f"{PATCH_TOOL}|{SHELL_TOOL}")
    return {"hooks": {**{event: group(word) for event, word in EVENTS.items()}, "PreToolUse": guards}}


def _in_quotes(text: str) -> str:
    """A path for PowerShell, where no file's name can hold a double quote."""
    return f'"{text}"'
