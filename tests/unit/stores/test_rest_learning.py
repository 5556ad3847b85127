"""What a server showed, put into the mirror beside what is written there meanwhile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from contract.stores import a_memory
from keepmum.core.memory import Change, Memory
from keepmum.stores import sqlite
from keepmum.stores.rest.learning import Learning
from unit.stores.rest_parts import put


def seen(memory: Memory) -> Memory:
    """A memory as a list of the server tells it, which knows no keys."""
    return replace(memory, key=None, title="As the server lists it")


def test_what_was_new_is_kept(tmp_path: Path) -> None:
    mirror = sqlite.open_store(str(tmp_path / "mirror.db"))
    learning, memory = Learning(mirror), a_memory()
    learning.add([memory], {})
    learning.flush()
    assert mirror.get([memory.id]) == [memory]
    mirror.close()


def test_a_list_seen_before_a_write_of_ours_takes_nothing_from_it(tmp_path: Path) -> None:
    mirror = sqlite.open_store(str(tmp_path / "mirror.db"))
    learning, memory = Learning(mirror), a_memory(key="deploy.pool")
    learning.add([seen(memory)], {})  # by a thread that looked between the server's answer to the write and its end
    put(mirror, memory)
    learning.flush()
    assert mirror.get([memory.id]) == [memory]
    mirror.close()


def test_a_list_seen_before_a_change_of_ours_takes_nothing_from_it(tmp_path: Path) -> None:
    mirror = sqlite.open_store(str(tmp_path / "mirror.db"))
    learning, memory = Learning(mirror), a_memory()
    put(mirror, memory)
    learning.add([seen(memory)], {memory.id: memory})
    changed = replace(memory, key="deploy.pool", revision=memory.revision + 1)
    mirror.commit([Change(memory, changed)])
    learning.flush()
    assert mirror.get([memory.id]) == [changed]
    mirror.close()


def test_what_changed_at_the_server_is_kept(tmp_path: Path) -> None:
    mirror = sqlite.open_store(str(tmp_path / "mirror.db"))
    learning, memory = Learning(mirror), a_memory()
    put(mirror, memory)
    learning.add([seen(memory)], {memory.id: memory})
    learning.flush()
    assert [one.title for one in mirror.get([memory.id])] == ["As the server lists it"]
    mirror.close()
