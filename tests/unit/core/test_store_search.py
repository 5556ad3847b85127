"""How the SQLite store keeps searches fast among many memories."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest

from contract.stores import a_memory, wanted
from keepmum.core import ranking
from keepmum.core.memory import Change, Filter
from keepmum.stores.sqlite import SqliteStore, lexical, rows
from keepmum.stores.sqlite import store as store_module

MANY = 60
WIDE, NARROW = wanted(everywhere=True), wanted()  # the second excludes four in five


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    """A store where every memory holds `common` and one holds each `n…`, and which counts as large."""
    monkeypatch.setattr(ranking, "MIN_MEMORIES", MANY)
    with contextlib.closing(SqliteStore(str(tmp_path / "memory.db"))) as opened:
        texts = [f"common n{number} every{number % 3}" for number in range(MANY)]
        opened.commit([Change(None, a_memory(text, project="alpha" if "n1" in text else "beta")) for text in texts])
        yield opened


def found(store: SqliteStore, *words: str, limit: int = MANY) -> set[str]:
    return {memory.text.split()[1] for memory, _ in store.search(words, wanted(everywhere=True), limit)}


def test_common_words_are_ignored_when_there_are_rare_ones(store: SqliteStore) -> None:
    assert found(store, "common", "n1", "n2") == {"n1", "n2"}


def test_common_words_are_looked_up_when_there_are_no_rarer_ones(store: SqliteStore) -> None:
    assert len(found(store, "common")) == MANY
    assert len(found(store, "common", "n1")) == MANY
    assert len(found(store, "common", "every0", "every1")) == MANY


def test_an_unknown_word_does_not_exclude_the_others(store: SqliteStore) -> None:
    assert len(found(store, "common", "n1", "nowhere")) == MANY


def test_the_best_come_first_among_many(store: SqliteStore) -> None:
    assert next(iter(store.search(["common", "n7"], wanted(everywhere=True), 3)))[0].text.startswith("common n7 ")


def test_a_passing_memory_is_found_among_many_that_do_not_pass(store: SqliteStore) -> None:
    limit = 2  # so that the best matches are of the other project
    only = [memory.text.split()[1] for memory, _ in store.search(["common"], wanted(), limit)]
    assert len(only) == limit
    assert all("n1" in name for name in only)


def test_with_too_many_matches_the_latest_memories_are_scored(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_MAX_MATCHES", 5)
    latest = {f"n{number}" for number in range(MANY - 6, MANY)}
    assert found(store, "common", limit=6) == latest
    assert found(store, "n3", "common") == {"n3"}, "a rare word is found wherever it stands"


def test_earlier_memories_are_scored_when_the_latest_do_not_pass(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_MAX_MATCHES", 5)
    assert {memory.project for memory, _ in store.search(["common"], wanted(), MANY)} == {"alpha"}
    assert len(found(store, "common")) == MANY


def test_common_words_are_ignored_when_not_all_matches_can_be_scored(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_MAX_MATCHES", MANY - 1)
    assert found(store, "n3", "common") == {"n3"}


def test_two_words_with_too_many_matches_are_both_searched_in_the_latest_memories(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "COMMON", 0.5)
    monkeypatch.setattr(lexical, "_MAX_MATCHES", 30)
    holding = [number for number in range(MANY) if number % 3 in {0, 1}]
    names = {int(name.removeprefix("n")) for name in found(store, "every0", "every1", limit=31)}
    assert sorted(names) == holding[-31:], "as many as can be weighed, and the one that they are counted from"


def test_a_search_starts_with_the_candidate_limit_that_the_last_one_needed(store: SqliteStore) -> None:
    asked = requested(store, [WIDE, NARROW, NARROW, WIDE, WIDE], ["common"])
    assert asked == [[4], [4, 16], [16], [16], [4]]


def test_a_selective_filter_is_applied_to_all_matches(store: SqliteStore) -> None:
    one = wanted(everywhere=True, keys="the-one")
    store.commit([Change(None, a_memory("common n99 every0", key="the-one"))])
    assert requested(store, [one, WIDE], ["common"]) == [[4, -1], [4]]
    assert [memory.key for memory, _ in store.search(["common"], one, 2)] == ["the-one"]


def test_a_common_word_is_counted_once_until_the_store_has_grown(store: SqliteStore) -> None:
    counted: list[Sequence[rows.SqlValue]] = []

    def query(sql: str, parameters: Sequence[rows.SqlValue]) -> list[sqlite3.Row]:
        if sql.startswith("SELECT (SELECT count(*)"):
            counted.append(list(parameters))
        return store._query(sql, parameters)

    words = lexical.LexicalSearch(query)
    asked = ["common", "n1", "n2"]
    first = [row[0] for row, _ in words.best("m.id", asked, WIDE, 5)]
    assert [row[0] for row, _ in words.best("m.id", asked, WIDE, 5)] == first
    store.commit([Change(None, a_memory(f"common n1 of {number}")) for number in range(2)])
    assert len(words.best("m.id", asked, WIDE, 5)) == len(first) + 2
    assert counted == [['"common"', '"n1"', '"n2"'], ['"n1"', '"n2"'], ['"common"', '"n1"', '"n2"']]


def requested(store: SqliteStore, filters: Sequence[Filter], words: Sequence[str], limit: int = 2) -> list[list[int]]:
    """The number of matches that each of these searches asked for; -1 for all."""
    asked: list[list[int]] = []

    def query(sql: str, parameters: Sequence[rows.SqlValue]) -> list[sqlite3.Row]:
        if lexical._MATCHING in sql:
            asked[-1].append(cast(int, parameters[2]))
        return store._query(sql, parameters)

    searched = lexical.LexicalSearch(query)
    for each in filters:
        asked.append([])
        searched.best("m.id", words, each, limit)
    return asked


@pytest.mark.parametrize("order", ["updated", "importance"])
def test_a_listing_reads_an_index_without_sorting(store: SqliteStore, order: str) -> None:
    condition, parameters = rows.where(wanted())
    tail = f"FROM memories m WHERE {condition} ORDER BY {store_module._ORDERS[order]} LIMIT 10"  # type: ignore[index] # an order
    plan = [
        row["detail"]
        for row in store._database._connection.execute(f"EXPLAIN QUERY PLAN SELECT m.text {tail}", parameters)
    ]
    assert not any("TEMP B-TREE" in step for step in plan), plan
