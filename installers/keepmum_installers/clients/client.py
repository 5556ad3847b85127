"""The interface between the installer and one client."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine, Outcome
from keepmum_installers.plan import Plan
from keepmum_installers.product import Product
from keepmum_installers.source import Source, parse_source

__all__ = ["Client", "InstallSpec", "Scope", "ServerList"]

Scope = Literal["user", "project", "local"]


@dataclass(frozen=True, slots=True)
class InstallSpec:
    """What the user wants installed, and from where."""

    product: Product
    root: str | None
    """The folder under which clients run the code; None when the plugin is not on this machine."""
    scope: Scope = "user"
    source: str | None = None
    """A folder, `owner/repository` or a git address; None leaves the choice to the client module."""
    shared_key: str | None = field(default=None, repr=False)
    """The value of the variable for a shared key; never shown."""

    def shared_source(self, cwd: str) -> Source:
        """The named source, else the public repository.

        Raises: InstallError when the named source is not valid.
        """
        return parse_source(self.source, cwd) if self.source else Source("github", self.product.repository)

    def bundle(self, cwd: str) -> str | None:
        """The folder of the bundle: the named source, else `root`; None when the source is not a folder.

        Raises: InstallError when the named source is not valid, or the folder has no bundle.
        """
        if not self.source:
            return self.root
        source = parse_source(self.source, cwd)
        return source.where if source.kind == "directory" else None


@dataclass(frozen=True, slots=True)
class ServerList:
    """A list of MCP servers in a client's settings."""

    scope: Scope
    path: str
    keys: tuple[str, ...]
    """Where the list is in the file."""
    url_is_http: bool = False
    """Whether an address without a type means Streamable HTTP, as in some clients."""


class Client(Protocol):
    """One coding agent that Keepmum can be installed in; the clients inherit what is given here."""

    title: str
    """The client's name as its users write it."""
    scopes: tuple[Scope, ...] = ("user",)
    """The scopes that it can be installed for."""
    commands: tuple[str, ...] = ()
    """The names of its command; the first one on PATH counts."""
    team_command: str = "keepmum"
    """How files of a repository name the command, which is at another path on each machine."""
    comments: bool = False
    """Whether it reads settings with comments and trailing commas."""

    def manifests(self, product: Product) -> Mapping[str, object]:  # noqa: ARG002 - for those with manifests
        """Each file that the client reads from the bundle, by path below its root: a JSON value, or plain text."""
        return {}

    def program(self, machine: Machine) -> str | None:
        """The full path of the client's command; None when it is not on this machine."""
        return next(filter(None, map(machine.find, self.commands)), None)

    def call(self, arguments: Sequence[str], seconds: float, machine: Machine) -> Outcome | None:
        """The outcome of the client's command with these arguments; None when there is no such command."""
        program = self.program(machine)
        return None if program is None else machine.run((program, *arguments), seconds)

    def is_here(self, machine: Machine) -> bool:
        """Whether the client has a settings folder or a command on this machine."""
        return os.path.isdir(self.folder(machine)) or self.program(machine) is not None

    def folder(self, machine: Machine) -> str:
        """The folder in which the client keeps this user's settings."""

    def server_lists(self, machine: Machine) -> Iterable[ServerList]:
        """The lists of MCP servers that apply in the working folder and that a user edits; plugins have their own."""

    def plan(self, spec: InstallSpec, machine: Machine) -> Plan:
        """The steps that fulfil the spec; none when it is fulfilled.

        Raises: InstallError when the client is missing or too old, or its files cannot be edited.
        """

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:  # noqa: ARG002 - as above
        """The files that `plan` writes in the repository around the working folder, for a scope other than user.

        Files that several clients share are not among them: see `keepmum_installers.team`.
        """
        return ()

    def remains(self, machine: Machine) -> Iterable[str]:  # noqa: ARG002 - as above
        """After uninstalling: what is still installed, and how to remove it, in lines for the user.

        Raises: InstallError when the client does not answer.
        """
        return ()

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:
        """The findings of the doctor about this client."""
