"""`keepmum doctor --live`: a trial of each client that can be run here, told line by line and kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keepmum_installers.clients import CLIENTS
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, note, problem
from keepmum_installers.live import DRIVERS, records
from keepmum_installers.live.trial import prove
from keepmum_installers.machine import Machine

__all__ = ["examine"]


def examine(names: Sequence[str], root: str | None, machine: Machine) -> Iterator[Finding]:
    """What the trials of these clients show, each as it ends; of every client when none is named.

    Raises: InstallError when there is no bundle to try.
    """
    if root is None:
        raise InstallError(
            "a trial installs the bundle, and this Keepmum runs from a wheel", "Run it from a clone: installers/."
        )
    for name in names or CLIENTS:
        yield from _tried(name, root, machine)


def _tried(name: str, root: str, machine: Machine) -> Iterator[Finding]:
    about = f"{name} live"
    driver = DRIVERS.get(name)
    if driver is None:
        yield note(about, "cannot be run without a person", "`keepmum doctor` says when its hooks ran last.")
        return
    program = driver.program(machine)
    if program is None:
        yield note(about, f"{driver.title} was not found on PATH, so that nothing was tried")
        return
    try:
        proof = prove(driver, program, root, machine)
    except InstallError as error:
        yield problem(about, str(error), error.next_step)
        return
    records.keep(name, proof, machine)
    yield from records.findings(name, proof)
