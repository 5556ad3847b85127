"""Limits how many streams, exports or imports a key has at the same time, in this process."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator

from keepmum.core.errors import KeepmumError

__all__ = ["AtOnce", "TooManyAtOnce"]


class TooManyAtOnce(KeepmumError):
    """The key has reached a limit; one of its streams, exports or imports must end first."""


class AtOnce:
    """Counts what each key has now, of one sort. Safe between threads."""

    def __init__(self, most: int, what: str) -> None:
        """Allow each key `most` at the same time of `what`, such as "streams"."""
        self._most = most
        self._what = what
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()

    def check(self, key: str) -> None:
        """Check that the key may have one more.

        Raises: TooManyAtOnce.
        """
        if self._held[key] >= self._most:
            raise TooManyAtOnce(f"this key has {self._most} {self._what} at the moment; end one first")

    @contextlib.contextmanager
    def holding(self, key: str) -> Iterator[None]:
        """Count one more of a key while the block runs.

        Raises: TooManyAtOnce.
        """
        with self._lock:
            self.check(key)
            self._held[key] += 1
        try:
            yield
        finally:
            with self._lock:
                self._held[key] -= 1
                self._held += Counter()  # drops keys that have none

    def __bool__(self) -> bool:
        """Whether any key has one."""
        return bool(self._held)
