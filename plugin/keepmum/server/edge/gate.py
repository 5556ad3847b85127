"""Who sends a request: the key in its header, looked up in every place that has keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from keepmum.server.call import Answer
from keepmum.server.edge.errors import UNAUTHORIZED, error_body
from keepmum.server.people.failures import Failures
from keepmum.server.people.roles import Principal

__all__ = ["Gate", "KeyLookup"]

KeyLookup = Callable[[str], Principal | None]  # whose key it is; None when it knows no such key
_SCHEME = "bearer "
_LONGEST = 4096  # characters of a key or token


class Gate:
    """Finds the principal of a request."""

    def __init__(self, lookups: Sequence[KeyLookup], at_once: Callable[[str], bool] = lambda _: True) -> None:
        """`at_once` says whether the lookups need no database for a key."""
        self._lookups = tuple(lookups)
        self._at_once = at_once
        self.failures = Failures()

    def principal(self, headers: Mapping[str, str]) -> Principal | None:
        """Who sends a request with these headers; None without a key that is known and valid."""
        token = _token(headers)
        if not token:
            return None
        return next((found for lookup in self._lookups if (found := lookup(token)) is not None), None)

    def answers_at_once(self, headers: Mapping[str, str]) -> bool:
        """Whether `principal` needs no database."""
        return self._at_once(_token(headers))

    def refuse(self, headers: Mapping[str, str], source: str) -> Answer:
        """The answer to a request without a valid key; a wrong one counts as a failure of its source."""
        wait = self.failures.note(source) if headers.get("authorization") else 0.0
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
