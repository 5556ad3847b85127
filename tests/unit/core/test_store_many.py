"""Many new memories written to the SQLite store at once: the same result as one by one, but faster."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import numpy as np
import pytest

from contract.stores import NOW, a_memory, wanted
from keepmum.core.memory import Change, Embedding, Memory
from keepmum.stores import StaleWrite
from keepmum.stores.sqlite import SqliteStore, edits
from keepmum.stores.vectors import pack

WORDS = "getUserName deploy pool index query cache_size vector naïve 你好 résumé build".split()
TABLES = {
    "memories": "SELECT * FROM memories ORDER BY seq",
    "tags": "SELECT * FROM tags ORDER BY tag, memory",
    "vectors": "SELECT * FROM vectors ORDER BY memory",
    "words": "SELECT * FROM word_places ORDER BY term, doc, col, offset",
    "triggers": "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name",
}


def several(count: int) -> list[Memory]:
    """Memories with tags and keys, of two sessions and of none."""
    chance = random.Random(7)
    return [
        a_memory(
            " ".join(chance.choices(WORDS, k=8)) + f" n{number}",
            at=NOW + number,
            tags=tuple(sorted(set(chance.choices("abc", k=2)))),
            key=f"key.{number}" if number % 3 else None,
            session=chance.choice([None, "s1", "s2"]),
        )
        for number in range(count)
    ]


def tables(store: SqliteStore) -> dict[str, list[tuple[object, ...]]]:
    """All tables about memories, without transaction numbers."""
    store._database._connection.execute("CREATE VIRTUAL TABLE temp.word_places USING fts5vocab(main, words, instance)")
    found = {name: [tuple(row) for row in store._database._connection.execute(sql)] for name, sql in TABLES.items()}
    found["memories"] = [(*row[:35], *row[36:]) for row in found["memories"]]
    found["vectors"] = [row[:4] for row in found["vectors"]]
    return found


@pytest.mark.parametrize("before", [0, 3], ids=["into an empty store", "with others"])
def test_inserting_many_at_once_equals_inserting_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    new = several(edits._MANY + before)
    changes = [
        Change(None, memory, Embedding("m", pack(np.array([0.6, 0.8], dtype=np.float32))) if memory.key else None)
        for memory in new
    ]
    with (
        contextlib.closing(SqliteStore(str(tmp_path / "a" / "memory.db"))) as at_once,
        contextlib.closing(SqliteStore(str(tmp_path / "b" / "memory.db"))) as one_by_one,
    ):
        at_once.commit(changes[:before])
        at_once.commit(changes[before:])
        monkeypatch.setattr(edits, "_MANY", len(changes) + 1)
        one_by_one.commit(changes)
        assert tables(at_once) == tables(one_by_one)


def test_many_memories_inserted_at_once_and_the_next_one_are_found(tmp_path: Path) -> None:
    with contextlib.closing(SqliteStore(str(tmp_path / "memory.db"))) as store:
        store.commit([Change(None, memory) for memory in several(edits._MANY)])
        store.commit([Change(None, a_memory("the last one of all"))])
        assert {memory.text for memory, _ in store.search(["last", "n7"], wanted(everywhere=True), 5)} >= {
            "the last one of all"
        }
        store._database._connection.execute(
            "INSERT INTO words(words, rank) VALUES ('integrity-check', 1)"
        )  # raises when it is inconsistent


def test_no_memory_is_stored_when_two_of_many_share_a_key(tmp_path: Path) -> None:
    new = [*several(edits._MANY), a_memory("the same key", key="key.1"), a_memory("once more", key="key.1")]
    with contextlib.closing(SqliteStore(str(tmp_path / "memory.db"))) as store:
        before = store._database._connection.execute(TABLES["triggers"]).fetchall()
        with pytest.raises(StaleWrite):
            store.commit([Change(None, memory) for memory in new])
        assert store.count(wanted(everywhere=True)) == 0
        assert [tuple(row) for row in store._database._connection.execute(TABLES["triggers"])] == [
            tuple(row) for row in before
        ]
