"""How many requests a key may send: a token bucket for reads and one for writes, in this process."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Literal

from keepmum.server.call import HttpError

__all__ = ["Kind", "RateLimits"]

Kind = Literal["read", "write"]
_BURST = 2.0  # minutes' worth of requests that may come at once
_MOST = 10_000  # buckets; full ones are dropped first, since a new one is full too


class RateLimits:
    """One bucket for each key and kind of request."""

    def __init__(self, reads: int, writes: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Allow this many reads and writes a minute, and bursts of twice as many; 0 for no limit."""
        self._per_minute: dict[Kind, int] = {"read": reads, "write": writes}
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[tuple[str, Kind], tuple[float, float]] = {}  # tokens left, and when that was
        self.refused = 0

    def take(self, key: str, kind: Kind) -> None:
        """Count one request of a key.

        Raises: HttpError 429 with Retry-After when there were too many.
        """
        rate = self._per_minute[kind]
        if not rate:
            return
        now, most = self._clock(), rate * _BURST
        with self._lock:
            left, at = self._buckets.get((key, kind), (most, now))
            left = min(most, left + (now - at) * rate / 60)
            if left >= 1:
                self._buckets[key, kind] = (left - 1, now)
                if len(self._buckets) > _MOST:
                    self._prune(now)
                return
            self.refused += 1
        wait = max(1, math.ceil((1 - left) * 60 / rate))
        raise HttpError(429, f"this key sent too many {kind}s; try again in {wait} s", {"retry-after": str(wait)})

    def _prune(self, now: float) -> None:
        """Drop the buckets that are full."""
        for (key, kind), (left, at) in list(self._buckets.items()):
            rate = self._per_minute[kind]
            if left + (now - at) * rate / 60 >= rate * _BURST:
                del self._buckets[key, kind]
