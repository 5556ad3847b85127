"""The write-behind cache of server responses, with writes to the mirror at the same time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from contract.stores import a_memory
from keepmum.core.memory import Change, Memory
from keepmum.stores import sqlite
from keepmum.stores.rest.write_behind import WriteBehindCache
from unit.stores.rest_parts import put


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[sqlite.SqliteStore]:
    store = sqlite.SqliteStore(str(tmp_path / "mirror.db"))
    yield store
    store.close()


@pytest.fixture
def cache(mirror: sqlite.SqliteStore) -> WriteBehindCache:
    return WriteBehindCache(mirror, time.monotonic)


def listed(memory: Memory) -> Memory:
    """A memory as the server lists it, without its key."""
    return replace(memory, key=None, title="As the server lists it")


def test_a_new_memory_is_saved(mirror: sqlite.SqliteStore, cache: WriteBehindCache) -> None:
    memory = a_memory()
    cache.add([memory], {})
    cache.flush()
    assert mirror.get([memory.id]) == [memory]


def test_a_response_from_before_a_local_write_does_not_overwrite_it(
    mirror: sqlite.SqliteStore, cache: WriteBehindCache
) -> None:
    memory = a_memory(key="deploy.pool")
    cache.add([listed(memory)], {})  # by a thread that read the list while the write was not finished
    put(mirror, memory)
    cache.flush()
    assert mirror.get([memory.id]) == [memory]


def test_a_response_from_before_a_local_change_does_not_overwrite_it(
    mirror: sqlite.SqliteStore, cache: WriteBehindCache
) -> None:
    memory = a_memory()
    put(mirror, memory)
    cache.add([listed(memory)], {memory.id: memory})
    changed = replace(memory, key="deploy.pool", revision=memory.revision + 1)
    mirror.commit([Change(memory, changed)])
    cache.flush()
    assert mirror.get([memory.id]) == [changed]


def test_a_change_at_the_server_is_saved(mirror: sqlite.SqliteStore, cache: WriteBehindCache) -> None:
    memory = a_memory()
    put(mirror, memory)
    cache.add([listed(memory)], {memory.id: memory})
    cache.flush()
    assert [one.title for one in mirror.get([memory.id])] == ["As the server lists it"]


@pytest.mark.parametrize("exact", [False, True])
def test_what_is_read_before_a_flush_has_the_revision_of_after_it(
    mirror: sqlite.SqliteStore, cache: WriteBehindCache, *, exact: bool
) -> None:
    memory = a_memory()
    put(mirror, memory)
    cache.add([listed(memory)], {memory.id: memory}, exact=exact)
    (read,) = cache.get([memory.id]).values()
    cache.flush()
    assert mirror.get([memory.id]) == [read]


def test_a_response_from_before_a_local_change_is_not_read(mirror: sqlite.SqliteStore, cache: WriteBehindCache) -> None:
    memory = a_memory()
    put(mirror, memory)
    cache.add([listed(memory)], {memory.id: memory})
    changed = replace(memory, text="changed by another process", revision=memory.revision + 1)
    mirror.commit([Change(memory, changed)])
    assert list(cache.get([memory.id]).values()) == [changed]


def test_a_response_takes_a_key_from_an_outdated_memory(mirror: sqlite.SqliteStore, cache: WriteBehindCache) -> None:
    former, new = a_memory(key="deploy.pool"), a_memory("Green first")
    put(mirror, former)
    cache.add([replace(new, key="deploy.pool")], {}, exact=True)
    cache.flush()
    assert mirror.get([former.id, new.id]) == [replace(former, key=None), replace(new, key="deploy.pool")]
