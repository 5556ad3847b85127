"""Where Claude Code keeps its settings and its MCP servers, and the names that we use there.

Source: https://code.claude.com/docs/en/mcp, read 2026-11-21; and what `claude mcp add` of 2.1.329 writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from keepmum_installers.clients.client import Scope, ServerList
from keepmum_installers.machine import Machine

__all__ = ["EVENTS", "NAME", "PYTHON", "plugin_lists", "server_lists", "settings_file", "settings_folder"]

NAME = "claude-code"
"""The client's name in our commands, files and settings."""

PYTHON = "python3"
"""The interpreter of hooks and server in committed files, which are the same on every machine."""

EVENTS = {"SessionStart": "session-start", "Stop": "stop"}
"""The events that we have hooks for, other than the guard's: the client's name, and ours."""

_FILES = {"project": "settings.json", "local": "settings.local.json"}
_SERVERS = "mcpServers"


def settings_file(scope: Scope, machine: Machine) -> str:
    """The settings file of that scope; for project and local in the repository around the working folder."""
    if scope == "user":
        return os.path.join(settings_folder(machine), "settings.json")
    return os.path.join(machine.repository, ".claude", _FILES[scope])


def settings_folder(machine: Machine) -> str:
    """The folder of everything that the client keeps for this user."""
    return machine.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(machine.user_home, ".claude")


def plugin_lists(machine: Machine) -> tuple[str, ...]:
    """The files in which the client itself lists plugins and marketplaces."""
    folder = os.path.join(settings_folder(machine), "plugins")
    return tuple(os.path.join(folder, name) for name in ("installed_plugins.json", "known_marketplaces.json"))


def server_lists(machine: Machine) -> Iterator[ServerList]:
    """The lists of MCP servers that apply in the working folder, in order of precedence: local, project, user."""
    # Next to the settings folder, or inside it where the user moved that.
    state = os.path.join(machine.environ.get("CLAUDE_CONFIG_DIR") or machine.user_home, ".claude.json")
    for folder in dict.fromkeys((machine.cwd, os.path.realpath(machine.cwd), machine.repository)):
        yield ServerList("local", state, ("projects", folder, _SERVERS))
    yield ServerList("project", os.path.join(machine.repository, ".mcp.json"), (_SERVERS,))
    yield ServerList("user", state, (_SERVERS,))
