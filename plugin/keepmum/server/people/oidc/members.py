"""People of the identity provider as principals of this server.

A person with a role is added to the people of this server at their first request. They keep the name of that moment,
and can be removed here; the audit log records it. Their id is made of issuer and subject. Roles come from each token;
those that an administrator gives here are added.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from keepmum.core.errors import InvalidInput, SecretFound
from keepmum.core.validation import Scan
from keepmum.server.people.administration import OF_PROVIDER, Administration
from keepmum.server.people.oidc.claims import Claims, Identity, Rules
from keepmum.server.people.provider_sign_in import SignedIn
from keepmum.server.people.roles import Principal, Role, joined
from keepmum.service import StaleWrite
from keepmum.service.team import Person, TeamRecords

__all__ = ["Members"]

_CACHED = 2.0  # seconds, as for keys: a removal counts everywhere within 5
_OF_TOKEN = ":token"  # noqa: S105 - ends the key of a principal with a token, which has no session
_MOST_CACHED = 10_000
_NOT_IN_NAMES = re.compile(r"[^\w.@+ \-]")
_LONGEST_NAME = 64
_TRIES = 8


class _Known(NamedTuple):
    """A token that was checked."""

    principal: Principal | None
    until: float  # the time after which it is checked again


class Members:
    """Finds the principal of an access token, and of a person who signed in. Safe between threads."""

    def __init__(  # noqa: PLR0913 - what makes a principal of a token
        self,
        issuer: str,
        verify: Callable[[str], Claims | None],
        rules: Rules,
        records: TeamRecords,
        scan: Scan,
        *,
        reserved: Iterable[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`verify` gives the claims of an access token; `reserved` are names that others here have."""
        self._issuer = issuer
        self._verify = verify
        self._rules = rules
        self._records = records
        self._scan = scan
        self._administration = Administration(records, b"", scan, f"provider:{issuer.partition('://')[2]}")
        self._reserved = frozenset(reserved)
        self._clock = clock
        self._known: dict[bytes, _Known] = {}  # by the digest of a token
        self._of_session = f":{hashlib.sha256(repr((issuer, rules)).encode()).hexdigest()[:16]}"
        self._lock = threading.Lock()

    def find(self, text: str) -> Principal | None:
        """The owner of an access token; None when it is not valid, or its person was removed here.

        A person without a role is a principal that may do nothing.

        Raises: ProviderAway; StoreError when the people cannot be read.
        """
        if not _has_form(text):
            return None
        digest = _digest(text)
        known = self._fresh(digest)
        if known is not None:
            return known.principal
        until = self._clock() + _CACHED  # as before the query
        claims = self._verify(text)
        if claims is None:
            return None
        found = self._principal(self._rules.identity(claims), _OF_TOKEN)
        with self._lock:
            if len(self._known) >= _MOST_CACHED:
                self._known.clear()
            self._known[digest] = _Known(found, until)
        return found

    def answers_at_once(self, text: str) -> bool:
        """Whether `find` needs neither the provider nor the database for this text."""
        return not _has_form(text) or self._fresh(_digest(text)) is not None

    def _fresh(self, digest: bytes) -> _Known | None:
        """What is known of a token, if it still counts."""
        known = self._known.get(digest)
        return known if known is not None and known.until > self._clock() else None

    def sign_in(self, claims: Claims) -> SignedIn | None:
        """The person who signs in with these verified claims; None when they were removed here.

        The key of their session ends with a digest of the settings by which claims become roles.

        Raises: StoreError.
        """
        identity = self._rules.identity(claims)
        found = self._principal(identity, self._of_session)
        return None if found is None else SignedIn(found, identity.roles)

    def holder(self, ident: str, given: Mapping[str, Role]) -> Principal | None:
        """Who signed in earlier, with the roles that the provider gave then and those that they have here now.

        None when they were removed since, or the settings say something else about roles.

        Raises: StoreError.
        """
        person = ident.removesuffix(self._of_session)
        found = self._records.person(person) if person != ident else None
        if found is None or found.removed_at is not None:
            return None
        return _joined(found, ident, given)

    def _principal(self, identity: Identity, suffix: str) -> Principal | None:
        """The principal of an identity; None for a person who was removed. `suffix` is added to its key."""
        ident = _id(self._issuer, identity.subject)
        person = self._records.person(ident)
        if person is None and identity.roles:
            person = self._added(ident, identity.name)
        if person is None:
            return Principal(ident, "", ident + suffix, {})
        if person.removed_at is not None:
            return None
        return _joined(person, ident + suffix, identity.roles)

    def _added(self, ident: str, name: str) -> Person | None:
        """A new person, with a name that no other person has or had."""
        with self._lock:
            if (found := self._records.person(ident)) is not None:
                return found
            taken = self._reserved | {person.name for person in self._records.people()}
            for each in _names("" if self._scan(name) else name, ident):
                if each not in taken:
                    with contextlib.suppress(InvalidInput, SecretFound, StaleWrite):  # another process may be first
                        return self._administration.add(each, {}, ident=ident)
        return self._records.person(ident)


def _joined(person: Person, key: str, given: Mapping[str, Role]) -> Principal:
    """A person as a principal, with the roles that they have here and those that the provider gives."""
    here: dict[str, Role] = dict(person.roles)  # type: ignore[arg-type]  # only roles are stored
    return Principal(person.id, person.name, key, joined(given, here))


def _names(name: str, ident: str) -> Iterator[str]:
    """Names for a person, the best first, until one can be used."""
    plain = _NOT_IN_NAMES.sub("-", name).lstrip(".@+ -")
    yield plain[:_LONGEST_NAME].rstrip()
    yield f"{plain[: _LONGEST_NAME - 5].rstrip()}-{ident[2:6]}"
    yield f"person-{ident[2:10]}"  # longer, and the scanner takes it for a secret
    for _ in range(_TRIES):
        yield f"person-{secrets.token_hex(4)}"


def _id(issuer: str, subject: str) -> str:
    """The id of a person of an identity provider."""
    digest = hashlib.sha256(f"{issuer}\n{subject}".encode()).digest()
    return OF_PROVIDER + base64.b32encode(digest[:15]).decode().lower()


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _has_form(text: str) -> bool:
    """Whether a text has the form of a signed token."""
    return text.count(".") == 2 and text.isascii()
