"""Erases the data of a person or a project from a team's memory, and again after a restore of an older backup.

A journal in a file of its own says what was erased, by digests of the names: it outlives the database that a restore
replaces, and only the server's secret shows whose data it was.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from keepmum.core.audit_chain import ERASED
from keepmum.core.errors import InvalidInput, Unsupported
from keepmum.core.memory import Activity, Change, JsonValue, Memory
from keepmum.stores.base import Store
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.shared import SharedStore
from keepmum.stores.team import Entry, Erasure, Key, PeopleCheck, Person, another_admin_than, seal_all
from keepmum.stores.team_copy import pages

__all__ = ["Erasing", "Named", "open_journal", "read_journal"]

_ACTORS = ("created_by", "updated_by", "confirmed_by", "agent", "by", "user")
_EVERY_PROJECT = "*"  # in roles
_WITHOUT_NAME = "erased"  # where the audit log never had the name


class Named(NamedTuple):
    """Whose data is to be erased."""

    kind: str  # "person" or "project"
    name: str
    until: int | None = None  # later memories stay: another person may have the name by then


class Erasing:
    """Erases data in one team's memory."""

    def __init__(self, shared: SharedStore, secret: bytes, actor: str) -> None:
        """`secret` is the server's, under which names are digested; `actor` is named in the audit log."""
        self._shared = shared
        self._store: Store = shared.acting(Grant(ORGANISATION))
        self._key = hashlib.sha256(secret).digest()
        self._actor = actor

    def count(self, named: Named) -> dict[str, int]:
        """What `erase` would remove or change.

        Raises: InvalidInput as `erase`.
        """
        _check(named)
        people = self._people(named)
        for person in people:
            another_admin_than(person.id)(self._shared.records.people())
        own, others = self._concerned(named)
        return {"memories": len(own), "changed": len(others), "keys": self._keys(people)}

    def erase(self, named: Named) -> Erasure:
        """Remove the memories with all that belongs to them; elsewhere replace the name by a pseudonym.

        An erased project is also removed from the roles of people and from keys.

        Raises: InvalidInput when no admin of every project would be left, or the name is no project's: nothing was
        erased then. Unsupported, StoreError; the erasure may then be repeated.
        """
        _check(named)
        return self._erase(named, another_admin_than)

    def _erase(self, named: Named, check: Callable[[str], PeopleCheck | None]) -> Erasure:
        """Erase, unless what `check` makes of the id of a person refuses to remove them."""
        erasure = self._store.features.erasure
        if erasure is None:
            raise Unsupported("this store cannot erase")
        records, at = self._shared.records, time.time_ns() // 1_000_000
        people = self._people(named)
        keys = self._keys(people)
        for person in people:
            records.change_person(
                person.id,
                lambda found: found._replace(removed_at=found.removed_at or at, roles={}),
                Entry(at, self._actor, "person-removed", person.id),
                check(person.id),
            )
        own, others = self._concerned(named)
        entry = Entry(at, self._actor, f"{named.kind}-erased", people[-1].id if people else None)
        pseudonym = records.erase_names([named.name], entry).get(named.name, _WITHOUT_NAME)

        def redact(_: str | None, fields: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
            return _renamed(named, pseudonym, fields)

        changes = [Change(memory, None) for memory in own]
        changes += [Change(memory, _without_name(memory, named, pseudonym)) for memory in others]
        copies = erasure.cleanse(changes, [self._purge_of(memory, named, at) for memory in own], redact)
        for person in people:
            records.erase_person(person.id)
        if named.kind == "project":
            self._take_away_roles(named.name, at)
        receipt = {"memories": len(own), "changed": len(others), "keys": keys, "copies": len(copies)}
        done = Erasure(at, named.kind, self._digest(named.kind, named.name), receipt)
        records.add_erasure(done)
        return done

    def replay(self, erasures: Iterable[Erasure]) -> int:
        """Erase again what a restored database still has; returns how many erasures had something to do.

        Also who was the only admin at the time of the backup is erased: the operator can add another.
        """
        known = {(each.at, each.digest) for each in self._shared.records.erasures()}
        repeated = 0
        seal_all(self._shared.records)  # names are looked for in sealed rows, too
        for erasure in sorted(erasures, key=lambda each: each.at):
            if (erasure.at, erasure.digest) in known:
                continue
            for name in sorted(self._names(erasure.kind)):
                if self._digest(erasure.kind, name) == erasure.digest:
                    self._erase(Named(erasure.kind, name, erasure.at), lambda _: None)
                    repeated += 1
            self._shared.records.add_erasure(erasure)
        return repeated

    def _take_away_roles(self, project: str, at: int) -> None:
        """Remove a project from the roles of people and from keys; a key that was for it alone is withdrawn."""
        records = self._shared.records
        for person in records.people():
            if project in person.roles:
                records.change_person(person.id, _without_role(project), Entry(at, self._actor, "role-none", person.id))
        keys = records.keys()
        for key in keys:
            if project in (key.projects or ()):
                action = "key-withdrawn" if key.projects == (project,) else "key-limited"
                records.change_key(key.id, _limited(project, at), Entry(at, self._actor, action, key.id))

    def _purge_of(self, memory: Memory, named: Named, at: int) -> Activity:
        """The entry of the activity log about the removal of a memory, without the name of an erased project."""
        project = None if named.kind == "project" else memory.project
        return Activity(at=at, agent=self._actor, action="purged", memory=memory.id, project=project)

    def _digest(self, kind: str, name: str) -> str:
        text = f"{kind}:{name}".encode()
        return hashlib.blake2b(text, key=self._key, digest_size=32, person=b"erasure").hexdigest()

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
        return itertools.chain.from_iterable(pages(self._store))

    def _people(self, named: Named) -> list[Person]:
        """Who has or had the name, oldest first."""
        return [
            person
            for person in (self._shared.records.people() if named.kind == "person" else [])
            if person.name == named.name and (named.until is None or person.created_at <= named.until)
        ]

    def _keys(self, people: Iterable[Person]) -> int:
        """How many keys these people have."""
        return sum(len(self._shared.records.keys(person.id)) for person in people)

    def _names(self, kind: str) -> set[str]:
        """Every name of this kind in the database: also of projects without memories, and of who wrote none."""
        records, found = self._shared.records, set[str | None]()
        if kind == "project":
            found.update(memory.project for memory in self._memories())
            found.update(row.project.name for row in records.chain() if row.project is not None)
            keys = records.keys()
            found.update(*(person.roles for person in records.people()), *(key.projects or () for key in keys))
            found.discard(_EVERY_PROJECT)
        else:
            found.update(getattr(memory, name, None) for memory in self._memories() for name in _ACTORS)
            found.update(row.actor.name for row in records.chain())
            found.update(person.name for person in records.people())
        return {name for name in found if name and not name.startswith(ERASED)}


@contextlib.contextmanager
def open_journal(path: str) -> Iterator[Callable[[Erasure], None]]:
    """A function that adds an erasure to the journal, on disk when it returns; the file is open before.

    Raises: OSError.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:

        def add(erasure: Erasure) -> None:
            file.write(json.dumps({**erasure._asdict(), "receipt": dict(erasure.receipt)}) + "\n")
            file.flush()
            os.fsync(file.fileno())

        yield add


def read_journal(path: str) -> list[Erasure]:
    """The erasures in a journal; none without the file.

    Raises: OSError, ValueError when it is damaged.
    """
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [Erasure(**json.loads(line)) for line in file if line.strip()]


def _check(named: Named) -> None:
    """Check that a project is one, and not what stands for every project or for none.

    Raises: InvalidInput.
    """
    if named.kind == "project" and named.name in {"", _EVERY_PROJECT}:
        raise InvalidInput("project", "must be the id of one project")


def _without_role(project: str) -> Callable[[Person], Person]:
    """A change that takes away the role in a project."""

    def change(found: Person) -> Person:
        return found._replace(roles={name: role for name, role in found.roles.items() if name != project})

    return change


def _limited(project: str, at: int) -> Callable[[Key], Key]:
    """A change after which a key does not count in a project."""

    def change(found: Key) -> Key:
        left = tuple(name for name in found.projects or () if name != project)
        return found._replace(projects=left, withdrawn_at=found.withdrawn_at or (None if left else at))

    return change


def _without_name(memory: Memory, named: Named, pseudonym: str) -> Memory:
    renamed = {name: pseudonym for name in _ACTORS if getattr(memory, name, None) == named.name}
    return replace(memory, **renamed, revision=memory.revision + 1)  # type: ignore[arg-type]  # all of them are text


def _renamed(named: Named, pseudonym: str, fields: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Fields of a row of the past, with the pseudonym for the name."""
    names = ("project",) if named.kind == "project" else _ACTORS
    return {name: pseudonym if name in names and value == named.name else value for name, value in fields.items()}
