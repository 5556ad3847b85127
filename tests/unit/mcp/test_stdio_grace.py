"""The grace period of the stdio server: how long it works after the end of its input."""

from __future__ import annotations

import os

import pytest

from keepmum.mcp import stdio


class Lock:
    """A lock that is had after some attempts; it knows how long they were to last."""

    def __init__(self, attempts: int) -> None:
        self.waited: list[float] = []
        self._attempts = attempts

    def acquire(self, timeout: float) -> bool:
        self.waited.append(timeout)
        return len(self.waited) == self._attempts

    def release(self) -> None:
        pass


def exits(monkeypatch: pytest.MonkeyPatch, lock: Lock) -> list[int]:
    """The statuses with which a process is ended whose jobs are finished when the lock is had."""
    found: list[int] = []
    monkeypatch.setattr(os, "_exit", found.append)
    jobs = stdio._Jobs()
    monkeypatch.setattr(jobs, "_finished", lock)
    jobs._force_exit()
    return found


def test_a_process_that_was_stopped_for_long_loses_a_small_part_of_the_period(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop ends the wait that it falls into, and no other: each begins when the process runs."""
    lock = Lock(attempts=40)
    assert exits(monkeypatch, lock) == []
    assert len(lock.waited) == 40
    assert max(lock.waited) <= 0.1


def test_a_process_that_does_not_finish_is_ended_after_the_period(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = Lock(attempts=1_000)
    assert exits(monkeypatch, lock) == [1]
    assert sum(lock.waited) == pytest.approx(stdio.GRACE)
