"""Spelling correction of query words that no memory holds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.stores import a_memory, wanted
from keepmum.core import ranking
from keepmum.core.memory import Change
from keepmum.core.spelling import is_typo
from keepmum.stores.sqlite import SqliteStore, lexical

TEXTS = (
    "connections are pooled",
    "databases are sharded",
    "the parser skips blanks",
    "a parcel is late",
    "größere Flächen",
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with contextlib.closing(SqliteStore(str(tmp_path / "memory.db"))) as opened:
        opened.commit([Change(None, a_memory(text)) for text in TEXTS])
        yield opened


def found(store: SqliteStore, *words: str) -> set[str]:
    return {memory.text for memory, _ in store.search(words, wanted(), 10)}


@pytest.mark.parametrize(
    ("word", "text"),
    [
        pytest.param("conection", "connections are pooled", id="a letter was omitted"),
        pytest.param("connecttion", "connections are pooled", id="a letter was inserted"),
        pytest.param("connaction", "connections are pooled", id="a letter was changed"),
        pytest.param("conenction", "connections are pooled", id="two letters were swapped"),
        pytest.param("databsae", "databases are sharded", id="a word whose stem has a stem"),
        pytest.param("größree", "größere Flächen", id="with letters that English lacks"),
    ],
)
def test_a_typo_finds_the_intended_word(store: SqliteStore, word: str, text: str) -> None:
    assert found(store, word) == {text}


@pytest.mark.parametrize(
    ("word", "texts"),
    [
        pytest.param("parcels", {"a parcel is late"}, id="a word that a memory holds"),
        pytest.param("parcl", set(), id="a short word"),
        pytest.param("cnonection", set(), id="another prefix"),
        pytest.param("conetion", set(), id="two typos"),
        pytest.param("conection2", set(), id="an identifier"),
    ],
)
def test_only_typos_are_corrected(store: SqliteStore, word: str, texts: set[str]) -> None:
    assert found(store, word) == texts


def test_a_known_word_is_not_corrected(store: SqliteStore) -> None:
    store.commit([Change(None, a_memory("a conection of islands"))])
    assert found(store, "conection") == {"a conection of islands"}


def test_a_query_in_another_language_is_not_corrected(store: SqliteStore) -> None:
    assert found(store, "conection", "llamada", "tiempo", "espera") == set()


def test_a_typo_is_corrected_among_other_words_in_a_larger_store(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "MIN_MEMORIES", 1)
    assert found(store, "conection", "parcel", "sharded") == set(TEXTS[:2]) | {TEXTS[3]}
    assert found(store, "conection", "nowhere", "anywhere") == {TEXTS[0]}


def test_in_a_large_store_no_word_is_corrected(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "MIN_MEMORIES", 1)
    monkeypatch.setattr(lexical, "MOST_MEMORIES", len(TEXTS) - 1)
    assert found(store, "conection", "nowhere", "anywhere") == set()


@pytest.mark.parametrize(
    ("one", "other", "typo"),
    [
        ("word", "word", True),
        ("word", "wird", True),
        ("word", "wod", True),
        ("wod", "word", True),
        ("word", "wrod", True),
        ("word", "words", True),
        ("word", "wordly", False),
        ("word", "drow", False),
        ("abcd", "badc", False),
    ],
)
def test_a_typo_is_one_letter(one: str, other: str, typo: bool) -> None:  # noqa: FBT001 - a table
    assert is_typo(one, other) is typo
