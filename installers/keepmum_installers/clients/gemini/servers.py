"""Where Gemini CLI keeps the MCP servers that a user has added.

An address is one of the old transport there, and `httpUrl` one of the new; neither can be put behind the guard.

Source: https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md, read 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from keepmum_installers.clients.gemini import GeminiCli
from keepmum_installers.guard_entry import ServerList
from keepmum_installers.machine import Machine
from keepmum_installers.repository import repository

__all__ = ["server_lists"]

_KEYS = ("mcpServers",)


def server_lists(machine: Machine) -> Iterator[ServerList]:
    """The lists of servers that hold in the working folder: the project's and the user's."""
    yield ServerList("project", os.path.join(repository(machine), ".gemini", "settings.json"), _KEYS)
    yield ServerList("user", os.path.join(GeminiCli().folder(machine), "settings.json"), _KEYS)
