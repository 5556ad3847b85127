"""The files that Claude Code reads: those of the bundle, and those of the plugin that the installer generates.

The generated plugin is five small files in Keepmum's home. The client copies the folder of a plugin whole into its
cache and never deletes the copy: of a clone in which the tests ran that is half a gigabyte. The committed manifests
start `python3`; where that is missing, or only opens an app store as on Windows, the generated ones name the
interpreter of the installer.

Source: https://code.claude.com/docs/en/plugins-reference, read 2026-11-21; and `claude plugin validate` of 2.1.329.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from keepmum_hooks.clients.claude_code import FILE_TOOLS, SHELL_TOOLS
from keepmum_hooks.event import GUARD
from keepmum_hooks.guard_table import OWN_TOOLS
from keepmum_installers import local_plugin
from keepmum_installers.clients.claude.settings import EVENTS, NAME, PYTHON
from keepmum_installers.guard_matcher import of_memory
from keepmum_installers.machine import Machine
from keepmum_installers.product import MARKETPLACE, SERVER, SKILL, SKILLS, Product

__all__ = ["Start", "installed_start", "plugin_files", "plugin_folder", "render"]

_SERVERS = ".mcp.json"
# Without -I a file in the user's project could shadow a module; without -S every start would scan site-packages.
_PYTHON = ["-I", "-S"]
# The client's default is ten minutes; the hooks need milliseconds.
_HOOK_SECONDS = 5
_RENDERED = "Rendered from pyproject.toml by keepmum_installers.manifests; change it there."


@dataclass(frozen=True, slots=True)
class Start:
    """The interpreter and the code of hooks and server."""

    root: str = "${CLAUDE_PLUGIN_ROOT}"
    """The folder of the bundle; the client replaces this placeholder by the folder of the plugin."""
    python: str = PYTHON


def render(product: Product) -> Mapping[str, object]:
    """The JSON value of each file, by path below the bundle's root."""
    return _bundle(product, Start())


def plugin_folder(machine: Machine) -> str:
    """The folder of the generated plugin, which is a marketplace with one plugin."""
    return os.path.join(machine.home, "plugins", "claude-code")


def plugin_files(product: Product, root: str, python: str) -> Mapping[str, str]:
    """The files of the generated plugin by path, with forward slashes, for the bundle at root and an interpreter.

    Raises: InstallError when the bundle is incomplete.
    """
    values = _bundle(product, Start(root.replace(os.sep, "/"), python))
    return {**{name: local_plugin.as_json(value) for name, value in values.items()}, SKILL: local_plugin.skill(root)}


def installed_start(machine: Machine) -> tuple[str, str] | None:
    """The interpreter and the script that the generated plugin starts its server with; None without such a plugin."""
    return local_plugin.server(plugin_folder(machine), _SERVERS)


def _bundle(product: Product, start: Start) -> Mapping[str, object]:
    return {
        ".claude-plugin/plugin.json": _plugin(product),
        ".claude-plugin/marketplace.json": _marketplace(product),
        _SERVERS: _servers(start),
        "hooks/hooks.json": _hooks(start),
    }


def _plugin(product: Product) -> dict[str, object]:
    return {
        "name": product.name,
        "displayName": product.name.capitalize(),
        "version": product.version,
        **product.facts(),
        "metadata": {"generated": _RENDERED},
        "skills": f"./{SKILLS}/",
        # Nothing leaves the machine; the client shows this before it installs.
        "network": {"hosts": []},
        "userConfig": {
            "capture_every": {
                "type": "number",
                "title": "Turns between two captures",
                "description": "Number of turns after which the agent is asked to store what it learned.",
                # The client passes only saved values to hooks, so the Stop hook has the same default.
                "default": 5,
                "min": 1,
                "max": 1000,
            }
        },
    }


def _marketplace(product: Product) -> dict[str, object]:
    return {
        "name": MARKETPLACE,
        "description": product.description,
        "owner": {"name": product.author},
        "plugins": [
            {
                "name": product.name,
                # The repository's root is the plugin's root: a folder and a git address work alike.
                "source": "./",
                "description": product.description,
                "category": "productivity",
                "tags": list(product.keywords),
            }
        ],
    }


def _servers(start: Start) -> dict[str, object]:
    arguments = [*_PYTHON, f"{start.root}/plugin/launch.py", "mcp", "--client", NAME]
    return {"mcpServers": {SERVER: {"command": start.python, "args": arguments}}}


def _hooks(start: Start) -> dict[str, object]:
    groups: dict[str, object] = {event: [{"hooks": [_hook(start, word)]}] for event, word in EVENTS.items()}
    return {"description": _RENDERED, "hooks": {**groups, "PreToolUse": _guards(start)}}


def _guards(start: Start) -> list[object]:
    """The guard, before the tools that may write to a memory.

    Where the guard cannot run at all, a server's tools for memories are blocked. Its other tools and the user's files
    and commands stay usable, since most of them have nothing to do with memories.
    """
    other_servers = f"^(?!{'|'.join(OWN_TOOLS)})mcp__"
    return [
        {"matcher": f"{other_servers}.*{of_memory()}", "hooks": [{**_hook(start, GUARD), "onFailure": "block"}]},
        {"matcher": f"{other_servers}(?!.*{of_memory()})", "hooks": [_hook(start, GUARD)]},
        {"matcher": "|".join((*FILE_TOOLS, *SHELL_TOOLS)), "hooks": [_hook(start, GUARD)]},
    ]


def _hook(start: Start, word: str) -> dict[str, object]:
    # The form with "args" starts no shell: nothing needs quotes, and no profile prints before the answer.
    arguments = [*_PYTHON, f"{start.root}/hooks/run.py", word, "--client", NAME]
    return {"type": "command", "command": start.python, "args": arguments, "timeout": _HOOK_SECONDS}
