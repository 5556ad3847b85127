"""Erases the data of a person or a project from a team's memory, and again after a restore of an older backup.

A journal in a file of its own says what was erased, by digests of the names: it outlives the database that a restore
replaces, and tells nobody who has not the server's secret whose data it was.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from keepmum.core.audit_chain import ERASED
from keepmum.core.errors import Unsupported
from keepmum.core.memory import Activity, Change, JsonValue, Memory
from keepmum.stores.base import Store
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.shared import SharedStore
from keepmum.stores.team import Entry, Erasure, Person

__all__ = ["Erasing", "Named", "append_journal", "read_journal"]

_PAGE = 500  # memories
_LAST = "~"  # above every id
_ACTORS = ("created_by", "updated_by", "confirmed_by", "agent", "by", "user")
_WITHOUT_NAME = "erased"  # where the audit log never had the name


class Named(NamedTuple):
    """Whose data is to be erased."""

    kind: str  # "person" or "project"
    name: str
    until: int | None = None  # what was made later stays, since the name may have been given again


class Erasing:
    """Erases data in one team's memory."""

    def __init__(self, shared: SharedStore, digest: Callable[[str], str], actor: str) -> None:
        """`digest` makes the digest of a name under the server's secret; `actor` is named in the audit log."""
        self._shared = shared
        self._store: Store = shared.acting(Grant(ORGANISATION))
        self._digest = digest
        self._actor = actor

    def count(self, named: Named) -> dict[str, int]:
        """What `erase` would remove or change."""
        own, others = self._concerned(named)
        person = self._person(named)
        keys = 0 if person is None else len(self._shared.records.keys(person.id))
        return {"memories": len(own), "changed": len(others), "keys": keys}

    def erase(self, named: Named) -> Erasure:
        """Remove the memories with all that belongs to them; elsewhere replace the name by a pseudonym.

        Raises: Unsupported, StoreError; the erasure may then be repeated.
        """
        erasure = self._store.features.erasure
        if erasure is None:
            raise Unsupported("this store cannot erase")
        records, at = self._shared.records, time.time_ns() // 1_000_000
        own, others = self._concerned(named)
        person = self._person(named)
        keys = 0 if person is None else len(records.keys(person.id))
        entry = Entry(at, self._actor, f"{named.kind}-erased", None if person is None else person.id)
        pseudonym = records.erase_names([named.name], entry).get(named.name, _WITHOUT_NAME)

        def redact(_: str | None, fields: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
            return _renamed(named, pseudonym, fields)

        changes = [Change(memory, None) for memory in own]
        changes += [Change(memory, _without_name(memory, named, pseudonym)) for memory in others]
        activity = [
            Activity(
                at=at, agent=self._actor, action="purged", memory=memory.id,
                project=None if named.kind == "project" else memory.project,
            )
            for memory in own
        ]  # fmt: skip
        copies = erasure.cleanse(changes, activity, redact)
        if person is not None:
            records.change_person(
                person.id,
                lambda found: found._replace(removed_at=found.removed_at or at, roles={}),
                Entry(at, self._actor, "person-removed", person.id),
            )
            records.erase_person(person.id)
        receipt = {"memories": len(own), "changed": len(others), "keys": keys, "copies": len(copies)}
        done = Erasure(at, named.kind, self._digest(f"{named.kind}:{named.name}"), receipt)
        records.add_erasure(done)
        return done

    def replay(self, erasures: Iterable[Erasure]) -> int:
        """Erase again what a restored database still has; returns how many erasures had something to do."""
        known = {(each.at, each.digest) for each in self._shared.records.erasures()}
        repeated = 0
        for erasure in sorted(erasures, key=lambda each: each.at):
            if (erasure.at, erasure.digest) in known:
                continue
            for name in sorted(self._names(erasure.kind)):
                if self._digest(f"{erasure.kind}:{name}") == erasure.digest:
                    self.erase(Named(erasure.kind, name, erasure.at))
                    repeated += 1
            self._shared.records.add_erasure(erasure)
        return repeated

    def _concerned(self, named: Named) -> tuple[list[Memory], list[Memory]]:
        """The memories to remove, and others that only mention the name as that of an actor."""
        own, others = [], []
        for memory in self._memories():
            if named.until is not None and memory.created_at > named.until:
                continue
            if named.kind == "project":
                if memory.project == named.name:
                    own.append(memory)
            elif named.name in {memory.created_by, memory.user}:
                own.append(memory)
            elif any(getattr(memory, name, None) == named.name for name in _ACTORS):
                others.append(memory)
        return own, others

    def _memories(self) -> Iterator[Memory]:
        first = ""
        while page := self._store.between(first, _LAST, _PAGE):
            yield from page
            first = page[-1].id + " "

    def _person(self, named: Named) -> Person | None:
        people = self._shared.records.people() if named.kind == "person" else []
        return next(
            (
                person
                for person in people
                if person.name == named.name and (named.until is None or person.created_at <= named.until)
            ),
            None,
        )

    def _names(self, kind: str) -> set[str]:
        """Every name of this kind in the database."""
        if kind == "project":
            return {memory.project for memory in self._memories() if memory.project}
        people = {person.name for person in self._shared.records.people()}
        for memory in self._memories():
            people |= {str(value) for name in _ACTORS if (value := getattr(memory, name, None))}
        return {name for name in people if not name.startswith(ERASED)}


def append_journal(path: str, erasure: Erasure) -> None:
    """Add an erasure to the journal, on disk before this returns.

    Raises: OSError.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps({**erasure._asdict(), "receipt": dict(erasure.receipt)}) + "\n")
        file.flush()
        os.fsync(file.fileno())


def read_journal(path: str) -> list[Erasure]:
    """The erasures in a journal; none without the file.

    Raises: OSError, ValueError when it is damaged.
    """
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [Erasure(**json.loads(line)) for line in file if line.strip()]


def _without_name(memory: Memory, named: Named, pseudonym: str) -> Memory:
    renamed = {name: pseudonym for name in _ACTORS if getattr(memory, name, None) == named.name}
    return replace(memory, **renamed, revision=memory.revision + 1)  # type: ignore[arg-type]  # all of them are text


def _renamed(named: Named, pseudonym: str, fields: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Fields of a row of the past, with the pseudonym for the name."""
    names = ("project",) if named.kind == "project" else _ACTORS
    return {name: pseudonym if name in names and value == named.name else value for name, value in fields.items()}
