"""Locks on open files have one holder at a time, and taking one never waits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepmum.system import file_locks


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """Two descriptors of one file, opened separately, as by two processes."""
    one, other = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2))
    yield one, other
    os.close(one)
    os.close(other)


def test_one_descriptor_at_a_time_holds_the_lock(pair: tuple[int, int]) -> None:
    assert [file_locks.take(descriptor) for descriptor in pair] == [True, False]


def test_a_released_lock_can_be_taken(pair: tuple[int, int]) -> None:
    one, other = pair
    assert file_locks.take(one)
    file_locks.release(one)
    assert file_locks.take(other)
