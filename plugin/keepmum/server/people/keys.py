"""Keys: their form, how they are stored, and their owners.

A key has 256 random bits, so one fast keyed hash is enough; a slow one would only serve those who want to occupy the
server. Its id finds the row, so that one hash and one comparison decide, also about an id that does not exist.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

from keepmum.server.people.roles import Principal, Role, narrowed
from keepmum.service.team import Key, Person, TeamRecords

__all__ = ["FORM", "KeyRing", "Made", "digest_of", "is_valid", "make_key", "principal_of"]

FORM = "kmt_, 8 characters, _, and 49 characters"
_PREFIX = "kmt_"
_ID_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_ID = 8  # characters
_SECRET = 43  # characters: 256 bits
_CHECKSUM = 6  # characters: 36 bits
_LENGTH = len(_PREFIX) + _ID + 1 + _SECRET + _CHECKSUM
_CACHED = 2.0  # seconds: every process sees a withdrawal within 5
_MOST_CACHED = 10_000
_HOUR = 3_600_000  # milliseconds
_NOBODY = bytes(32)  # what the digest of a key with an unknown id is compared with


class Made(NamedTuple):
    """A new key; its text is shown once and never stored."""

    id: str
    text: str


def make_key() -> Made:
    """A new random key."""
    ident = "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID))
    body = f"{_PREFIX}{ident}_{base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip('=')}"
    return Made(ident, body + _checksum(body))


def digest_of(text: str, secret: bytes) -> bytes:
    """The stored digest of a key, or of any text that JSON can carry in its place."""
    return hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"), key=hashlib.sha256(secret).digest(), digest_size=32
    ).digest()


def is_valid(key: Key, person: Person, now: int) -> bool:
    """Whether a key is valid at this time, in milliseconds."""
    expired = key.expires_at is not None and key.expires_at <= now
    return not expired and key.withdrawn_at is None and person.removed_at is None


def principal_of(key: Key, person: Person) -> Principal:
    """The principal of a key."""
    roles = cast("Mapping[str, Role]", person.roles)
    most = cast("Role", key.role) if key.role else None
    return Principal(person.id, person.name, key.id, narrowed(roles, most, key.projects), key.agent)


class _Known(NamedTuple):
    """A key as it was read, with its principal."""

    key: Key
    person: Person
    principal: Principal
    until: float  # when it must be read again


class KeyRing:
    """Finds the principal of a key. What was read is cached for a few seconds. Safe between threads."""

    def __init__(self, records: TeamRecords, secret: bytes, clock: Callable[[], float] = time.monotonic) -> None:
        self._records = records
        self.secret = secret
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._uses: dict[str, int] = {}
        self._forgotten = 0  # how often everything was forgotten
        self._lock = threading.Lock()

    def find(self, text: str) -> Principal | None:
        """The owner of a key; None when it is malformed, unknown, expired or withdrawn, or gives no role.

        Raises: StoreError when the keys cannot be read.
        """
        ident = text[len(_PREFIX) : len(_PREFIX) + _ID]
        known = self._read(ident) if _has_form(text) else None
        expected = _NOBODY if known is None else known.key.digest
        is_genuine = hmac.compare_digest(digest_of(text, self.secret), expected)
        return self._counted(known) if known is not None and is_genuine else None

    def holder(self, ident: str, _: Mapping[str, Role]) -> Principal | None:
        """The owner of the key with this id, proved earlier; None when it is no longer valid or gives no role.

        Raises: StoreError when the keys cannot be read.
        """
        known = self._read(ident)
        return None if known is None else self._counted(known)

    def _counted(self, known: _Known) -> Principal | None:
        """The owner of a key, whose use is noted; None when it is not valid."""
        now = time.time_ns() // 1_000_000
        if not is_valid(known.key, known.person, now) or not known.principal.roles:
            return None
        ident = known.key.id
        hour = now - now % _HOUR
        if (known.key.used_at or 0) < hour:
            self._uses[ident] = hour
        return known.principal

    def answers_at_once(self, text: str) -> bool:
        """Whether `find` needs no database for this text."""
        known = self._known.get(text[len(_PREFIX) : len(_PREFIX) + _ID])
        return not _has_form(text) or (known is not None and known.until > self._clock())

    def forget(self) -> None:
        """Read every key again when it is next used."""
        with self._lock:
            self._forgotten += 1
            self._known.clear()

    def save_uses(self) -> None:
        """Save when keys were used.

        Raises: StoreError; the uses are then saved the next time.
        """
        with self._lock:
            uses = dict(self._uses)
        if uses:
            self._records.note_use(uses)
            with self._lock:
                for ident, hour in uses.items():
                    if self._uses.get(ident) == hour:
                        del self._uses[ident]

    def _read(self, ident: str) -> _Known | None:
        known = self._known.get(ident)
        if known is not None and known.until > self._clock():
            return known
        until, forgotten = self._clock() + _CACHED, self._forgotten  # as before the query
        found = self._records.find_key(ident)
        if found is None:
            return None
        known = _Known(*found, principal_of(*found), until)
        with self._lock:
            if len(self._known) >= _MOST_CACHED:
                self._known.clear()
            if forgotten == self._forgotten:
                self._known[ident] = known
        return known


def _has_form(text: str) -> bool:
    """Whether a text is a key with the right checksum, which typing errors and other tokens do not have."""
    return (
        len(text) == _LENGTH
        and text.isascii()
        and text.startswith(_PREFIX)
        and text[len(_PREFIX) + _ID] == "_"
        and _checksum(text[:-_CHECKSUM]) == text[-_CHECKSUM:]
    )


def _checksum(body: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(body.encode()).digest()).decode()[:_CHECKSUM]
