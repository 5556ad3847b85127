"""Who sends a request: the key in its header, looked up in every place that has keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from keepmum.server.people.roles import Principal

__all__ = ["Gate", "KeyLookup"]

KeyLookup = Callable[[str], Principal | None]  # whose key it is; None when it knows no such key
_SCHEME = "bearer "
_LONGEST = 4096  # characters of a key or token


class Gate:
    """Finds the principal of a request."""

    def __init__(self, lookups: Sequence[KeyLookup]) -> None:
        self._lookups = tuple(lookups)

    def principal(self, headers: Mapping[str, str]) -> Principal | None:
        """Who sends a request with these headers; None without a key that is known and valid."""
        given = headers.get("authorization", "")
        if given[: len(_SCHEME)].lower() != _SCHEME or len(given) > _LONGEST:
            return None
        token = given[len(_SCHEME) :].strip()
        return next((found for lookup in self._lookups if (found := lookup(token)) is not None), None)
