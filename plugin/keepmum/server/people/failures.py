"""Counts requests with a wrong key, by the address that they come from."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable

__all__ = ["Failures"]

_WINDOW = 60.0  # seconds
_MOST = 10  # failures of one source in that time
_IPV6_BITS = 64  # of an address: its owner chooses the rest
_SOURCES = 100_000  # that are counted at once; then the count starts again


class Failures:
    """Slows down guessing. Requests with a valid key are never counted, so an attacker cannot lock anybody out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[str, tuple[float, int]] = {}  # by source: end of the window, failures

    def note(self, source: str) -> float:
        """Count a failure; returns the seconds that the source must wait, 0 while it had few."""
        now = self._clock()
        source = _network(source)
        with self._lock:
            end, count = self._counts.get(source, (0.0, 0))
            if end <= now:
                if len(self._counts) >= _SOURCES:
                    self._counts.clear()
                end, count = now + _WINDOW, 0
            self._counts[source] = (end, count + 1)
        return end - now if count >= _MOST else 0.0


def _network(source: str) -> str:
    """What is counted as one source: an IPv4 address, or an IPv6 network that one site has."""
    if ":" not in source:
        return source
    return str(ipaddress.ip_network((source.partition("%")[0], _IPV6_BITS), strict=False))
