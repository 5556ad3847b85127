"""Where Claude Desktop keeps the MCP servers that a user has added.

Source: https://modelcontextprotocol.io/docs/develop/connect-local-servers, read 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from keepmum_installers.clients.claude_desktop import ClaudeDesktop
from keepmum_installers.guard_entry import ServerList
from keepmum_installers.machine import Machine

__all__ = ["server_lists"]


def server_lists(machine: Machine) -> Iterator[ServerList]:
    """The user's list, which is the only one."""
    yield ServerList(
        "user", os.path.join(ClaudeDesktop().folder(machine), "claude_desktop_config.json"), ("mcpServers",)
    )
