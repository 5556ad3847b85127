"""The files that Codex reads: those of the bundle, and those of the plugin that the installer generates.

The generated plugin is five small files in Keepmum's home, which name interpreter and scripts by full path. The client
copies them, and withdraws its trust from every hook when any file of the copy changes. So they hold no code, and the
manifest has no version.

Source: runs of version 0.169.0; that the client replaces no placeholders, https://github.com/openai/codex/issues/19582,
read 2026-11-21.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from keepmum.workspace import credentials
from keepmum.workspace.settings import SETTINGS
from keepmum_hooks.clients.codex import PATCH_TOOL, SHELL_TOOL
from keepmum_hooks.event import GUARD, SESSION_START
from keepmum_installers import local_plugin
from keepmum_installers.clients.codex.settings import EVENTS, NAME, SERVER
from keepmum_installers.machine import Machine
from keepmum_installers.product import MARKETPLACE, SKILL, SKILLS, Product

__all__ = ["Start", "installed_script", "plugin_files", "plugin_folder", "render"]

_MANIFEST = ".codex-plugin/plugin.json"
_MARKETPLACE_FILE = ".agents/plugins/marketplace.json"
_HOOKS = "hooks/codex.json"
_SERVERS = ".mcp.codex.json"

# The client's default is ten minutes; the hooks need milliseconds.
_HOOK_SECONDS = 5
# The client shortens a longer context to its two ends, and writes all of it to a file in /tmp. A briefing has at most
# 10,000 characters, and no script needs two tokens for each of them.
_CONTEXT_TOKENS = 20_000


@dataclass(frozen=True, slots=True)
class Start:
    """The interpreter and the code of hooks and server."""

    root: str | None = None
    """The folder of the bundle; None means the folder of the plugin."""
    python: str = "python3"

    def hook(self, word: str) -> str:
        """The command line of one hook for a POSIX shell."""
        return f"{shlex.quote(self.python)} {self._hook_arguments(word, shlex.quote)}"

    def hook_on_windows(self, word: str) -> str:
        """The same for PowerShell, which needs an unquoted program name first; there `python3` may be a stub."""
        return f"py -3 {self._hook_arguments(word, _in_quotes)}"

    def server(self) -> dict[str, object]:
        """The server's entry, without placeholders, which the client does not replace here.

        The client resolves a relative working folder in the plugin; without one it starts the server in the session's.
        """
        folder = "." if self.root is None else self.root
        arguments = ["-I", "-S", f"{folder}/plugin/launch.py", "mcp", "--client", NAME]
        entry: dict[str, object] = {"command": self.python, "args": arguments}
        return entry if self.root else {**entry, "cwd": "."}

    def _hook_arguments(self, word: str, quoted: Callable[[str], str]) -> str:
        # Without -I a file in the user's project could shadow a module; -S saves each start a scan of site-packages.
        script = quoted(f"{self.root}/hooks/run.py") if self.root else '"${PLUGIN_ROOT}/hooks/run.py"'
        return f"-I -S {script} {word} --client {NAME}"


def render(product: Product) -> Mapping[str, object]:
    """The JSON value of each file, by path below the bundle's root."""
    return {
        _MARKETPLACE_FILE: _marketplace(product),
        _MANIFEST: {**_plugin(product), "version": product.version},
        _SERVERS: _servers(Start()),
        _HOOKS: _hooks(Start()),
    }


def plugin_folder(machine: Machine) -> str:
    """The folder of the generated plugin, which is a marketplace with one plugin."""
    return os.path.join(machine.home, "plugins", "codex")


def plugin_files(product: Product, root: str) -> Mapping[str, str]:
    """The files of the generated plugin by path, with forward slashes, for the bundle at root.

    Raises: InstallError when the bundle is incomplete.
    """
    start = Start(root=root.replace(os.sep, "/"), python=local_plugin.interpreter())
    values = {
        _MARKETPLACE_FILE: _marketplace(product),
        _MANIFEST: _plugin(product),
        _SERVERS: _servers(start),
        _HOOKS: _hooks(start),
    }
    return {**{name: local_plugin.as_json(value) for name, value in values.items()}, SKILL: local_plugin.skill(root)}


def installed_script(copy: str) -> str | None:
    """The script that the server of a copy of the plugin starts with; None when the copy has another form."""
    found = local_plugin.server(copy, _SERVERS)
    return found and found[1]


def _marketplace(product: Product) -> dict[str, object]:
    """The marketplace's manifest; its only plugin is the folder itself."""
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


def _plugin(product: Product) -> dict[str, object]:
    """The manifest, without a version."""
    return {
        "name": product.name,
        **product.facts(),
        "skills": f"./{SKILLS}/",
        # By default the client would read Claude Code's files of these two kinds.
        "mcpServers": f"./{_SERVERS}",
        "hooks": f"./{_HOOKS}",
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


def _servers(start: Start) -> dict[str, object]:
    """The MCP servers. A server gets only those of the user's variables that its entry names."""
    return {"mcpServers": {SERVER: {**start.server(), "env_vars": _variables()}}}


def _variables() -> list[str]:
    """Every variable that sets a setting, and our other variables, sorted."""
    named = (variable for setting in SETTINGS.values() for variable in setting.variables)
    of_settings = {variable for variable in named if not variable.startswith("CLAUDE_")}
    return sorted(of_settings | {"KEEPMUM_EMBEDDING_KEY", "KEEPMUM_HOME", "KEEPMUM_SESSION", *credentials.VARIABLES})


def _hooks(start: Start) -> dict[str, object]:
    """The hooks. A matcher is a list of names, or else a regular expression without look-ahead."""

    def group(word: str, **matcher: str) -> list[object]:
        commands = {"command": start.hook(word), "commandWindows": start.hook_on_windows(word)}
        limit = {"additionalContextLimit": _CONTEXT_TOKENS} if word == SESSION_START else {}
        return [{**matcher, "hooks": [{"type": "command", **commands, "timeout": _HOOK_SECONDS, **limit}]}]

    guards = group(GUARD, matcher="mcp__.*") + group(GUARD, matcher=f"{PATCH_TOOL}|{SHELL_TOOL}")
    return {"hooks": {**{event: group(word) for event, word in EVENTS.items()}, "PreToolUse": guards}}


def _in_quotes(text: str) -> str:
    """A path for PowerShell; file names on Windows have no double quotes."""
    return f'"{text}"'
