"""Claude Code, where Keepmum is a plugin from a marketplace."""

from __future__ import annotations

from collections.abc import Sequence

from keepmum_installers.clients.claude import command_line, health, manifests, registration, repository, settings
from keepmum_installers.clients.client import Client, InstallSpec, Scope
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.plan import Plan

__all__ = ["ClaudeCode"]


class ClaudeCode(Client):
    """Claude Code on the command line."""

    title = "Claude Code"
    scopes: tuple[Scope, ...] = ("user", "project", "local")
    manifests = staticmethod(manifests.render)
    program = staticmethod(command_line.program)
    folder = staticmethod(settings.settings_folder)
    server_lists = staticmethod(settings.server_lists)
    remains = staticmethod(registration.remains)
    checks = staticmethod(health.checks)

    def call(self, arguments: Sequence[str], seconds: float, machine: Machine) -> Outcome | None:
        """As every client; without a trace in the client's own state."""
        claude = self.program(machine)
        return None if claude is None else command_line.call(claude, arguments, seconds, machine)

    def is_here(self, machine: Machine) -> bool:
        """Whether there is a `claude`; its folder may be left from before."""
        return self.program(machine) is not None

    def plan(self, spec: InstallSpec, machine: Machine) -> Plan:
        """For the user: the client's commands. For a project: an edit of the repository's settings."""
        return registration.plan(spec, machine) if spec.scope == "user" else repository.plan(spec, machine)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:
        """The settings file of that scope."""
        return (settings.settings_file(scope, machine),)
