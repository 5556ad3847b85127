"""Where OpenCode keeps the MCP servers that a user has added.

Source: https://opencode.ai/docs/mcp-servers, read 2026-11-21; and runs of version 1.18.33.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from keepmum_installers.clients.opencode import OpenCode
from keepmum_installers.guard_entry import ServerList
from keepmum_installers.machine import Machine
from keepmum_installers.repository import repository

__all__ = ["server_lists"]

_KEYS = ("mcp",)


def server_lists(machine: Machine) -> Iterator[ServerList]:
    """The lists of servers that hold in the working folder: the project's and the user's."""
    for name in ("opencode.json", "opencode.jsonc"):
        yield ServerList("project", os.path.join(repository(machine), name), _KEYS)
        yield ServerList("user", os.path.join(OpenCode().folder(machine), name), _KEYS)
