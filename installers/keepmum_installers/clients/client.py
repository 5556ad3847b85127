"""The interface between the installer and one client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan
from keepmum_installers.product import Product

__all__ = ["Client", "InstallSpec", "Scope", "ServerList"]

Scope = Literal["user", "project", "local"]


@dataclass(frozen=True, slots=True)
class InstallSpec:
    """What the user wants installed, and from where."""

    product: Product
    root: str | None
    """The folder of the bundle that the installer runs from; None when it runs from a wheel."""
    scope: Scope = "user"
    source: str | None = None
    """A folder, `owner/repository` or a git address; None leaves the choice to the client module."""
    shared_key: str | None = field(default=None, repr=False)
    """The value of the variable for a shared key; never shown."""


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
    """One coding agent that Keepmum can be installed in."""

    @property
    def title(self) -> str:
        """The client's name as its users write it."""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes that it can be installed for."""

    def manifests(self, product: Product) -> Mapping[str, object]:
        """Each file that the client reads from the bundle, by path below its root: a JSON value, or plain text."""

    def program(self, machine: Machine) -> str | None:
        """The full path of the client's command; None when it is not on this machine."""

    def is_here(self, machine: Machine) -> bool:
        """Whether the client is used on this machine; an app may have no command."""

    def folder(self, machine: Machine) -> str:
        """The folder in which the client keeps this user's settings."""

    def server_lists(self, machine: Machine) -> Iterable[ServerList]:
        """The lists of MCP servers that apply in the working folder and that a user edits; plugins have their own."""

    def plan(self, spec: InstallSpec, machine: Machine) -> Plan:
        """The steps that fulfil the spec; none when it is fulfilled.

        Raises: InstallError when the client is missing or too old, or its files cannot be edited.
        """

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:
        """The files that `plan` writes in the repository around the working folder, for a scope other than user.

        Files that several clients share are not among them: see `keepmum_installers.team`.
        """

    def remains(self, machine: Machine) -> Iterable[str]:
        """After uninstalling: what is still installed, and how to remove it, in lines for the user.

        Raises: InstallError when the client does not answer.
        """

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:
        """The findings of the doctor about this client."""
