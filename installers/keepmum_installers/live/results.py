"""Runs live trials, keeps the last result of each client in Keepmum's state folder, and reports results as findings."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields

from keepmum_installers import files
from keepmum_installers.clients import CLIENTS
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, note, ok, problem
from keepmum_installers.live import DRIVERS
from keepmum_installers.live.trial import TrialResult, run_trial
from keepmum_installers.machine import Machine

__all__ = ["examine", "findings", "load", "save"]

_FILE = "live.json"
_AGAIN = "Run `keepmum doctor --live {name}` to see it again."
_WANTED: Mapping[str, tuple[str, str]] = {  # by field of the result: its name in reports, and the wanted verdict
    "briefing": ("the briefing", "reached the model"),
    "capture": ("the capture request", "reached the model"),
    "write": ("a secret for our memory", "refused"),
    "guard": ("a secret for a memory file", "refused"),
}


def examine(
    names: Sequence[str], root: str | None, machine: Machine, started: Callable[[str], object] = lambda _: None
) -> Iterator[Finding]:
    """The findings of a live trial of each named client, as each ends; of every client when none is named.

    `started` is called with the name of each client that is run, before it.

    Raises: InstallError when there is no bundle to install.
    """
    if root is None:
        raise InstallError(
            "a trial installs the bundle, and this Keepmum runs from a wheel", "Run it from a clone: installers/."
        )
    for name in names or CLIENTS:
        yield from _try(name, root, machine, started)


def load(machine: Machine) -> dict[str, TrialResult]:
    """The last result of each client, by its name; none when the file is damaged."""
    found: dict[str, TrialResult] = {}
    with contextlib.suppress(ValueError, TypeError, AttributeError, InstallError):
        for name, values in json.loads(files.read(machine.state(_FILE)) or b"{}").items():
            known = {field.name: values[field.name] for field in fields(TrialResult) if field.name in values}
            found[name] = TrialResult(**{**known, "tools": tuple(known.get("tools", ()))})
    return found


def save(name: str, result: TrialResult, machine: Machine) -> None:
    """Keep the result of a client in place of its last one.

    Raises: InstallError when it cannot be written.
    """
    results = {**load(machine), name: result}
    files.private_folder(machine.state())
    text = json.dumps({client: asdict(each) for client, each in sorted(results.items())}, indent=2)
    files.write(machine.state(_FILE), text.encode())


def findings(name: str, result: TrialResult) -> Iterator[Finding]:
    """One finding for a trial that passed, else one for each fault."""
    about = f"{name} live"
    when = f"with {result.client} {result.version or 'of an unknown version'} on {result.system}, {result.day}"
    if result.passed:
        parts = ", ".join(f"{what} {wanted}" for what, wanted in _WANTED.values())
        yield ok(about, f"{when}: {len(result.tools)} tools offered, {parts}")
        return
    for part, (what, wanted) in _WANTED.items():
        verdict = getattr(result, part)
        if verdict != wanted:
            yield problem(about, f"{when}: {what}: {verdict}", _AGAIN.format(name=name))
    if not result.offers_all:
        offered = ", ".join(result.tools) or "none"
        yield note(about, f"{when}: tools offered: {offered}", _AGAIN.format(name=name))


def _try(name: str, root: str, machine: Machine, started: Callable[[str], object]) -> Iterator[Finding]:
    about, client, driver = f"{name} live", CLIENTS[name], DRIVERS.get(name)
    if driver is None:
        yield note(about, "cannot be run unattended", "`keepmum doctor` says when its hooks ran last.")
        return
    program = client.program(machine)
    if program is None:
        yield note(about, f"{client.title} was not found on PATH, so nothing was tried")
        return
    started(name)
    try:
        result = run_trial(client.title, driver, program, root, machine)
    except InstallError as error:
        yield problem(about, str(error), error.next_step)
        return
    save(name, result, machine)
    yield from findings(name, result)
