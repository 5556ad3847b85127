"""Codex, where Keepmum is a plugin from a marketplace, with hooks that the user has to trust."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from keepmum_installers.clients.client import Client, InstallSpec, Scope, ServerList
from keepmum_installers.clients.codex import command_line, health, manifests, registration, repository, settings
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan
from keepmum_installers.product import Product

__all__ = ["Codex"]


class Codex(Client):
    """Codex on the command line, and the apps that share its settings."""

    title = "Codex"
    scopes: tuple[Scope, ...] = ("user", "project")

    def manifests(self, product: Product) -> Mapping[str, object]:
        """The manifests of plugin and marketplace, the MCP servers and the hooks."""
        return manifests.render(product)

    def program(self, machine: Machine) -> str | None:
        """The path of `codex`."""
        return command_line.program(machine)

    def is_here(self, machine: Machine) -> bool:
        """Whether there is a `codex`."""
        return self.program(machine) is not None

    def folder(self, machine: Machine) -> str:
        """`~/.codex`, or CODEX_HOME."""
        return settings.folder(machine)

    def server_lists(self, machine: Machine) -> Iterable[ServerList]:
        """The lists of the project and of the user."""
        return settings.server_lists(machine)

    def plan(self, spec: InstallSpec, machine: Machine) -> Plan:
        """For the user: the client's commands. For a project: an edit of the repository's settings."""
        return registration.plan(spec, machine) if spec.scope == "user" else repository.plan(spec, machine)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:
        """The repository's settings file."""
        return (settings.repository_file(machine),) if scope == "project" else ()

    def remains(self, machine: Machine) -> Iterable[str]:
        """How to remove a plugin that somebody else installed."""
        return registration.remains(machine)

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:
        """Client, plugin, trust of its hooks, and heartbeats."""
        return health.checks(machine, product)
