"""Claude Code, where Keepmum is a plugin from a marketplace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from keepmum_installers.clients.claude import command_line, health, manifests, places, registration, repository
from keepmum_installers.clients.client import Scope, Wish
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan
from keepmum_installers.product import Product

__all__ = ["ClaudeCode"]


class ClaudeCode:
    """Claude Code on the command line."""

    title = "Claude Code"
    scopes: tuple[Scope, ...] = ("user", "project", "local")

    def manifests(self, product: Product) -> Mapping[str, object]:
        """The plugin's and the marketplace's manifest, the MCP servers and the hooks."""
        return manifests.render(product)

    def program(self, machine: Machine) -> str | None:
        """The path of `claude`."""
        return command_line.program(machine)

    def is_here(self, machine: Machine) -> bool:
        """Whether there is a `claude`."""
        return self.program(machine) is not None

    def folder(self, machine: Machine) -> str:
        """`~/.claude`, or where the user moved it."""
        return places.settings_folder(machine)

    def plan(self, wish: Wish, machine: Machine) -> Plan:
        """For the user: the client's commands. For a project: an edit of the repository's settings."""
        return registration.plan(wish, machine) if wish.scope == "user" else repository.plan(wish, machine)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:
        """The settings file of that scope."""
        return (places.settings_file(scope, machine),)

    def remains(self, machine: Machine) -> Iterable[str]:
        """What to do about a plugin that somebody else installed."""
        return registration.remains(machine)

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:
        """Client, interpreter, registration, switches and heartbeats."""
        return health.checks(machine, product)
