"""Where Codex keeps the MCP servers that a user has added.

Source: https://github.com/openai/codex/blob/main/docs/config.md, read 2026-11-21; and what version 0.169.0 reads.
"""

from __future__ import annotations

from collections.abc import Iterator

from keepmum_installers.clients.codex import places
from keepmum_installers.guard_entry import ServerList
from keepmum_installers.machine import Machine

__all__ = ["server_lists"]

_KEYS = ("mcp_servers",)


def server_lists(machine: Machine) -> Iterator[ServerList]:
    """The lists of servers that hold in the working folder: the project's, where it is trusted, and the user's."""
    yield ServerList("project", places.repository_file(machine), _KEYS)
    yield ServerList("user", places.config_file(machine), _KEYS)
