"""Where Copilot CLI keeps the MCP servers that a user has added.

Source: https://docs.github.com/en/copilot/how-tos/copilot-cli, read 2026-11-21; and runs of version 1.0.102.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from keepmum_installers.clients.copilot import CopilotCli
from keepmum_installers.guard_entry import ServerList
from keepmum_installers.machine import Machine

__all__ = ["server_lists"]


def server_lists(machine: Machine) -> Iterator[ServerList]:
    """The user's list."""
    yield ServerList("user", os.path.join(CopilotCli().folder(machine), "mcp-config.json"), ("mcpServers",))
