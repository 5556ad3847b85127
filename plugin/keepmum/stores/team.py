"""What a team server stores in addition to memories: people, keys, sessions, the audit log, and kept answers.

`TeamRecords` is the interface; both engines keep these tables in the database of the memories, so that a write, its
audit row and its kept answer are one transaction.
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from keepmum.core.audit_chain import Head, Name, Pending, Sealed
from keepmum.core.errors import InvalidInput, StoreError
from keepmum.core.memory import Change
from keepmum.stores.team_traces import Traces

__all__ = [
    "EVERY_ROW",
    "UNAUDITED",
    "Answer",
    "AuditFilter",
    "AuditRow",
    "Claim",
    "Entry",
    "Erasure",
    "Key",
    "PeopleCheck",
    "Person",
    "Repeated",
    "Session",
    "TeamRecords",
    "Unsealed",
    "another_admin_than",
    "claimed",
    "claiming",
    "entry_of",
    "kept_answer",
    "names_of",
    "seal_all",
]

_SEALED_AT_ONCE = 5_000  # rows
UNAUDITED = ("recalled", "loaded")  # actions of the activity log that change nothing


class Person(NamedTuple):
    """A person or a service who may have keys."""

    id: str
    name: str  # the actor in history, activity and audit; of those not removed, each has another
    roles: Mapping[str, str]  # by project id; "*" for every project
    kind: str = "person"  # or "service"
    created_at: int = 0  # milliseconds since the epoch, as all times here
    removed_at: int | None = None


PeopleCheck = Callable[[Sequence[Person]], None]  # refuses a change by raising


def another_admin_than(person: str) -> PeopleCheck:
    """A check that refuses when the only admin of every project is the person with this id."""

    def check(people: Sequence[Person]) -> None:
        admins = {each.id for each in people if each.removed_at is None and each.roles.get("*") == "admin"}
        if admins == {person}:
            raise InvalidInput("role", "no one else is admin of every project; give another person that role first")

    return check


class Key(NamedTuple):
    """A key of a person, without the key itself."""

    id: str
    person: str
    name: str
    digest: bytes  # of the key, under the server's secret
    role: str = ""  # the most that it gives; empty for all that the person has
    projects: tuple[str, ...] | None = None  # where it counts; None for every project where the person has a role
    agent: str = ""  # the label of what is written with it, unless the client gives one
    created_at: int = 0
    expires_at: int | None = None
    used_at: int | None = None  # to the hour
    withdrawn_at: int | None = None


class Session(NamedTuple):
    """A sign-in to the dashboard, without the secrets of its browser."""

    digest: bytes  # of those secrets
    person: str
    key: str  # the id of the key with which they signed in, or what an identity provider's sign-in has instead
    roles: Mapping[str, str]  # by project id: what the provider gave at the sign-in
    project: str  # the one that is shown
    ends_at: int


class Entry(NamedTuple):
    """What somebody did, for the audit log."""

    at: int
    actor: str
    action: str
    subject: str | None = None  # the id of a memory, a person or a key
    project: str | None = None


class AuditRow(NamedTuple):
    """A sealed row of the audit log. Its number is its place in the chain; numbers have no gaps."""

    number: int
    at: int
    actor: str
    action: str
    subject: str | None
    project: str | None


class AuditFilter(NamedTuple):
    """Which rows of the audit log; None accepts any value."""

    subject: str | None = None
    actor: str | None = None
    action: str | None = None


EVERY_ROW = AuditFilter()


class Unsealed(NamedTuple):
    """Audit rows that wait for the sealer."""

    rows: int
    oldest: int | None  # time of the oldest one


class Claim(NamedTuple):
    """A request that must have one effect however often it is sent."""

    principal: str
    key: str  # of the client, for this request
    digest: bytes  # of the request
    at: int
    token: str = ""  # distinguishes concurrent requests with the same key


class Answer(NamedTuple):
    """What the first request with a key answered."""

    ids: tuple[str, ...]  # of the memories that it wrote, created ones first
    at: int


class Erasure(NamedTuple):
    """An erasure of a person's or a project's data."""

    at: int
    kind: str  # "person" or "project"
    digest: str  # of the name, under the server's secret
    receipt: Mapping[str, int]


class Repeated(StoreError):
    """Another request with the same key was first; nothing was stored by this one."""

    def __init__(self) -> None:
        super().__init__("a request with this Idempotency-Key has been answered already")


class TeamRecords(Protocol):
    """The records of one organisation.

    Each method is one transaction. An `Entry` is appended to the audit log in the same one.

    Raises: StoreError (StoreBusy, StoreReadOnly) from any method.
    """

    @property
    def traces(self) -> Traces:
        """The activity log, the decisions of reviews, and kept answers, to be copied."""

    def people(self) -> list[Person]:
        """Everybody, by name; also those who were removed."""

    def person(self, ident: str) -> Person | None:
        """The person with this id, also one who was removed."""

    def add_person(self, person: Person, entry: Entry) -> None:
        """Add a person.

        Raises: InvalidInput when the name or the id is taken.
        """

    def change_person(
        self, person: str, change: Callable[[Person], Person], entry: Entry, check: PeopleCheck | None = None
    ) -> Person | None:
        """Replace a person, by id, by what `change` returns; None when there is none.

        `check` gets all people before the change, and refuses it when it raises. Changes with a check run one after
        another, so that what was checked still holds when the change is made.
        """

    def secret_digest(self, digest: bytes | None) -> bytes | None:
        """A digest of the secret under which the keys are kept; `digest` is saved when there is none yet."""

    def keys(self, person: str | None = None) -> list[Key]:
        """All keys, or those of a person, oldest first; also expired and withdrawn ones."""

    def find_key(self, key: str) -> tuple[Key, Person] | None:
        """A key by its id, with its person."""

    def add_key(self, key: Key, entry: Entry) -> None:
        """Add a key."""

    def change_key(self, key: str, change: Callable[[Key], Key], entry: Entry) -> Key | None:
        """Replace a key, by id, by what `change` returns; None when there is none."""

    def note_use(self, times: Mapping[str, int]) -> None:
        """Save when keys were used, by id."""

    def add_session(self, session: Session, most: int, now: int) -> None:
        """Save a session. Those that have ended are removed, and the first to end of a key with more than `most`."""

    def session(self, digest: bytes, now: int) -> Session | None:
        """The session with this digest; None when there is none, or it has ended."""

    def show_project(self, digest: bytes, project: str) -> None:
        """Show another project in a session."""

    def end_session(self, digest: bytes) -> None:
        """Remove a session."""

    def end_sessions(self, person: str) -> None:
        """Remove the sessions of a person, by id."""

    def note(self, entry: Entry) -> None:
        """Append to the audit log."""

    def seal(self, most: int = 5_000) -> Head:
        """Chain up to `most` audit rows that are not sealed yet; returns the head of the chain.

        Does nothing while another process seals.
        """

    def unsealed(self) -> Unsealed:
        """What waits for the sealer."""

    def pending(self) -> list[Pending]:
        """The rows that wait for the sealer, in the order in which it takes them."""

    def chain(self, after: int = 0) -> Iterator[Sealed]:
        """The sealed rows in order of their numbers, with what they must have been sealed with."""

    def audit(
        self,
        after: int = 0,
        limit: int = 100,
        *,
        projects: Iterable[str] | None = None,
        wanted: AuditFilter = EVERY_ROW,
        before: int | None = None,
    ) -> list[AuditRow]:
        """Sealed rows with higher numbers than `after`, in order, of some projects or all.

        With `before`, those with lower numbers, latest first.
        """

    def answer(self, claim: Claim) -> Answer | None:
        """What the first request with this key answered; None for none.

        Raises: InvalidInput when that was another request.
        """

    def forget_answers(self, before: int) -> int:
        """Remove the answers of requests before this time; returns their number."""

    def erase_names(self, names: Sequence[str], entry: Entry) -> dict[str, str]:
        """Replace names in the audit log by pseudonyms; returns these by name. The chain stays valid."""

    def erase_person(self, person: str) -> None:
        """Replace the name of a person, by id; remove the labels of their keys, their sessions and kept answers."""

    def erasures(self) -> list[Erasure]:
        """The erasures, oldest first."""

    def add_erasure(self, erasure: Erasure) -> None:
        """Note an erasure."""

    def adopt_people(self, people: Sequence[Person], keys: Sequence[Key], erasures: Sequence[Erasure]) -> None:
        """Take over people, keys and erasures of another database, unless they are here; nothing is audited."""

    def adopt_audit(self, rows: Sequence[Sealed]) -> None:
        """Take over rows of another audit log, which must continue this one.

        Raises: StaleWrite when they do not.
        """

    def adopt_pending(self, rows: Sequence[Pending]) -> None:
        """Take over rows of another audit log that are not sealed there; they wait for the sealer of this one.

        Raises: StaleWrite when this log has other names.
        """


def seal_all(records: TeamRecords) -> None:
    """Seal the audit rows that there are now: one call seals a part of many."""
    for _ in range(0, records.unsealed().rows, _SEALED_AT_ONCE):
        records.seal(_SEALED_AT_ONCE)


def names_of(rows: Iterable[Sealed | Pending]) -> list[Name]:
    """The names that these rows of an audit log refer to."""
    return list({name.number: name for row in rows for name in (row.actor, row.project) if name is not None}.values())


def entry_of(row: Pending) -> Entry:
    """What a row says, as it is appended to a log that has its names."""
    return Entry(row.at, row.actor.name, row.action, row.subject, row.project and row.project.name)


_CLAIM: ContextVar[Claim | None] = ContextVar("claim", default=None)


@contextlib.contextmanager
def claiming(claim: Claim) -> Iterator[None]:
    """Make what this thread commits in the block the effect of a request; its last commit is its answer.

    A commit raises Repeated when another request with the same key was first.
    """
    reset = _CLAIM.set(claim._replace(token=secrets.token_hex(8)))
    try:
        yield
    finally:
        _CLAIM.reset(reset)


def claimed(changes: Sequence[Change]) -> tuple[Claim, str] | None:
    """The claim to save in the transaction of these changes, with the answer as text; None for none."""
    claim = _CLAIM.get()
    if claim is None:
        return None
    created = [change.after.id for change in changes if change.before is None and change.after is not None]
    others = [change.before.id for change in changes if change.before is not None]
    return claim, json.dumps(list(dict.fromkeys([*created, *others])))


def kept_answer(claim: Claim, digest: bytes, text: str, at: int) -> Answer:
    """The answer in a row.

    Raises: InvalidInput when the row is of another request.
    """
    if digest != claim.digest:
        raise InvalidInput("Idempotency-Key", "was used for another request; use a new one")
    return Answer(tuple(json.loads(text)), at)
