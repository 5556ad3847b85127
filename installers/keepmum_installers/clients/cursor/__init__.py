"""Cursor, where Keepmum is a plugin in the client's own folder, or from a marketplace."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from keepmum_installers.clients.client import Scope, Wish
from keepmum_installers.clients.cursor import health, local, manifests, places, repository
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan
from keepmum_installers.product import Product

__all__ = ["Cursor"]


class Cursor:
    """Cursor, the editor, and its agent on the command line."""

    title = "Cursor"
    scopes: tuple[Scope, ...] = ("user", "project")

    def manifests(self, product: Product) -> Mapping[str, object]:
        """The plugin's and the marketplace's manifest, the MCP servers, the hooks and the rule."""
        return manifests.render(product)

    def program(self, machine: Machine) -> str | None:
        """The path of `cursor-agent` or `cursor`; nothing of ours calls it."""
        return machine.find("cursor-agent") or machine.find("cursor")

    def is_here(self, machine: Machine) -> bool:
        """Whether the client has a folder here, or a command."""
        return os.path.isdir(places.config_folder(machine)) or self.program(machine) is not None

    def folder(self, machine: Machine) -> str:
        """`~/.cursor`."""
        return places.config_folder(machine)

    def plan(self, wish: Wish, machine: Machine) -> Plan:
        """For the user: the plugin in the client's own folder. For a project: files of the repository."""
        return local.plan(wish, machine) if wish.scope == "user" else repository.plan(machine)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:
        """Servers, hooks and rule; none for you alone."""
        return repository.files(machine) if scope == "project" else ()

    def remains(self, machine: Machine) -> Iterable[str]:
        """What to do about a plugin that somebody put there by hand."""
        return local.remains(machine)

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:
        """Plugin, interpreter and heartbeats."""
        return health.checks(machine, product)
