"""What the installer asks of a client module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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


class Client(Protocol):
    """One coding agent that Keepmum can be installed in."""

    @property
    def title(self) -> str:
        """The client's name as its users write it."""

    def manifests(self, product: Product) -> Mapping[str, object]:
        """The JSON value of each file that the client reads from the bundle, by path below its root."""

    def program(self, machine: Machine) -> str | None:
        """The full path of the client's command; None when it is not on this machine."""

    def plan(self, wish: Wish, machine: Machine) -> Plan:
        """What has to be done so that the wish is met; no steps when it is.

        Raises: InstallError when it cannot be met.
        """

    def settings_file(self, scope: Scope, machine: Machine) -> str:
        """The client's settings file for that scope, in the repository around the working folder if it is not user."""

    def remains(self, machine: Machine) -> Iterable[str]:
        """What is still installed after everything of ours was undone, and how to take it out.

        Raises: InstallError when the client does not say.
        """

    def checks(self, machine: Machine, product: Product) -> Iterable[Finding]:
        """How Keepmum is doing in this client."""
