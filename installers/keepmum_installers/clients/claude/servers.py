"""Where Claude Code keeps the MCP servers that a user has added.

Source: https://code.claude.com/docs/en/mcp, read 2026-11-21; and what `claude mcp add` of 2.1.329 writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from keepmum_installers.guard_entry import ServerList
from keepmum_installers.machine import Machine
from keepmum_installers.repository import repository

__all__ = ["server_lists"]

_SERVERS = "mcpServers"


def server_lists(machine: Machine) -> Iterator[ServerList]:
    """The lists of servers that hold in the working folder, the weakest last: local, project, user."""
    own = _own_file(machine)
    folders = dict.fromkeys((machine.cwd, os.path.realpath(machine.cwd), repository(machine)))
    for folder in folders:
        yield ServerList("local", own, ("projects", folder, _SERVERS))
    yield ServerList("project", os.path.join(repository(machine), ".mcp.json"), (_SERVERS,))
    yield ServerList("user", own, (_SERVERS,))


def _own_file(machine: Machine) -> str:
    """The client's file of state, which lies beside its settings folder unless that was moved."""
    return os.path.join(machine.environ.get("CLAUDE_CONFIG_DIR") or machine.user_home, ".claude.json")
