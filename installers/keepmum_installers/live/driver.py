"""What a live trial asks of a client: how it is installed into, how it is run, how it speaks with its model."""

from __future__ import annotations

from typing import Protocol

from keepmum_installers.live.model import Call, Wire
from keepmum_installers.live.stage import Stage
from keepmum_installers.machine import Machine

__all__ = ["Driver"]


class Driver(Protocol):
    """One client that can be run without a person."""

    @property
    def title(self) -> str:
        """The client's name as its users write it."""

    @property
    def wire(self) -> Wire:
        """How the client speaks with its model."""

    def program(self, machine: Machine) -> str | None:
        """The full path of the client's command; None when it is not on this machine."""

    def version(self, program: str, machine: Machine) -> str:
        """The client's version, as it says it; empty when it does not."""

    def install(self, program: str, stage: Stage) -> None:
        """Put the bundle into the client by the client's own commands.

        Raises: InstallError when a command fails.
        """

    def run(self, program: str, stage: Stage, model: str, prompt: str) -> str:
        """What the user would see of one unattended run with that prompt, against the model at that address.

        Raises: InstallError when the client does not come to an end.
        """

    def write(self, path: str, text: str) -> Call:
        """The call by which the client's model writes a file."""
