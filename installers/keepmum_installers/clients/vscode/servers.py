"""Where Visual Studio Code keeps the MCP servers that a user has added.

Source: https://code.visualstudio.com/docs/copilot/reference/mcp-configuration, read 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from keepmum_installers.clients.vscode import VisualStudioCode
from keepmum_installers.guard_entry import ServerList
from keepmum_installers.machine import Machine
from keepmum_installers.repository import repository

__all__ = ["server_lists"]

_KEYS = ("servers",)


def server_lists(machine: Machine) -> Iterator[ServerList]:
    """The lists of servers that hold in the working folder: the project's and the user's."""
    for_team = os.path.join(repository(machine), ".vscode", "mcp.json")
    yield ServerList("project", for_team, _KEYS, url_is_http=True)
    yield ServerList("user", os.path.join(VisualStudioCode().folder(machine), "mcp.json"), _KEYS, url_is_http=True)
