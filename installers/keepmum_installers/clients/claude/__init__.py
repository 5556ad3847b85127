"""Claude Code, where Keepmum is a plugin from a marketplace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from keepmum_installers.clients.claude import command_line, health, manifests, registration, repository, settings
from keepmum_installers.clients.client import Client, InstallSpec, Scope, ServerList
from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan
from keepmum_installers.product import Product

__all__ = ["ClaudeCode"]


class ClaudeCode(Client):
    """Claude Code on the command line."""

    title = "Claude Code"
    scopes: tuple[Scope, ...] = ("user", "project", "local")

    def manifests(self, product: Product) -> Mapping[str, object]:
        """The manifests of plugin and marketplace, the MCP servers and the hooks."""
        return manifests.render(product)

    def program(self, machine: Machine) -> str | None:
        """The path of `claude`."""
        return command_line.program(machine)

    def is_here(self, machine: Machine) -> bool:
        """Whether there is a `claude`."""
        return self.program(machine) is not None

    def folder(self, machine: Machine) -> str:
        """`~/.claude`, or CLAUDE_CONFIG_DIR."""
        return settings.settings_folder(machine)

    def server_lists(self, machine: Machine) -> Iterable[ServerList]:
        """The lists of this folder, of the project and of the user."""
        return settings.server_lists(machine)

    def plan(self, spec: InstallSpec, machine: Machine) -> Plan:
        """For the user: the client's commands. For a project: an edit of the repository's settings."""
        return registration.plan(spec, machine) if spec.scope == "user" else repository.plan(spec, machine)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:
        """The settings file of that scope."""
        return (settings.settings_file(scope, machine),)

    def remains(self, machine: Machine) -> Iterable[str]:
        """A plugin that somebody else installed."""
        return registration.remains(machine)

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:
        """Client, interpreter, registration, switches and heartbeats."""
        return health.checks(machine, product)
