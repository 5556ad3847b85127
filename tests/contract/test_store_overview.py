"""Reads for an overview that every store must support: pages of the log, counts, outlines; and decisions of reviews."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest

from contract.store_parts import Opener, put, required
from contract.stores import NOW, a_memory, an_event, wanted
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Change, DayCount, Embedding, LogFilter, Memory, WrongMark
from keepmum.core.retention import DAY_MS
from keepmum.stores import Store

# -- the activity log


def _details(store: Store, limit: int, **wanted_entries: Any) -> list[str]:
    return [event.detail for event in store.activity(limit, None, LogFilter(**wanted_entries))]


def test_the_log_is_read_in_pages(store: Store) -> None:
    for number in range(7):
        store.log([an_event(detail=str(number), at=NOW + number)])
    pages, after = [], ""
    while page := store.activity(3, "alpha", after=after):
        pages.append([event.detail for event in page])
        after = page[-1].cursor
    assert pages == [["6", "5", "4"], ["3", "2", "1"], ["0"]]


def test_an_entry_that_is_added_meanwhile_shifts_no_page(store: Store) -> None:
    store.log([an_event(detail="1"), an_event(detail="2")])
    (latest,) = store.activity(1)
    store.log([an_event(detail="3")])
    assert [event.detail for event in store.activity(9, None, after=latest.cursor)] == ["1"]


@pytest.mark.parametrize("cursor", ["x", "-1", "1 OR 1", "9" * 40, "other=1"])
def test_a_wrong_cursor_is_refused(store: Store, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        store.activity(1, None, after=cursor)


def test_the_log_is_filtered(store: Store) -> None:
    one = a_memory("one")
    store.commit([Change(None, one)], [an_event(one, agent="codex", detail="first", at=NOW - 1)])
    store.log([an_event(action="refused", detail="second"), an_event(action="recalled", agent="codex", detail="third")])
    assert _details(store, 9, agent="codex") == ["third", "first"]
    assert _details(store, 9, actions=("refused", "created")) == ["second", "first"]
    assert _details(store, 9, since=NOW) == ["third", "second"]
    assert _details(store, 9, memory=one.id) == ["first"]


def test_activity_is_counted_by_day_agent_action_and_project(store: Store) -> None:
    day = NOW // DAY_MS
    store.log([an_event(at=day * DAY_MS - 1), an_event(at=day * DAY_MS), an_event(at=day * DAY_MS + 5)])
    store.log([an_event(at=day * DAY_MS, agent="codex", action="refused", project="beta")])
    everything = [
        DayCount(day - 1, "tester", "created", "alpha", 1),
        DayCount(day, "codex", "refused", "beta", 1),
        DayCount(day, "tester", "created", "alpha", 2),
    ]
    assert store.activity_days(0) == everything
    assert store.activity_days(day * DAY_MS, "alpha") == everything[2:]


# -- counts and outlines


def test_values_are_counted(store: Store) -> None:
    put(store, a_memory("one", tags=("a", "b"), agent="codex"), a_memory("two", tags=("b",)), a_memory("three"))
    facets = store.facets(wanted())
    assert facets.agents == {"codex": 1, "tester": 2}
    assert facets.tags == {"a": 1, "b": 2}
    assert facets.statuses == {"active": 3}
    assert sum(facets.kinds.values()) == sum(facets.trusts.values()) == 3


@pytest.mark.parametrize(
    ("asked", "fields"),
    [
        pytest.param({}, {"project": "beta"}, id="another project"),
        pytest.param({"kinds": ("decision",)}, {"kind": "note"}, id="another kind"),
        pytest.param({"tags": ("a",)}, {"tags": ("b",)}, id="another tag"),
        pytest.param({}, {"status": "trashed"}, id="in the trash"),
        pytest.param({}, {"expires_at": NOW}, id="expired this moment"),
    ],
)
def test_what_a_filter_leaves_out_is_neither_counted_nor_outlined(
    store: Store, asked: dict[str, Any], fields: dict[str, Any]
) -> None:
    put(store, a_memory("a zebra", **fields))
    assert [dict(counts) for counts in store.facets(wanted(**asked))] == [{}] * 5
    assert store.outlines(wanted(**asked)) == []


def test_an_outline_has_the_fields_of_the_memory(store: Store) -> None:
    memory = a_memory("one", kind="decision", expires_at=NOW + 5)
    put(store, memory)
    (outline,), (stored,) = store.outlines(wanted()), store.browse(wanted())
    shared = ("revision", "kind", "tier", "updated_at", "expires_at", "trust", "pinned", "access_count")
    assert [getattr(outline, name) for name in shared] == [getattr(stored, name) for name in shared]


def test_the_number_of_changes_differs_after_a_change(store: Store) -> None:
    before = store.changes()
    put(store, a_memory())
    assert store.changes() != before
    assert store.changes() == store.changes()


# -- reviews

MARK = WrongMark("mem_1", NOW, "ada", "it is Postgres 17")


def _vector(*values: float) -> Embedding:
    return Embedding("model", struct.pack(f"<{len(values)}e", *values))


def _marked(store: Store, memory: Memory, embedding: Embedding | None = None) -> WrongMark:
    mark = MARK._replace(memory=memory.id)
    required(store.features.review_state).mark_wrong(memory, mark, embedding)
    return mark


def test_a_mark_is_found_by_the_same_text(opener: Opener) -> None:
    memory = a_memory("It runs  on POSTGRES 16")
    mark = _marked(opener(), memory)
    state = required(opener().features.review_state)
    assert state.wrong_like([memory.space], "it runs on postgres 16", None, 0.9) == [(mark, 1.0)]
    assert state.wrong_like([memory.space], "it runs on postgres 17", None, 0.9) == []
    assert state.wrong_like([replace(memory, user="bob").space], memory.text, None, 0.9) == []


def test_a_mark_is_found_by_a_similar_vector_of_the_same_model(store: Store) -> None:
    memory = a_memory("one")
    mark = _marked(store, memory, _vector(1, 0))
    state = required(store.features.review_state)
    assert state.wrong_like([memory.space], "two", _vector(1, 0), 0.9) == [(mark, 1.0)]
    assert state.wrong_like([memory.space], "two", _vector(0, 1), 0.9) == []
    assert state.wrong_like([memory.space], "two", replace(_vector(1, 0), model="other"), 0.9) == []
    assert state.wrong_like([memory.space], "two", _vector(1, 0, 0), 0.9) == []


def test_a_mark_outlives_a_purge(store: Store) -> None:
    put(store, a_memory("one"))
    (memory,) = store.browse(wanted())
    mark = _marked(store, memory)
    store.commit([Change(memory, None)])
    state = required(store.features.review_state)
    assert state.wrong_like([memory.space], "one", None, 0.9) == [(mark, 1.0)]


def test_a_mark_can_be_removed(store: Store) -> None:
    memory = a_memory("one")
    _marked(store, memory)
    state = required(store.features.review_state)
    assert (state.unmark_wrong([memory.id]), state.unmark_wrong([memory.id])) == (1, 0)
    assert state.wrong_like([memory.space], "one", None, 0.9) == []


def test_the_reason_of_a_mark_is_redacted(store: Store) -> None:
    memory = a_memory("one")
    _marked(store, memory)
    erasure = required(store.features.erasure)
    erasure.cleanse([], [], lambda _, values: {**values, "reason": "-"} if "reason" in values else values)
    ((mark, _),) = required(store.features.review_state).wrong_like([memory.space], "one", None, 0.9)
    assert mark.reason == "-"


def test_an_item_is_postponed_until_its_time(opener: Opener) -> None:
    state = required(opener().features.review_state)
    state.postpone("a", NOW, None)
    state.postpone("b", NOW, NOW + 10)
    again = required(opener().features.review_state)
    assert again.postponed(NOW + 9) == {"a", "b"}
    assert again.postponed(NOW + 10) == {"a"}
    again.resume_item("a")
    assert state.postponed(NOW + 10) == frozenset()
