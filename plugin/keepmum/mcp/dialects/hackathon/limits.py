"""Limits of this dialect: the form of keys, the size of values, calls per minute."""

from __future__ import annotations

import math
import re
import time
from collections import deque
from collections.abc import Callable

from keepmum.core.errors import InvalidInput, KeepmumError

__all__ = ["RateLimit", "check_key", "check_value"]

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9\-_./]{0,254}")
_HANDOFF = re.compile(r"handoff-[0-9]+")
_VALUE_BYTES = 10_240
_CALLS = 100
_SECONDS = 60.0


def check_key(key: str) -> str:
    """The key, validated.

    Raises: InvalidInput.
    """
    if not _KEY.fullmatch(key):
        raise InvalidInput(
            "key", "must start with a letter or digit and contain only letters, digits and - _ . / (at most 255)"
        )
    if _HANDOFF.fullmatch(key):
        raise InvalidInput("key", "is reserved for handoffs; choose another, or use the handoff tools")
    return key


def check_value(value: str) -> str:
    """The value, if it is not too long.

    Raises: InvalidInput.
    """
    size = len(value.encode("utf-8", "replace"))
    if size > _VALUE_BYTES:
        raise InvalidInput("value", f"has {size:,} bytes, the limit is {_VALUE_BYTES:,}; store one concept per memory")
    return value


class RateLimit:
    """Sliding-window rate limit of 100 calls a minute, against agents in a loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls: deque[float] = deque()

    def count(self) -> None:
        """Count one call.

        Raises: KeepmumError above the limit, with the seconds to wait.
        """
        now = self._clock()
        while self._calls and self._calls[0] <= now - _SECONDS:
            self._calls.popleft()
        if len(self._calls) >= _CALLS:
            wait = math.ceil(self._calls[0] + _SECONDS - now)
            raise KeepmumError(f"more than {_CALLS} calls in a minute, nothing was done. Retry in {wait}s")
        self._calls.append(now)
