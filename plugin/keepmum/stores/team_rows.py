"""People, keys and sessions as rows, in both engines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from keepmum.stores.team import Key, Person, Session

__all__ = ["KEYS", "PEOPLE", "SESSIONS", "key_of", "key_row", "person_of", "person_row", "session_of", "session_row"]

PEOPLE = Person._fields
KEYS = Key._fields
SESSIONS = Session._fields
_PROJECTS = KEYS.index("projects")


def person_of(row: Sequence[Any]) -> Person:
    """The person in a row with the columns `PEOPLE`."""
    person = Person._make(row)
    return person._replace(roles=json.loads(row[PEOPLE.index("roles")]))


def person_row(person: Person) -> list[str | int | None]:
    """The values of the columns `PEOPLE`."""
    return [json.dumps(dict(value)) if name == "roles" else value for name, value in person._asdict().items()]


def key_of(row: Sequence[Any]) -> Key:
    """The key in a row with the columns `KEYS`."""
    listed = row[_PROJECTS]
    return Key._make(row)._replace(projects=None if listed is None else tuple(json.loads(listed)))


def key_row(key: Key) -> list[str | int | bytes | None]:
    """The values of the columns `KEYS`."""
    row: list[Any] = list(key)
    row[_PROJECTS] = None if key.projects is None else json.dumps(key.projects)
    return row


def session_of(row: Sequence[Any]) -> Session:
    """The session in a row with the columns `SESSIONS`."""
    session = Session._make(row)
    return session._replace(roles=json.loads(row[SESSIONS.index("roles")]))


def session_row(session: Session) -> list[str | int | bytes]:
    """The values of the columns `SESSIONS`."""
    return [json.dumps(dict(value)) if name == "roles" else value for name, value in session._asdict().items()]
