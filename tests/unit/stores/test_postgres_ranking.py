"""Both engines look up the same words of a query, and rank what holds them alike."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import postgres_server
from contract.stores import a_memory, wanted
from keepmum.core import ranking
from keepmum.core.memory import Change
from keepmum.stores import Store
from keepmum.stores.sqlite import SqliteStore

MEMORIES = 120
_OFTEN = [
    ("deploy", 0.9),
    ("pool", 0.3),
    ("blue", 0.1),
    ("rollback", 0.05),
    ("canary", 0.02),
]  # word, share of memories


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    """SQLite and PostgreSQL with the same memories, enough for common words to be left out."""
    chance = random.Random(7)
    texts = [
        " ".join([f"note {number}", *(word for word, share in _OFTEN if chance.random() < share)])
        for number in range(MEMORIES)
    ]
    changes = [Change(None, a_memory(text)) for text in texts]
    folder: Path = tmp_path_factory.mktemp("engines")
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "MIN_MEMORIES", MEMORIES)
        stores = [
            stack.enter_context(contextlib.closing(store))
            for store in (SqliteStore(str(folder / "memory.db")), postgres_server.open_at(folder))
        ]
        for store in stores:
            store.commit(changes, [])
        yield stores[0], stores[1]


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(["deploy", "pool", "blue", "rollback"], id="common words next to others"),
        pytest.param(["deploy", "pool", "blue"], id="one other word"),
        pytest.param(["deploy", "pool"], id="common words alone"),
        pytest.param(["blue", "canary"], id="no common word"),
        pytest.param(["blue-canary", "blue", "rollback", "deploy"], id="a phrase"),
        pytest.param(["rollbacks", "rollback", "blue", "canary"], id="two forms of a word"),
        pytest.param(["pools", "pooled", "blue"], id="two forms of a common word"),
        pytest.param(["rolback"], id="a misspelt word"),
        pytest.param(["rolback", "blue", "deploy"], id="a misspelt word next to others"),
        pytest.param(["rolback", "canery", "bluest", "deploying"], id="misspelt words next to others"),
    ],
)
def test_both_engines_find_the_same_memories_in_the_same_order(engines: tuple[Store, Store], query: list[str]) -> None:
    ours, theirs = ([memory.id for memory, _ in store.search(query, wanted(), 60)] for store in engines)
    assert ours
    assert theirs == ours


def test_common_words_are_left_out_next_to_others(engines: tuple[Store, Store]) -> None:
    for store in engines:
        found = store.search(["deploy", "pool", "blue", "rollback"], wanted(), MEMORIES)
        assert all({"blue", "rollback"} & set(memory.text.split()) for memory, _ in found)
