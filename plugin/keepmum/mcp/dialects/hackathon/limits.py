"""What this dialect takes: the form of a key, the size of a value, so many calls a minute."""

from __future__ import annotations

import math
import re
import time
from collections import deque
from collections.abc import Callable

from keepmum.core.errors import InvalidInput, KeepmumError

__all__ = ["Rate", "check_key", "check_value"]

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9\-_./]{0,254}")
_HANDOFF = re.compile(r"handoff-[0-9]+")
_VALUE_BYTES = 10_240
_CALLS = 100
_SECONDS = 60.0


def check_key(key: str) -> str:
    """A key that a memory may be kept under.

    Raises: InvalidInput.
    """
    if not _KEY.fullmatch(key):
        raise InvalidInput("key", "has letters, digits and - _ . / alone, begins with a letter or digit, up to 255")
    if _HANDOFF.fullmatch(key):
        raise InvalidInput("key", "is one of a handoff; take another, or the tools for handoffs")
    return key


def check_value(value: str) -> str:
    """A value that is not too long.

    Raises: InvalidInput.
    """
    size = len(value.encode("utf-8", "replace"))
    if size > _VALUE_BYTES:
        raise InvalidInput("value", f"has {size:,} bytes, the limit is {_VALUE_BYTES:,}; keep one concept a memory")
    return value


class Rate:
    """Counts calls, and stops an agent in a loop: so many in any minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls: deque[float] = deque()

    def count(self) -> None:
        """Count one call.

        Raises: KeepmumError when there were too many; it says how long to wait.
        """
        now = self._clock()
        while self._calls and self._calls[0] <= now - _SECONDS:
            self._calls.popleft()
        if len(self._calls) >= _CALLS:
            wait = math.ceil(self._calls[0] + _SECONDS - now)
            raise KeepmumError(f"more than {_CALLS} calls in a minute, nothing was done. Try again in {wait}s")
        self._calls.append(now)
