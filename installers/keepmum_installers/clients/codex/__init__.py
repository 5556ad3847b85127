"""Codex, where Keepmum is a plugin from a marketplace, with hooks that the user has to trust."""

from __future__ import annotations

from collections.abc import Sequence

from keepmum_installers.clients.client import Client, InstallSpec, Scope
from keepmum_installers.clients.codex import command_line, health, manifests, registration, repository, settings
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.plan import Plan

__all__ = ["Codex"]


class Codex(Client):
    """Codex on the command line, and the apps that share its settings."""

    title = "Codex"
    scopes: tuple[Scope, ...] = ("user", "project")
    manifests = staticmethod(manifests.render)
    program = staticmethod(command_line.program)
    folder = staticmethod(settings.folder)
    server_lists = staticmethod(settings.server_lists)
    remains = staticmethod(registration.remains)
    checks = staticmethod(health.checks)

    def call(self, arguments: Sequence[str], seconds: float, machine: Machine) -> Outcome | None:
        """As every client; without the folders that each start of it creates."""
        codex = self.program(machine)
        return None if codex is None else command_line.call(codex, arguments, seconds, machine)

    def is_here(self, machine: Machine) -> bool:
        """Whether there is a `codex`; its folder may be left from before."""
        return self.program(machine) is not None

    def plan(self, spec: InstallSpec, machine: Machine) -> Plan:
        """For the user: the client's commands. For a project: an edit of the repository's settings."""
        return registration.plan(spec, machine) if spec.scope == "user" else repository.plan(spec, machine)

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:
        """The repository's settings file."""
        return (settings.repository_file(machine),) if scope == "project" else ()
