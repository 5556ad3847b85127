"""Cursor, where Keepmum is a plugin in the client's own folder, or from a marketplace.

Source, for its MCP servers: https://cursor.com/docs/context/mcp, read 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from keepmum_installers.clients.client import Client, InstallSpec, Scope, ServerList
from keepmum_installers.clients.cursor import health, local, manifests, repository
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan
from keepmum_installers.product import Product

__all__ = ["Cursor"]


class Cursor(Client):
    """Cursor, the editor, and its agent on the command line."""

    title = "Cursor"
    scopes: tuple[Scope, ...] = ("user", "project")

    def manifests(self, product: Product) -> Mapping[str, object]:
        """The manifests of plugin and marketplace, the MCP servers, the hooks and the rule."""
        return manifests.render(product)

    def program(self, machine: Machine) -> str | None:
        """The path of `cursor-agent` or `cursor`, which the installer does not run."""
        return machine.find("cursor-agent") or machine.find("cursor")

    def folder(self, machine: Machine) -> str:
        """`~/.cursor`."""
        return local.config_folder(machine)

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

    def remains(self, machine: Machine) -> Iterable[str]:
        """How to remove a plugin that was put there by hand."""
        return local.remains(machine)

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:
        """Plugin, interpreter and heartbeats."""
        return health.checks(machine, product)
