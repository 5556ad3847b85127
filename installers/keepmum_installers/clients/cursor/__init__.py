"""Cursor, where Keepmum is a plugin in the client's own folder, or from a marketplace.

Source, for its MCP servers: https://cursor.com/docs/context/mcp, read 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from keepmum_installers.clients.client import Client, InstallSpec, Scope, ServerList
from keepmum_installers.clients.cursor import health, local, manifests, repository
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan
from keepmum_installers.shell_command import TEAM_COMMAND

__all__ = ["Cursor"]


class Cursor(Client):
    """Cursor, the editor, and its agent on the command line."""

    title = "Cursor"
    scopes: tuple[Scope, ...] = ("user", "project")
    commands = ("cursor-agent", "cursor")
    team_command = TEAM_COMMAND
    comments = True
    manifests = staticmethod(manifests.render)
    folder = staticmethod(local.config_folder)
    remains = staticmethod(local.remains)
    checks = staticmethod(health.checks)

    def server_lists(self, machine: Machine) -> Iterable[ServerList]:
        """The lists of the project and of the user."""
        for_team, *_ = repository.files(machine)
        yield ServerList("project", for_team, ("mcpServers",), url_is_http=True)
        yield ServerList("user", os.path.join(self.folder(machine), "mcp.json"), ("mcpServers",), url_is_http=True)

    def plan(self, spec: InstallSpec, machine: Machine) -> Plan:
        """For the user: the plugin in the client's own folder. For a project: files of the repository."""
        return local.plan(spec, machine) if spec.scope == "user" else repository.plan(machine)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:
        """Servers, hooks and rule."""
        return repository.files(machine) if scope == "project" else ()
