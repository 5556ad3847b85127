"""The hash chain of the audit log: each row's hash covers its fields and the hash of the row before.

A row refers to names by digests, so that a name can be erased and the chain stays valid: the digest of a name covers a
random salt, which is removed with the name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import NamedTuple

from keepmum.core.errors import InvalidInput

__all__ = [
    "EMPTY",
    "ERASED",
    "Head",
    "Link",
    "Name",
    "Pending",
    "Sealed",
    "Verdict",
    "link",
    "name_digest",
    "read_head",
    "verify",
]

ERASED = "erased-"  # and the number of the name
_HASH = 64  # hexadecimal digits


class Head(NamedTuple):
    """The last sealed row. A copy of it elsewhere shows later whether the log was cut off before it."""

    number: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.number}:{self.hash.hex()}"


EMPTY = Head(0, bytes(32))


class Name(NamedTuple):
    """A name that audit rows refer to."""

    number: int
    name: str
    salt: bytes | None  # None when the name was erased
    digest: bytes

    @property
    def is_genuine(self) -> bool:
        """Whether this is the name that was sealed, or one that was erased."""
        if self.salt is None:
            return self.name == f"{ERASED}{self.number}"
        return name_digest(self.salt, self.name) == self.digest


class Sealed(NamedTuple):
    """A sealed row with its names."""

    number: int
    at: int
    actor: Name
    action: str
    subject: str | None
    project: Name | None
    hash: bytes


class Pending(NamedTuple):
    """A row that is not sealed yet, with its names."""

    at: int
    actor: Name
    action: str
    subject: str | None
    project: Name | None


class Verdict(NamedTuple):
    """What the check of a chain found."""

    head: Head  # of what is intact
    problem: str = ""  # with its place; empty when the chain is intact


def name_digest(salt: bytes, name: str) -> bytes:
    """The digest under which rows refer to a name."""
    return hashlib.sha256(salt + name.encode()).digest()


class Link(NamedTuple):
    """What the hash of a row covers in addition to the row before."""

    at: int
    actor: bytes  # digest of a name
    action: str
    subject: str | None
    project: bytes | None  # digest of a name


def link(before: Head, row: Link) -> Head:
    """The head after one more row."""
    number = before.number + 1
    project = None if row.project is None else row.project.hex()
    fields = (number, row.at, row.actor.hex(), row.action, row.subject, project)
    text = json.dumps(fields, ensure_ascii=False)  # as `json_build_array` in PostgreSQL
    return Head(number, hashlib.sha256(before.hash + text.encode()).digest())


def read_head(text: str) -> Head:
    """A head from its text, as logs and metrics show it.

    Raises: InvalidInput.
    """
    number, _, digits = text.strip().partition(":")
    if not (number.isdecimal() and len(digits) == _HASH and set(digits) <= set("0123456789abcdef")):
        raise InvalidInput("head", "is not a number, a colon and 64 hexadecimal digits")
    return Head(int(number), bytes.fromhex(digits))


def verify(rows: Iterable[Sealed], kept: Head | None = None) -> Verdict:
    """Check a chain from its first row, and that it has the row that `kept` names.

    The problem names the first row at which the chain is broken: rows after it are not judged.
    """
    head = EMPTY
    for row in rows:
        if row.number != head.number + 1:
            missing = (
                f"{head.number + 1}" if row.number == head.number + 2 else f"{head.number + 1} to {row.number - 1}"
            )
            return Verdict(head, f"audit row {missing} is missing")
        project = None if row.project is None else row.project.digest
        after = link(head, Link(row.at, row.actor.digest, row.action, row.subject, project))
        if after.hash != row.hash:
            return Verdict(head, f"audit row {row.number} was changed, or is not in its place")
        for name in (row.actor, row.project):
            if name is not None and not name.is_genuine:
                return Verdict(head, f"a name in audit row {row.number} was changed")
        head = after
        if kept is not None and kept.number == head.number and kept.hash != head.hash:
            return Verdict(head, f"audit row {head.number} is not the one that was sealed under this number")
    if kept is not None and kept.number > head.number:
        return Verdict(head, f"audit rows {head.number + 1} to {kept.number} are missing at the end")
    return Verdict(head)
