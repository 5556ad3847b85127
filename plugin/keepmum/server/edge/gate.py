"""Finds the principal of a request: looks up the key in its header in every place that has keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from keepmum.server.call import Answer
from keepmum.server.edge.errors import UNAUTHORIZED, error_body
from keepmum.server.people.failures import Failures
from keepmum.server.people.roles import Principal, Role

__all__ = ["Gate", "Keys"]

_SCHEME = "bearer "
_DOTS = 2  # in a signed token
_HEADER = "eyJ"  # the beginning of one: JSON in base64
_LONGEST = 8192  # characters of a key or token


class Keys(Protocol):
    """A place that has keys."""

    def find(self, text: str) -> Principal | None:
        """The owner of this key; None when it is unknown, or no longer valid."""

    def holder(self, ident: str, given: Mapping[str, Role]) -> Principal | None:
        """The owner of the key with this id, which was proved earlier; None as above.

        `given` are the roles that an identity provider gave then.
        """

    def answers_at_once(self, text: str) -> bool:
        """Whether `find` needs only what is in memory for this text."""


class Gate:
    """Finds the principal of a request."""

    def __init__(self, keys: Sequence[Keys]) -> None:
        self._keys = tuple(keys)
        self.failures = Failures()

    def principal(self, headers: Mapping[str, str]) -> Principal | None:
        """The sender of a request with these headers; None without a key that is known and valid."""
        token = _token(headers)
        return self.find(token) if token else None

    def find(self, text: str) -> Principal | None:
        """The owner of this key; None when it is unknown."""
        return next((found for keys in self._keys if (found := keys.find(text)) is not None), None)

    def holder(self, ident: str, given: Mapping[str, Role]) -> Principal | None:
        """The owner of the key with this id, which was proved earlier; None when it is no longer valid."""
        return next((found for keys in self._keys if (found := keys.holder(ident, given)) is not None), None)

    def answers_at_once(self, headers: Mapping[str, str]) -> bool:
        """Whether `principal` needs only what is in memory."""
        token = _token(headers)
        return all(keys.answers_at_once(token) for keys in self._keys)

    def refuse(self, headers: Mapping[str, str], source: str) -> Answer:
        """The answer to a request without a valid key; a wrong one counts as a failure of its source.

        A signed token does not: it cannot be guessed, and clients whose tokens expired need the 401, also several of
        them behind one address.
        """
        token = _token(headers)
        is_token = token.startswith(_HEADER) and token.count(".") == _DOTS
        is_guess = bool(headers.get("authorization")) and not is_token
        wait = self.failures.note(source) if is_guess else 0.0
        if not wait:
            return UNAUTHORIZED
        retry = {"retry-after": str(int(wait) + 1)}
        return Answer(429, error_body(429, "too many requests with a wrong key; wait, and check the key"), retry)


def _token(headers: Mapping[str, str]) -> str:
    """The key in the header; empty for none."""
    given = headers.get("authorization", "")
    if given[: len(_SCHEME)].lower() != _SCHEME or len(given) > _LONGEST:
        return ""
    return given[len(_SCHEME) :].strip()
