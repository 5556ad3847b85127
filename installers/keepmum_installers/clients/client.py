"""What the installer asks of a client module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from keepmum_installers.finding import Finding
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Plan
from keepmum_installers.product import Product

__all__ = ["Client", "Scope", "Wish"]

Scope = Literal["user", "project", "local"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user wants installed, and from where."""

    product: Product
    root: str | None
    """The folder of the bundle that the installer runs from, if it runs from one."""
    scope: Scope = "user"
    source: str | None = None
    """A folder, `owner/repository` or a git address; None leaves it to the client module."""
    shared_key: str | None = field(default=None, repr=False)
    """What a client that shares a key is to set the variable of it to; never to be shown."""


class Client(Protocol):
    """One coding agent that Keepmum can be installed in."""

    @property
    def title(self) -> str:
        """The client's name as its users write it."""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Whom it can be installed for."""

    def manifests(self, product: Product) -> Mapping[str, object]:
        """Each file that the client reads from the bundle, by path below its root: a JSON value, or text as it is."""

    def program(self, machine: Machine) -> str | None:
        """The full path of the client's command; None when it is not on this machine."""

    def is_here(self, machine: Machine) -> bool:
        """Whether somebody uses the client on this machine; an app may have no command."""

    def folder(self, machine: Machine) -> str:
        """The folder of everything that the client keeps for this user."""

    def plan(self, wish: Wish, machine: Machine) -> Plan:
        """What has to be done so that the wish is met; no steps when it is.

        Raises: InstallError when it cannot be met: the client is missing, too old, or its files cannot be edited.
        """

    def repository_files(self, scope: Scope, machine: Machine) -> tuple[str, ...]:
        """The files that `plan` writes for that scope, which is not user, in the repository around the working folder.

        What several clients share is not among them: see `keepmum_installers.team`.
        """

    def remains(self, machine: Machine) -> Iterable[str]:
        """What is still installed after everything of ours was undone, and how to take it out.

        Raises: InstallError when the client does not say.
        """

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:
        """How Keepmum is doing in this client."""
