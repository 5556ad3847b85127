"""Writes that every store must support (`keepmum.stores.base.Store`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from contract.store_parts import Opener, found, put, required, texts
from contract.stores import EXCUSED, NOW, a_memory, an_event, wanted
from keepmum.core.memory import Change, Citation, Filter
from keepmum.core.retention import DAY_MS
from keepmum.stores import StaleWrite, Store

# -- writing


def test_a_memory_is_returned_unchanged(store: Store) -> None:
    whole = a_memory(
        key="db.choice", why="licence", kind="decision", tags=("db", "choice"), session="s1", tier="long",
        importance=0.9, confidence=0.3, data={"a": [1, None, {"b": "ü"}]}, git={"commit": "abc"}, source="README:3",
        origin="cli", accessed_at=NOW - 5, access_count=7, expires_at=NOW + 9, supersedes="mem_x", revision=4,
    )  # fmt: skip
    put(store, whole)
    assert store.get([whole.id]) == [whole]


CITED = (
    Citation(path="src/a.py", commit="a" * 40, blob="1e10" * 10, symbol="A.b", line=3, digest="c" * 32),
    Citation(path="README", commit="a" * 40, blob="0" * 40),
)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"trust": "person", "source_kind": "user", "pinned": True}, id="a person's"),
        pytest.param({"trust": "person", "confirmed_at": NOW - 9, "confirmed_by": "ada"}, id="confirmed"),
        pytest.param({"trust": "team", "pinned": True}, id="the team's"),
        pytest.param({"trust": "outside", "source_kind": "web"}, id="from outside"),
        pytest.param({"citations": CITED}, id="with citations"),
        pytest.param({"citations": ()}, id="with no citation"),
    ],
)
def test_trust_and_citations_are_returned_unchanged(opener: Opener, fields: dict[str, Any]) -> None:
    store, memory = opener(), a_memory(**fields)
    put(store, memory)
    store.close()
    assert opener().get([memory.id]) == [memory]


def test_a_commit_is_visible_to_other_processes_at_once(opener: Opener) -> None:
    writer, reader = opener(), opener()
    memory = a_memory()
    put(writer, memory)
    assert reader.get([memory.id]) == [memory]


def test_a_commit_survives_a_restart(opener: Opener) -> None:
    first = opener()
    memory = a_memory()
    put(first, memory)
    first.close()
    assert opener().get([memory.id]) == [memory]


def test_an_update_replaces_the_memory_and_its_index_entries(store: Store) -> None:
    old = a_memory("We chose Postgres")
    put(store, old)
    new = replace(old, text="We chose Oracle", title="We chose Oracle", revision=2)
    store.commit([Change(old, new)])
    assert store.get([old.id]) == [new]
    assert found(store, "oracle") == ["We chose Oracle"]
    assert found(store, "postgres") == []


def test_a_change_of_a_stale_revision_is_refused(opener: Opener) -> None:
    here, there = opener(), opener()
    old = a_memory()
    put(here, old)
    there.commit([Change(old, replace(old, text="theirs", revision=2))])
    with pytest.raises(StaleWrite):
        here.commit([Change(old, replace(old, text="ours", revision=2))])
    assert texts(here.get([old.id])) == ["theirs"]


def test_a_refused_transaction_stores_nothing(store: Store) -> None:
    old = a_memory("old words", key="taken")
    put(store, old)
    with pytest.raises(StaleWrite):
        store.commit(
            [Change(None, a_memory("fresh words")), Change(None, a_memory("other words", key="taken"))], [an_event(old)]
        )
    assert found(store, "words") == ["old words"]
    assert store.activity(10) == []


def test_a_purge_removes_memory_index_entries_and_history(store: Store) -> None:
    old = a_memory("a zebra", tags=("animal",))
    new = replace(old, text="another zebra", revision=2)
    put(store, old)
    store.commit([Change(old, new)])
    store.commit([Change(new, None)])
    assert store.get([old.id]) == []
    assert found(store, "zebra") == []
    assert store.history(old.id) == []
    assert store.count(wanted(tags=("animal",))) == 0


def test_a_purge_removes_the_text_from_the_activity_log(store: Store) -> None:
    memory = a_memory("a zebra", key="animals.first")
    store.commit([Change(None, memory)], [an_event(memory)])
    store.commit([Change(memory, None)], [an_event(memory, action="purged", key=None, detail="")])
    assert [(event.action, event.key, event.detail) for event in store.activity(9)] == [
        ("purged", None, ""),
        ("created", None, ""),
    ]


def test_a_purge_of_a_stale_revision_is_refused(store: Store) -> None:
    old = a_memory()
    put(store, old)
    store.commit([Change(old, replace(old, text="theirs", revision=2))])
    with pytest.raises(StaleWrite):
        store.commit([Change(old, None)])
    assert texts(store.get([old.id])) == ["theirs"]
    assert len(store.history(old.id)) == 1


def test_an_id_is_unique(store: Store) -> None:
    memory = a_memory()
    put(store, memory)
    with pytest.raises(StaleWrite):
        put(store, replace(memory, text="another"))


def test_loading_is_counted_and_makes_no_pending_change_stale(opener: Opener) -> None:
    here, there = opener(), opener()
    old = a_memory()
    put(here, old)
    there.reinforce([old.id], NOW + 5)
    there.reinforce([old.id], NOW + 6)
    here.commit([Change(old, replace(old, text="changed", revision=2))])
    memory = here.get([old.id])[0]
    assert (memory.text, memory.access_count, memory.accessed_at) == ("changed", 2, NOW + 6)


# -- keys and duplicates


def test_a_key_is_unique_among_the_active_memories_of_its_space(store: Store) -> None:
    put(store, a_memory("first", key="k"))
    with pytest.raises(StaleWrite):
        put(store, a_memory("second", key="k"))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"project": "beta"}, id="another project"),
        pytest.param({"scope": "global", "project": None}, id="the global space"),
        pytest.param({"scope": "session", "session": "s1"}, id="a session"),
        pytest.param({"user": "ada"}, id="another user"),
    ],
)
def test_a_key_may_be_used_in_another_space(store: Store, other: dict[str, Any]) -> None:
    here, there = a_memory("here", key="k"), a_memory("there", key="k", **other)
    put(store, here, there)
    assert store.by_key(here.space, "k") == here
    assert store.by_key(there.space, "k") == there


@pytest.mark.parametrize("status", ["archived", "superseded", "tombstoned", "trashed"])
def test_an_inactive_memory_frees_its_key(store: Store, status: Any) -> None:
    old = a_memory("old", key="k")
    put(store, old)
    store.commit([Change(old, replace(old, status=status, revision=2))])
    assert store.by_key(old.space, "k") is None
    put(store, a_memory("new", key="k"))


def test_a_key_can_move_between_memories_in_one_transaction(store: Store) -> None:
    old = a_memory("old", key="k")
    put(store, old)
    new = a_memory("new", key="k", supersedes=old.id)
    store.commit([Change(old, replace(old, status="superseded", revision=2)), Change(None, new)])
    assert store.by_key(old.space, "k") == new


def test_the_last_memory_with_a_key_is_found(store: Store) -> None:
    for number in (1, 2):
        memory = a_memory(f"value {number}", key="k", at=NOW + number)
        put(store, memory)
        store.commit([Change(memory, replace(memory, status="trashed", revision=2))])
    last = store.last_by_key(a_memory().space, "k")
    assert last is not None
    assert last.text == "value 2"
    assert store.last_by_key(a_memory().space, "unknown") is None


def test_the_same_text_is_found_despite_whitespace_and_case(store: Store) -> None:
    memory = a_memory("Use  tabs\nhere")
    put(store, memory)
    assert store.same_text(memory.space, "use tabs HERE") == memory
    assert store.same_text(memory.space, "use tabs there") is None
    assert store.same_text(a_memory(project="beta").space, "use tabs here") is None


# -- history and activity


def test_history_lists_former_revisions_latest_first(store: Store) -> None:
    one = a_memory("one")
    two = replace(one, text="two", revision=2, updated_by="bob")
    put(store, one)
    store.commit([Change(one, two)], [an_event(two, action="updated", agent="bob", at=NOW + 1)])
    store.commit([Change(two, replace(two, text="three", revision=3))])
    past = store.history(one.id)
    assert [revision.before["text"] for revision in past] == ["two", "one"]
    assert (past[1].action, past[1].agent, past[1].at, past[1].revision) == ("updated", "bob", NOW + 1, 1)


def test_activity_is_listed_latest_first_and_by_project(store: Store) -> None:
    store.log([an_event(project="alpha", detail="1"), an_event(project="beta", detail="2"), an_event(detail="3")])
    assert [event.detail for event in store.activity(10)] == ["3", "2", "1"]
    assert [event.detail for event in store.activity(10, "alpha")] == ["3", "1"]
    assert [event.detail for event in store.activity(1)] == ["3"]


def test_activity_is_returned_unchanged(store: Store) -> None:
    event = an_event(action="refused", agent="codex", detail="aws.access-key", memory=None, key="k")
    store.log([event])
    assert store.activity(1) == [event]


# -- time


def test_a_tick_returns_the_previous_tick_of_any_process(opener: Opener) -> None:
    here, there = opener(), opener()
    assert required(here.features.local_state).tick(NOW) == 0
    assert required(there.features.local_state).tick(NOW + 7) == NOW
    assert required(here.features.local_state).tick(NOW - 9) == NOW + 7


def test_only_memories_that_may_be_due_are_fading(store: Store) -> None:
    changed = [
        a_memory("expired", kind="decision", tier="long", expires_at=NOW),
        a_memory("trashed", tier="long", status="trashed", trashed_at=NOW - 30 * DAY_MS),
        a_memory("may fade", tier="mid"),
    ]
    put(
        store,
        *changed,
        a_memory("lasts", tier="long"),
        a_memory("is not due", tier="long", expires_at=NOW + 1),
        a_memory("superseded", status="superseded"),
        a_memory("archived", status="archived"),
        a_memory("just trashed", tier="long", status="trashed", trashed_at=NOW),
    )
    due = required(store.features.aging).fading(NOW, trashed_by=NOW - 30 * DAY_MS, limit=10)
    assert sorted(texts(due)) == ["expired", "may fade", "trashed"]


def test_certainly_due_memories_come_first(store: Store) -> None:
    put(store, *(a_memory(f"old {number}", at=NOW - 9 * DAY_MS) for number in range(5)))
    put(store, a_memory("expired", expires_at=NOW))
    put(store, a_memory("trashed", status="trashed", trashed_at=NOW - 40 * DAY_MS))
    due = required(store.features.aging).fading(NOW, trashed_by=NOW - 30 * DAY_MS, limit=2)
    assert sorted(texts(due)) == ["expired", "trashed"]


# -- folders and health


def test_project_folders_are_listed_latest_first(store: Store) -> None:
    required(store.features.local_state).remember_root("/a", "alpha", "Alpha", NOW - 5)
    required(store.features.local_state).remember_root("/b", "beta", "Beta", NOW)
    assert required(store.features.local_state).roots(NOW - 9) == [("/b", "beta", "Beta"), ("/a", "alpha", "Alpha")]
    assert required(store.features.local_state).roots(NOW - 1) == [("/b", "beta", "Beta")]


def test_a_folder_belongs_to_its_latest_project(store: Store) -> None:
    required(store.features.local_state).remember_root("/a", "alpha", "Alpha", NOW)
    required(store.features.local_state).remember_root("/a", "beta", "Beta", NOW + 1)
    assert required(store.features.local_state).roots(0) == [("/a", "beta", "Beta")]


def test_health_counts_stored_and_indexed_memories(store: Store) -> None:
    put(store, a_memory("one"), a_memory("two", status="archived"))
    health = store.health()
    assert (health["integrity"], health["memories"], health["indexed"]) == ("ok", 2, 2)
    assert health["statuses"] == {"active": 1, "archived": 1}


def test_upkeep_changes_no_memory(store: Store) -> None:
    memory = a_memory()
    put(store, memory)
    required(store.features.maintenance).upkeep(NOW)
    assert store.get([memory.id]) == [memory]


def test_upkeep_prunes_old_activity(store: Store) -> None:
    store.log([an_event(at=NOW - 91 * DAY_MS, detail="old"), an_event(at=NOW, detail="new")])
    required(store.features.maintenance).upkeep(NOW)
    assert [event.detail for event in store.activity(9)] == ["new"]


def test_a_new_store_is_empty_and_writable(store: Store) -> None:
    assert store.capabilities.writable
    assert store.notice == ""
    assert store.count(Filter(now=NOW, everywhere=True)) == 0


def test_every_excused_test_matches_a_missing_guarantee(opener: Opener, request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.params["opener"]
    assert set(EXCUSED.get(name, {}).values()) <= set(opener().capabilities.cannot)
