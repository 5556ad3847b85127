"""Circuit breaker for a server: after a failure or a refused key, reads use local data for a moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from keepmum.core.errors import KeyRefused, StoreError, StoreReadOnly, StoreUnavailable

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api
    from keepmum.workspace.credentials import Server

__all__ = ["CircuitBreaker"]

_Result = TypeVar("_Result")
_OPEN_SECONDS = 5.0  # for which reads do not try a server that could not be reached, or refused the key


class CircuitBreaker:
    """Calls one server, and falls back to local data when it does not answer."""

    def __init__(self, server: Server, connect: Callable[[Server], Api], clock: Callable[[], float]) -> None:
        self.server = server
        self.on_recovery: Callable[[], object] = lambda: None  # called when the server answers again
        self.caveat = ""  # set when the last result was local data: says so, and why
        self._connect = connect
        self._clock = clock
        self._connecting = threading.Lock()
        self._api: Api | None = None
        self._open_until = 0.0
        self._refused_until = 0.0
        self._problem = ""

    @property
    def api(self) -> Api:
        """The server's API. The first use imports the HTTP client.

        Raises: StoreReadOnly when there is no key for the server.
        """
        if not self.server.key:
            raise StoreReadOnly(self.server.no_key)
        with self._connecting:
            if self._api is None:
                self._api = self._connect(self.server)
            return self._api

    @property
    def is_v2(self) -> bool | None:
        """Whether the server supports version 2 of the API; None while unknown."""
        return None if self._api is None else self._api.is_v2

    @property
    def is_open(self) -> bool:
        """Whether the server could not be reached a moment ago."""
        return self._clock() < self._open_until

    @property
    def skips_reads(self) -> bool:
        """Whether reads do not ask the server, which could not be reached or refused the key a moment ago."""
        return self._clock() < max(self._open_until, self._refused_until)

    def call(self, request: Callable[[Api], _Result], fallback: Callable[[], _Result]) -> _Result:
        """The result of `request`, or of `fallback` when the server is not asked or does not answer; sets `caveat`."""
        if self.skips_reads:
            return self._fall_back(fallback)
        try:
            result = request(self.api)
        except StoreError as error:
            self.record_failure(error)
            return self._fall_back(fallback)
        if self.caveat:
            self.caveat = ""
            self.on_recovery()
        return result

    def record_failure(self, error: StoreError) -> None:
        """Keep the reason for the caveat, and note when the server was unavailable or refused the key."""
        self._problem = "" if isinstance(error, StoreReadOnly) else f": {error}"  # `notice` reports a missing key
        if isinstance(error, StoreUnavailable):
            self._open_until = self._clock() + _OPEN_SECONDS
        elif isinstance(error, KeyRefused) and self.is_v2:  # version 1 may refuse a key for one project only
            self._refused_until = self._clock() + _OPEN_SECONDS

    def close(self) -> None:
        """Close the connections."""
        if self._api is not None:
            self._api.close()

    def _fall_back(self, fallback: Callable[[], _Result]) -> _Result:
        self.caveat = f"This is what was known here, not the server's answer{self._problem}."
        return fallback()
