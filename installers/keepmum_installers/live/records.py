"""What live trials showed, kept so that the doctor can tell it later: one JSON file in Keepmum's state folder."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields

from keepmum_installers import files
from keepmum_installers.errors import InstallError
from keepmum_installers.finding import Finding, note, ok, problem
from keepmum_installers.live.trial import Proof
from keepmum_installers.machine import Machine

__all__ = ["findings", "keep", "kept"]

_FILE = "live.json"
_AGAIN = "Run `keepmum doctor --live {name}` to see it again."
_WANTED: Mapping[str, tuple[str, str]] = {  # what it is called, and how it should end
    "briefing": ("the briefing", "reached the model"),
    "capture": ("the capture request", "reached the model"),
    "write": ("a secret for our memory", "refused"),
    "guard": ("a secret for a memory file", "refused"),
}


def kept(machine: Machine) -> dict[str, Proof]:
    """The last proof of each client, by its name; a file that is damaged holds none."""
    found: dict[str, Proof] = {}
    with contextlib.suppress(ValueError, TypeError, AttributeError, InstallError):
        for name, values in json.loads(files.read(machine.state(_FILE)) or b"{}").items():
            known = {field.name: values[field.name] for field in fields(Proof) if field.name in values}
            found[name] = Proof(**{**known, "tools": tuple(known.get("tools", ()))})
    return found


def keep(name: str, proof: Proof, machine: Machine) -> None:
    """Note the proof of a client in the place of its last one.

    Raises: InstallError when it cannot be written.
    """
    proofs = {**kept(machine), name: proof}
    files.private_folder(machine.state())
    text = json.dumps({client: asdict(one) for client, one in sorted(proofs.items())}, indent=2)
    files.write(machine.state(_FILE), text.encode())


def findings(name: str, proof: Proof) -> Iterator[Finding]:
    """What a proof shows: one line when all is well, else one for each thing that is not."""
    about = f"{name} live"
    when = f"with {proof.client} {proof.version or 'of an unknown version'} on {proof.system}, {proof.day}"
    if proof.holds:
        parts = ", ".join(f"{what} {wanted}" for what, wanted in _WANTED.values())
        yield ok(about, f"{when}: {len(proof.tools)} tools offered, {parts}")
        return
    for part, (what, wanted) in _WANTED.items():
        verdict = getattr(proof, part)
        if verdict != wanted:
            yield problem(about, f"{when}: {what}: {verdict}", _AGAIN.format(name=name))
    if not proof.offers_all:
        offered = ", ".join(proof.tools) or "none"
        yield note(about, f"{when}: tools offered: {offered}", _AGAIN.format(name=name))
