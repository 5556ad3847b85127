"""Reads that every store must support: filters, order, lexical search."""

from __future__ import annotations

from typing import Any

import pytest

from contract.store_parts import FIELDS, PASSES, found, put, required, texts
from contract.stores import NOW, a_memory, wanted
from keepmum.core.memory import LIMITS, Memory, Position
from keepmum.stores import Store

# -- filters, the same for every read


@pytest.mark.parametrize(("asked", "fields"), FIELDS)
def test_every_read_leaves_out(store: Store, asked: dict[str, Any], fields: dict[str, Any]) -> None:
    put(store, a_memory("a zebra", **fields))
    assert found(store, "zebra", **asked) == []
    assert store.browse(wanted(**asked)) == []
    assert store.count(wanted(**asked)) == 0


@pytest.mark.parametrize(("asked", "fields"), PASSES)
def test_every_read_lets_through(store: Store, asked: dict[str, Any], fields: dict[str, Any]) -> None:
    put(store, a_memory("a zebra", **fields))
    assert found(store, "zebra", **asked) == ["a zebra"]
    assert texts(store.browse(wanted(**asked))) == ["a zebra"]
    assert store.count(wanted(**asked)) == 1


def test_another_sessions_memories_stay_hidden_in_a_search_of_all_projects(store: Store) -> None:
    put(store, a_memory("a zebra", scope="session", session="s2", project="beta"))
    assert found(store, "zebra", everywhere=True, session="s1") == []


# -- order and paging


def test_the_latest_come_first(store: Store) -> None:
    put(store, *(a_memory(str(age), updated_at=NOW - age) for age in (2, 0, 1)))
    assert texts(store.browse(wanted())) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("order", "field"), [("created", "created_at"), ("accessed", "accessed_at"), ("importance", "importance")]
)
def test_a_listing_is_ordered_by_the_requested_field(store: Store, order: Any, field: str) -> None:
    for value in (0.25, 1.0, 0.5):
        put(store, a_memory(str(value), **{field: value if field == "importance" else int(NOW * value)}))
    assert texts(store.browse(wanted(), order=order)) == ["1.0", "0.5", "0.25"]


def test_pages_are_consecutive(store: Store) -> None:
    put(store, *(a_memory(str(age), updated_at=NOW - age) for age in range(7)))
    pages = [texts(store.browse(wanted(), limit=3, offset=offset)) for offset in (0, 3, 6)]
    assert pages == [["0", "1", "2"], ["3", "4", "5"], ["6"]]


@pytest.mark.parametrize("order", ["updated", "created", "accessed", "importance"])
def test_a_list_goes_on_after_a_memory(store: Store, order: Any) -> None:
    if store.features.remote is not None:
        pytest.skip("a server gives cursors of its own")
    put(
        store,
        *(a_memory(str(number), importance=number % 3 / 2, accessed_at=number % 2 or None) for number in range(7)),
    )
    listed: list[Memory] = store.browse(wanted(), order=order)
    after: list[Memory] = []
    while page := store.browse(wanted(after=Position.of(after[-1], order) if after else None), order=order, limit=3):
        after += page
    assert after == listed


def test_pages_are_consecutive_among_equal_values(store: Store) -> None:
    put(store, *(a_memory(str(number)) for number in range(7)))
    pages = [text for offset in range(7) for text in texts(store.browse(wanted(), limit=1, offset=offset))]
    assert sorted(pages) == [str(number) for number in range(7)]


def test_ids_in_a_range_come_in_order(store: Store) -> None:
    memories = sorted((a_memory(str(number), at=NOW + number) for number in range(4)), key=lambda memory: memory.id)
    put(store, *reversed(memories))
    assert store.between(memories[1].id, memories[3].id, 2) == memories[1:3]


def test_memories_come_in_the_order_of_the_requested_ids(store: Store) -> None:
    one, two = a_memory("one"), a_memory("two")
    put(store, one, two)
    assert store.get([two.id, "mem_unknown", one.id]) == [two, one]


def test_no_ids_give_no_memories(store: Store) -> None:
    put(store, a_memory())
    assert store.get([]) == []


# -- searching


def test_any_word_is_enough_and_more_words_rank_higher(store: Store) -> None:
    put(store, a_memory("postgres is slow"), a_memory("postgres migration plan"), a_memory("unrelated"))
    assert found(store, "postgres", "migration") == ["postgres migration plan", "postgres is slow"]


@pytest.mark.parametrize("field", ["title", "why", "key"])
def test_a_search_covers(store: Store, field: str) -> None:
    put(store, a_memory("plain", **{field: "zebra"}))
    assert found(store, "zebra") == ["plain"]


def test_a_search_covers_tags(store: Store) -> None:
    put(store, a_memory("plain", tags=("zebra",)))
    assert found(store, "zebra") == ["plain"]


def test_the_parts_of_an_identifier_are_found(store: Store) -> None:
    put(store, a_memory("call getUserName in user_service.py"))
    assert found(store, "name") == ["call getUserName in user_service.py"]
    assert found(store, "service") == ["call getUserName in user_service.py"]


def test_an_inflected_word_is_found(store: Store) -> None:
    put(store, a_memory("the migrations failed"))
    assert found(store, "migration") == ["the migrations failed"]


def test_relevance_is_greater_for_the_better_match(store: Store) -> None:
    put(store, a_memory("zebra zebra"), a_memory("a zebra among many other words about other things"))
    scores = [score for _, score in store.search(["zebra"], wanted(), 5)]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0


def test_a_search_returns_at_most_its_limit(store: Store) -> None:
    put(store, *(a_memory(f"zebra {number}") for number in range(5)))
    assert len(store.search(["zebra"], wanted(), 2)) == 2


def test_no_words_find_nothing(store: Store) -> None:
    put(store, a_memory())
    assert store.search([], wanted(), 5) == []


@pytest.mark.parametrize("word", ['"', "zebra*", "NEAR(zebra", "a AND", "-", "title:zebra", "\\", "%", "é́"])
def test_no_word_breaks_the_search(store: Store, word: str) -> None:
    put(store, a_memory("unrelated"))
    assert store.search([word], wanted(), 5) == []


# -- unicode and size


@pytest.mark.parametrize(
    "text", ["Größe ist 5 µm", "数据库选择", "🦓 zebra", "عربي", "a\ttab\nand a line", "'; DROP TABLE"]
)
def test_any_text_is_returned_unchanged(store: Store, text: str) -> None:
    memory = a_memory(text, key=text[:20].strip(), tags=(text[:20].strip(),))
    put(store, memory)
    assert store.get([memory.id]) == [memory]
    assert store.same_text(memory.space, text) == memory


def test_a_memory_at_every_limit_is_stored_whole(store: Store) -> None:
    memory = a_memory(
        "x" * LIMITS.text, title="t" * LIMITS.title, key="k" * LIMITS.key, why="w" * LIMITS.why,
        source="s" * LIMITS.source, tags=tuple(f"{number:0{LIMITS.tag}}" for number in range(LIMITS.tags)),
        data={"d": "y" * (LIMITS.data - 100)},
    )  # fmt: skip
    put(store, memory)
    assert store.get([memory.id]) == [memory]


def test_a_listing_filters_by_key_pattern_and_tier(store: Store) -> None:
    put(store, a_memory("1", key="deploy.pool", tier="long", at=NOW + 3), a_memory("2", key="deploy", at=NOW + 2))
    put(store, a_memory("3", key="a.deploy.pool", at=NOW + 1), a_memory("4"))
    later = {"now": NOW + 5}
    assert texts(store.browse(wanted(keys="deploy.*", **later))) == ["1"]
    assert texts(store.browse(wanted(keys="*deploy*", **later))) == ["1", "2", "3"]
    assert texts(store.browse(wanted(keys="deploy.?ool", **later))) == []
    assert texts(store.browse(wanted(tier="long", **later))) == ["1"]


@pytest.mark.parametrize("why", [None, "the nightly report is written by the scheduler"])
def test_memories_that_share_most_words_are_near_without_vectors(store: Store, why: str | None) -> None:
    """The words of their titles and texts, whether or not the reasons hold them too."""
    if store.features.remote is not None or store.features.versions is None:
        pytest.skip("a server gives its memories ids of its own, or the store cannot look up versions")
    written = [f"the nightly report is written at {hour} by the scheduler" for hour in ("two", "four")]
    old, new = (a_memory(text, why=why) for text in written)
    put(store, old, new, a_memory("a zebra runs", why=written[0]))
    near = required(store.features.versions).near([old], wanted(), 0.9)
    assert [(one.id, one.memory.id, one.cosine) for one in near] == [(old.id, new.id, None)]
