"""The clock and types that tests of the service use."""

from __future__ import annotations

from collections.abc import Callable

from keepmum.service import MemoryService

__all__ = ["Clock", "OpenService"]

OpenService = Callable[..., MemoryService]


class Clock:
    """A clock that changes only when a test sets it."""

    def __init__(self) -> None:
        self.now = 1_790_000_000_000

    def __call__(self) -> int:
        return self.now

    def advance(self, *, seconds: float = 0, days: float = 0) -> None:
        self.now += int(seconds * 1000 + days * 86_400_000)
