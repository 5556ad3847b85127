"""What an administrator does with people and keys; the command line and the API offer the same."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from keepmum.core.audit_chain import ERASED
from keepmum.core.errors import InvalidInput, NotFound, SecretFound
from keepmum.core.retention import DAY_MS
from keepmum.core.validation import Scan
from keepmum.server.people.keys import digest_of, is_valid, make_key
from keepmum.server.people.roles import EVERY_PROJECT, ROLES, Role
from keepmum.service.team import Entry, Key, Person, TeamRecords, another_admin_than

__all__ = ["KEY_DAYS", "OF_PROVIDER", "OVERLAP_DAYS", "Administration", "NewKey"]

KEY_DAYS = 365  # until a key expires, unless another time is named
OVERLAP_DAYS = 7  # in which a rotated key still counts
_MOST_DAYS = 3_650
_MOST_RENEWED = 4  # valid keys of one person with one name
_NAME = re.compile(r"\w[\w.@+ \-]{0,63}")
_LONGEST_PROJECT = 255
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_ID = 12  # characters of a person's id
_OWN, OF_PROVIDER = "p_", "o_"  # beginnings of the ids of people who were added here, or come from a provider


class NewKey(NamedTuple):
    """A key that was made, with its text, which is shown once."""

    key: Key
    text: str


class Administration:
    """Changes people and keys in the name of `actor`."""

    def __init__(
        self, records: TeamRecords, secret: bytes, scan: Scan, actor: str, forget: Callable[[], None] = lambda: None
    ) -> None:
        """`forget` makes this process read the keys again."""
        self._records = records
        self._secret = secret
        self._scan = scan
        self._actor = actor
        self._forget = forget

    # -- people

    def people(self) -> list[Person]:
        """Everybody who was not removed."""
        return [person for person in self._records.people() if person.removed_at is None]

    def removed(self) -> list[Person]:
        """Everybody who was removed and may be restored: not those whose data was erased."""
        return [
            person
            for person in self._records.people()
            if person.removed_at is not None and not person.name.startswith(ERASED)
        ]

    def person(self, name: str) -> Person:
        """The person with this name or id.

        Raises: NotFound.
        """
        found = next((person for person in self.people() if name in {person.name, person.id}), None)
        if found is None:
            raise NotFound("there is no person of that name; `keepmum people list` shows all")
        return found

    def add(self, name: str, roles: Mapping[str, Role], kind: str = "person", ident: str = "") -> Person:
        """Add a person or a service with roles by project; `ident` is their id, a random one without it.

        Raises: InvalidInput when the name is taken or cannot be used, SecretFound.
        """
        self._check_name("name", name)
        if kind not in {"person", "service"}:
            raise InvalidInput("kind", "must be person or service")
        for project, role in roles.items():
            self._check_role(project, role)
        ident = ident or _OWN + "".join(secrets.choice(_LETTERS) for _ in range(_ID))
        person = Person(ident, name, dict(roles), kind, _now())
        self._records.add_person(person, self._entry("person-added", ident))
        return person

    def remove(self, name: str) -> Person:
        """Remove a person; their keys are no longer valid, their memories stay.

        Raises: NotFound, InvalidInput when no admin of every project would be left.
        """
        person = self.person(name)
        at = _now()
        self._records.change_person(
            person.id,
            lambda found: found._replace(removed_at=at),
            self._entry("person-removed", person.id),
            another_admin_than(person.id),
        )
        self._forget()
        return person

    def restore(self, name: str) -> Person:
        """Admit a removed person again with the same roles and without keys and sessions; of several, the last removed.

        Raises: NotFound, InvalidInput when somebody else has the name by now.
        """
        found = [person for person in self.removed() if name in {person.name, person.id}]
        if not found:
            raise NotFound("there is no removed person of that name; `keepmum people list --removed` shows all")
        person = max(found, key=lambda person: person.removed_at or 0)
        if any(known.name == person.name for known in self.people()):
            raise InvalidInput("name", f"{person.name} is taken; remove that person first")
        for key in self._records.keys(person.id):
            if key.withdrawn_at is None:
                self.withdraw_key(key.id)
        self._records.end_sessions(person.id)
        entry = self._entry("person-restored", person.id)
        changed = self._records.change_person(person.id, lambda found: found._replace(removed_at=None), entry)
        return changed or person

    def set_role(self, name: str, project: str, role: Role | None) -> Person:
        """Give a person a role in a project, or take it away with None.

        Raises: NotFound, InvalidInput when no admin of every project would be left.
        """
        person = self.person(name)
        self._check_role(project, role or "reader")

        def change(found: Person) -> Person:
            others = {known: held for known, held in found.roles.items() if known != project}
            return found._replace(roles=others if role is None else {**others, project: role})

        entry = self._entry(f"role-{role or 'none'}", person.id, project)
        takes_away = project == EVERY_PROJECT and role != "admin"
        check = another_admin_than(person.id) if takes_away else None
        changed = self._records.change_person(person.id, change, entry, check)
        self._forget()
        return changed or person

    # -- keys

    def keys_of(self, person: str | None = None) -> list[Key]:
        """The keys of a person, or all."""
        return self._records.keys(None if person is None else self.person(person).id)

    def make_key(  # noqa: PLR0913 - what a key has
        self,
        person: str,
        name: str,
        *,
        role: Role | None = None,
        projects: Sequence[str] | None = None,
        days: float | None = KEY_DAYS,
        agent: str = "",
    ) -> NewKey:
        """Make a key; it never gives more than its person has. Without `days` it does not expire.

        Raises: NotFound, InvalidInput, SecretFound.
        """
        owner = self.person(person)
        self._check_name("name", name)
        if agent:
            self._check_name("agent", agent)
        if projects is not None and not projects:
            raise InvalidInput("projects", "is empty; leave it out for every project of the person")
        for project in projects or ():
            self._check_role(project, role or "reader")
        at = _now()
        made = make_key()
        key = Key(
            made.id, owner.id, name, digest_of(made.text, self._secret), role or "",
            None if projects is None else tuple(projects), agent, at, _expiry(at, days),
        )  # fmt: skip
        self._records.add_key(key, self._entry("key-made", key.id))
        return NewKey(key, made.text)

    def withdraw_key(self, ident: str) -> Key:
        """Withdraw a key; this process refuses it at once, and every other after at most 5 seconds.

        Raises: NotFound.
        """
        at = _now()
        changed = self._records.change_key(
            ident, lambda key: key._replace(withdrawn_at=key.withdrawn_at or at), self._entry("key-withdrawn", ident)
        )
        if changed is None:
            raise NotFound("there is no key with that id; `keepmum keys list` shows all")
        self._forget()
        return changed

    def rotate_key(self, ident: str, *, days: float | None = KEY_DAYS, overlap: float = OVERLAP_DAYS) -> NewKey:
        """Make a key like another one, which stays valid for `overlap` days.

        Raises: NotFound, InvalidInput.
        """
        found = self._records.find_key(ident)
        if found is None or found[0].withdrawn_at is not None or found[1].removed_at is not None:
            raise NotFound("there is no key with that id that counts; `keepmum keys list` shows all")
        old, at = found[0], _now()
        if not 0 <= overlap <= _MOST_DAYS:
            raise InvalidInput("overlap", f"must be 0 to {_MOST_DAYS:,} days")
        end = at + int(overlap * DAY_MS)
        made = make_key()
        key = old._replace(
            id=made.id, digest=digest_of(made.text, self._secret), created_at=at, expires_at=_expiry(at, days),
            used_at=None,
        )  # fmt: skip
        self._records.add_key(key, self._entry("key-made", key.id))
        self._records.change_key(
            ident,
            lambda known: known._replace(expires_at=min(end, known.expires_at or end)),
            self._entry("key-rotated", ident),
        )
        self._forget()
        return NewKey(key, made.text)

    def renew_key(self, ident: str, *, overlap: float = OVERLAP_DAYS) -> NewKey:
        """Rotate a key for its holder: the new one has the same name, and is valid as long as the old one was made for.

        Raises: NotFound; InvalidInput, also when several keys of this name are valid.
        """
        found = self._records.find_key(ident)
        if found is None:
            raise NotFound("there is no key with that id")
        old, person = found
        alike = [key for key in self._records.keys(person.id) if key.name == old.name and is_valid(key, person, _now())]
        if len(alike) >= _MOST_RENEWED:
            raise InvalidInput("id", f"is of {len(alike)} valid keys with one name; withdraw one of them first")
        days = None if old.expires_at is None else (old.expires_at - old.created_at) / DAY_MS
        return self.rotate_key(ident, days=days, overlap=overlap)

    # -- checks

    def _entry(self, action: str, subject: str, project: str | None = None) -> Entry:
        return Entry(_now(), self._actor, action, subject, project)

    def _check_name(self, field: str, name: str) -> None:
        if not _NAME.fullmatch(name) or name.endswith(" ") or name.startswith(ERASED):
            raise InvalidInput(
                field, "must be 1 to 64 letters, digits, spaces or . @ + - _, and not begin with erased-"
            )
        self._check_secret(field, name)

    def _check_role(self, project: str, role: str) -> None:
        if role not in ROLES:
            raise InvalidInput("role", f"must be one of {', '.join(ROLES)}")
        if len(project) > _LONGEST_PROJECT or not project.isprintable():
            raise InvalidInput("project", f"must be printable text of at most {_LONGEST_PROJECT} characters")
        self._check_secret("project", project)

    def _check_secret(self, field: str, text: str) -> None:
        found = self._scan(text)
        if found:
            raise SecretFound([(field, found[0].rule, 1)])


def _now() -> int:
    return time.time_ns() // 1_000_000


def _expiry(at: int, days: float | None) -> int | None:
    if days is None:
        return None
    if not 0 < days <= _MOST_DAYS:
        raise InvalidInput("days", f"must be more than 0 and at most {_MOST_DAYS:,}")
    return at + int(days * DAY_MS)
