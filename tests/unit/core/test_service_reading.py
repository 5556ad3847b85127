"""Recall, load and lookup by key: the results, their order, and what counts as use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from contract.stores import a_memory
from keepmum.core import ids
from keepmum.core.errors import Ambiguous, InvalidInput, NotFound, StoreBusy
from keepmum.core.memory import Activity, Change, LogFilter, Memory
from keepmum.service import MemoryService
from unit.core.service_parts import Clock, OpenService


def texts(service: MemoryService, *args: Any, **options: Any) -> list[str]:
    return [match.memory.text for match in service.recall(*args, **options)]


# -- recall


def test_a_question_in_natural_language_finds_its_answer(service: MemoryService) -> None:
    service.remember("We keep everything in Postgres; it is our database")
    service.remember("The office has a coffee machine")
    assert texts(service, "What database does the project use?")[0].startswith("We keep everything in Postgres")


def test_a_question_of_stop_words_is_still_asked(service: MemoryService) -> None:
    service.remember("To be or not to be")
    assert texts(service, "to be or not to be") == ["To be or not to be"]


def test_without_a_question_the_latest_come_first(service: MemoryService, clock: Clock) -> None:
    for number in range(3):
        service.remember(f"memory {number}")
        clock.advance(seconds=1)
    assert texts(service) == ["memory 2", "memory 1", "memory 0"]
    assert texts(service, limit=1, offset=1) == ["memory 1"]


def test_pages_of_a_search_are_consecutive(service: MemoryService) -> None:
    for number in range(5):
        service.remember("zebra " * (number + 1) + "end")
    whole = texts(service, "zebra", limit=5)
    assert [text for page in range(5) for text in texts(service, "zebra", limit=1, offset=page)] == whole


def test_memories_of_another_project_rank_lower_in_a_search_of_all(open_memory: OpenService) -> None:
    open_memory(place={"project": "beta"}).remember("zebra stripes of beta")
    here = open_memory()
    here.remember("zebra stripes of alpha")
    assert texts(here, "zebra stripes") == ["zebra stripes of alpha"]
    assert texts(here, "zebra stripes", scope="all") == ["zebra stripes of alpha", "zebra stripes of beta"]


def test_a_faded_memory_ranks_lower_and_is_still_found(service: MemoryService, clock: Clock) -> None:
    service.remember("zebra one of two")
    clock.advance(days=100)
    service.remember("zebra two of two")
    assert texts(service, "zebra two") == ["zebra two of two", "zebra one of two"]
    assert texts(service, "zebra one") == ["zebra one of two", "zebra two of two"]


@pytest.mark.parametrize(("wrong", "field"), [({"scope": "galaxy"}, "scope"), ({"kinds": ["poem"]}, "kinds")])
def test_a_filter_that_does_not_exist_is_named(service: MemoryService, wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        service.recall("x", **wrong)
    assert refusal.value.field == field


@pytest.mark.parametrize("query", ["x" * 1001, "a\x00b", "\ud800"])
def test_an_invalid_query_is_refused(service: MemoryService, query: str) -> None:
    with pytest.raises(InvalidInput, match="query"):
        service.recall(query)


# -- load


def test_recalling_does_not_reinforce(service: MemoryService) -> None:
    memory = service.remember("zebra").memory
    service.recall("zebra")
    service.find(memory.id)
    service.resume()
    assert service.find(memory.id).access_count == 0


def test_loading_reinforces(service: MemoryService, clock: Clock) -> None:
    memory = service.remember("zebra").memory
    clock.advance(days=1)
    service.load([memory.id])
    service.load([memory.id])
    loaded = service.find(memory.id)
    assert (loaded.access_count, loaded.accessed_at, loaded.revision) == (2, clock.now, 1)


def test_a_memory_named_twice_is_loaded_once(service: MemoryService) -> None:
    memory = service.remember("zebra", key="animal").memory
    assert service.load([memory.id, "animal"]) == [memory]
    assert service.find("animal").access_count == 1


def test_one_unknown_name_loads_nothing(service: MemoryService) -> None:
    service.remember("zebra", key="animal")
    with pytest.raises(NotFound):
        service.load(["animal", "unknown"])
    assert service.find("animal").access_count == 0


def test_a_store_that_cannot_count_use_can_be_read(service: MemoryService, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> None:
        raise StoreBusy

    memory = service.remember("zebra").memory
    monkeypatch.setattr(service.store, "reinforce", busy)
    assert service.load([memory.id]) == [memory]


def test_a_text_that_an_answer_gave_counts_as_used_with_a_later_write(open_memory: OpenService) -> None:
    service = open_memory()
    memory = service.remember("zebra").memory
    service.note_use([memory.id])
    assert service.find(memory.id).access_count == 0
    service.activity()
    assert (service.find(memory.id).access_count, service.find(memory.id).revision) == (1, 1)
    service.note_use([memory.id])
    service.close()
    assert open_memory().find(memory.id).access_count == 2


def test_a_use_that_could_not_be_written_is_written_later(
    service: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> None:
        raise StoreBusy

    memory = service.remember("zebra").memory
    service.note_use([memory.id])
    with monkeypatch.context() as patched:
        patched.setattr(service.store, "reinforce", busy)
        with pytest.raises(StoreBusy):
            service.activity()
    service.activity()
    assert service.find(memory.id).access_count == 1


# -- what a memory replaced


def test_a_new_value_replaced_the_one_before(service: MemoryService) -> None:
    service.remember("18 connections", key="pool")
    service.remember("24 connections", key="pool")
    memory = service.remember("24 connections", key="pool", importance=0.9).memory
    assert service.replaced([memory])[memory.id].text == "18 connections"


def test_a_memory_replaced_the_one_that_it_supersedes(service: MemoryService) -> None:
    old = service.remember("18 connections").memory
    new = service.remember("24 connections", supersedes=old.id).memory
    assert service.replaced([old, new])[new.id].text == "18 connections"
    assert old.id not in service.replaced([old, new])


# -- keys and ids


@pytest.fixture
def kept(service: MemoryService) -> Memory:
    return service.remember("zebra", key="animal").memory


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param(lambda memory: memory.key, id="key"),
        pytest.param(lambda memory: memory.id, id="id"),
        pytest.param(lambda memory: memory.id.upper(), id="id in capitals"),
        pytest.param(lambda memory: memory.id.removeprefix("mem_"), id="id without its prefix"),
        pytest.param(lambda memory: ids.to_uuid(memory.id), id="UUID"),
        pytest.param(lambda memory: ids.to_uuid(memory.id).replace("-", ""), id="UUID without hyphens"),
        pytest.param(lambda memory: memory.id[:12], id="beginning of the id"),
        pytest.param(lambda memory: ids.to_uuid(memory.id)[:13], id="beginning of the UUID"),
        pytest.param(lambda memory: f"  {memory.id}\n", id="blanks around"),
    ],
)
def test_a_memory_is_found_by(service: MemoryService, kept: Memory, spelling: Any) -> None:
    assert service.find(spelling(kept)) == kept


@pytest.mark.parametrize("name", ["", "zzz", "mem_", "mem_01", "unknown.key", "mem_" + "z" * 27, "0" * 32, "-", "🦓"])
def test_an_unknown_name_is_not_found(service: MemoryService, kept: Memory, name: str) -> None:
    assert kept.key == "animal"
    with pytest.raises(NotFound):
        service.find(name)


def test_an_ambiguous_id_prefix_lists_the_ids(service: MemoryService) -> None:
    one, two = (service.remember(f"zebra {number}").memory for number in range(2))
    with pytest.raises(Ambiguous) as refusal:
        service.find(one.id[:10])
    assert one.id in str(refusal.value)
    assert two.id in str(refusal.value)


def test_a_key_comes_before_an_id_that_looks_like_it(service: MemoryService) -> None:
    other = service.remember("zebra").memory
    keyed = service.remember("gnu", key=other.id).memory
    assert service.find(other.id).id == keyed.id


# -- time to live


def test_an_expired_memory_is_invisible_at_once_and_everywhere(service: MemoryService, clock: Clock) -> None:
    memory = service.remember("zebra", key="animal", kind="decision", ttl_seconds=60).memory
    clock.advance(seconds=59.999)
    assert texts(service, "zebra") == ["zebra"]
    clock.advance(seconds=0.001)
    assert texts(service, "zebra") == texts(service) == texts(service, scope="all") == []
    assert (service.count(), service.resume(), service.brief(), list(service.every())) == (0, "", "", [])
    for name in ("animal", memory.id):
        with pytest.raises(NotFound):
            service.load([name])


def test_a_time_to_live_restarts_with_each_write_that_gives_one(service: MemoryService, clock: Clock) -> None:
    service.remember("zebra", key="animal", ttl_seconds=60)
    clock.advance(seconds=30)
    service.remember("zebra", key="animal", ttl_seconds=60)
    clock.advance(seconds=59)
    assert texts(service) == ["zebra"]


def test_an_expired_memory_can_be_brought_back(service: MemoryService, clock: Clock) -> None:
    memory = service.remember("zebra", key="animal", ttl_seconds=60).memory
    clock.advance(days=1)
    assert service.undo(memory.id).action == "restored"
    clock.advance(days=1)
    assert service.find("animal").expires_at is None


# -- activity


def test_activity_lists_agent_action_and_memory(open_memory: OpenService, clock: Clock) -> None:
    here, there = open_memory("claude-code"), open_memory("codex")
    memory = here.remember("Use tabs", key="style").memory
    clock.advance(seconds=1)
    there.remember("Use blanks", key="style")
    there.load(["style"])
    there.recall("blanks")
    here.forget(["style"])
    events = [(event.agent, event.action, event.memory, event.key) for event in there.activity()]
    assert events == [
        ("codex", "recalled", None, None),
        ("codex", "loaded", memory.id, "style"),
        ("claude-code", "trashed", memory.id, "style"),
        ("codex", "conflict", memory.id, "style"),
        ("claude-code", "created", memory.id, "style"),
    ]


def test_a_search_is_logged_with_its_query_and_number_of_results(service: MemoryService) -> None:
    service.remember("zebra")
    service.recall("zebra crossing")
    assert service.activity()[0].detail == "zebra crossing (1 found)"


def test_listing_without_a_question_is_not_logged(service: MemoryService) -> None:
    service.recall()
    assert service.activity() == []


def test_many_reads_are_logged_without_a_write_between(open_memory: OpenService) -> None:
    here, there = open_memory(), open_memory("codex")
    for number in range(105):
        here.recall(f"question {number}")
    assert len(there.activity(200)) >= 100
    here.close()
    assert len(there.activity(200)) == 105


def test_activity_of_another_project_is_not_listed(open_memory: OpenService) -> None:
    open_memory(place={"project": "beta"}).remember("zebra")
    assert open_memory().activity() == []


def test_a_named_project_is_the_only_one_searched(open_memory: OpenService) -> None:
    open_memory(place={"project": "beta", "name": "Beta"}).remember("zebra of beta")
    here = open_memory()
    here.remember("zebra of alpha")
    here.remember("zebra of everywhere", scope="global")
    assert texts(here, "zebra", project="beta") == ["zebra of beta"]
    assert texts(here, "zebra", project="Alpha") == ["zebra of alpha"]


# -- several references


def test_load_each_returns_what_exists_and_names_the_others_by_place(service: MemoryService) -> None:
    one, two = (service.remember(text).memory for text in ("zebra", "gnu"))
    found = service.load_each([one.id, "no such key", two.id, "mem_" + "z" * 26, ""])
    assert [memory.text for memory in found.memories] == ["zebra", "gnu"]
    assert [reason.partition(":")[0] for reason in found.missing] == ["ids[1]", "ids[3]", "ids[4]"]
    assert "no such key" not in " ".join(found.missing)


def test_load_each_counts_the_use_of_what_it_returns(service: MemoryService) -> None:
    memory = service.remember("zebra").memory
    service.load_each([memory.id, "unknown"])
    assert service.find(memory.id).access_count == 1


def test_load_each_reports_an_expired_memory(service: MemoryService, clock: Clock) -> None:
    kept = service.remember("gnu").memory
    gone = service.remember("zebra", ttl_seconds=60).memory
    clock.advance(seconds=61)
    (reason,) = service.load_each([gone.id, kept.id]).missing
    assert reason == f"ids[0]: {gone.id} has expired; `keepmum forget --undo` brings it back"


def test_load_each_of_nothing_that_exists_is_an_error(service: MemoryService) -> None:
    with pytest.raises(NotFound, match=r"ids\[0\]: .*; ids\[1\]: "):
        service.load_each(["unknown", "unknown too"])


def test_an_ambiguous_id_prefix_says_that_there_are_more_than_it_lists(service: MemoryService) -> None:
    ids = [service.remember(f"zebra {number}").memory.id for number in range(7)]
    with pytest.raises(Ambiguous, match="and more; give more characters of the id"):
        service.find(ids[0][:8])


# -- listings that are long, or change meanwhile


def test_every_lists_more_than_ten_thousand(service: MemoryService) -> None:
    many = [a_memory(f"zebra {number}", at=1_700_000_000_000 + number) for number in range(10_500)]
    service.store.commit([Change(None, memory) for memory in many])
    assert [memory.id for memory in service.every()] == [memory.id for memory in reversed(many)]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 9])
def test_every_lists_each_memory_once(service: MemoryService, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr("keepmum.service.lookup._PAGE", 4)
    kept = [service.remember(f"zebra {number}").memory.id for number in range(count)]
    assert sorted(memory.id for memory in service.every()) == sorted(kept)


@pytest.mark.parametrize("step", range(1, 10))
def test_every_lists_what_stays_while_others_are_removed_and_added(
    service: MemoryService, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    monkeypatch.setattr("keepmum.service.lookup._PAGE", 4)
    kept = [service.remember(f"zebra {number}").memory.id for number in range(30)]
    removed, listed = set(), []
    for number, memory in enumerate(service.every()):
        listed.append(memory.id)
        if number == step:
            service.remember("a new one")
            removed = set(kept[-step * 3 :])  # the latest, which are listed first
            service.forget(sorted(removed))
    assert len(listed) == len(set(listed))
    assert set(listed) >= set(kept) - removed


# -- what a query does not match


def test_a_query_that_nothing_answers_returns_at_most_two_memories_which_are_weak(open_memory: OpenService) -> None:
    service = open_memory()
    for number in range(9):
        service.remember(f"The tram of line {number} leaves from the harbour, past the old mill and the school")
    query = "which painter saw the mill in winter"
    found = service.recall(query)
    assert 1 <= len(found) <= 2
    assert {match.band for match in found} == {"weak"}
    assert len(service.recall(query, weak=True)) == 9


def test_a_listing_by_filters_leaves_nothing_out(open_memory: OpenService) -> None:
    service = open_memory()
    for number in range(9):
        service.remember(f"Subject {number}", tags=["tram"])
    assert [match.band for match in service.recall(tags=["tram"])] == ["match"] * 9


def test_pages_of_matches_follow_each_other(open_memory: OpenService) -> None:
    service = open_memory()
    for number in range(30):
        service.remember(f"The pool has {number} workers", title=f"Pool {number}")
    pages = [match.memory.id for start in range(0, 30, 10) for match in service.recall("pool", limit=10, offset=start)]
    assert len(set(pages)) == len(pages) == 30


def test_an_id_as_query_finds_its_memory_in_this_project_only(open_memory: OpenService) -> None:
    service = open_memory()
    here = service.remember("The blue pool is first").memory
    assert [match.memory.id for match in service.recall(here.id)] == [here.id]
    assert [match.memory.id for match in service.recall(here.id[:16].upper())] == [here.id]
    elsewhere = service.remember("Another project's note", project="elsewhere").memory
    assert elsewhere.id not in [match.memory.id for match in service.recall(elsewhere.id)]


# -- reads for an overview


def test_a_quiet_read_leaves_no_trace(service: MemoryService) -> None:
    memory = service.remember("a zebra runs").memory
    before = service.activity()
    assert [match.memory.id for match in service.recall("zebra", quiet=True)] == [memory.id]
    assert service.load([memory.id], quiet=True) == [memory]
    assert service.activity() == before
    assert service.find(memory.id).access_count == 0


def test_an_overview_counts_memories_and_activity(service: MemoryService, clock: Clock) -> None:
    before = service.changes()
    service.remember("a zebra runs", tags=["fast"])
    service.remember("deploys go to the blue pool", kind="decision")
    assert service.changes() != before
    assert service.facets().kinds == {"note": 1, "decision": 1}
    assert service.facets(kinds=["note"]).tags == {"fast": 1}
    assert [(each.day, each.action, each.times) for each in service.activity_days(0)] == [
        (clock.now // 86_400_000, "created", 2)
    ]


def test_the_activity_of_one_memory_is_read_page_by_page(service: MemoryService) -> None:
    memory = service.remember("a zebra runs").memory
    service.remember("deploys go to the blue pool")
    service.load([memory.id])
    wanted = LogFilter(memory=memory.id)
    (latest,) = service.activity(1, wanted=wanted)
    (first,) = service.activity(9, wanted=wanted, after=latest.cursor)
    assert (latest.action, first.action) == ("loaded", "created")


def test_an_entry_that_is_added_while_the_log_is_written_is_kept(
    service: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, write = service.context.log, service.store.log

    def slow(entries: Sequence[Activity]) -> None:
        write(entries)
        log.defer(log.entry("masked", detail="meanwhile"))

    log.defer(log.entry("recalled", detail="first"))
    with monkeypatch.context() as patch:
        patch.setattr(service.store, "log", slow)
        log.flush()
    log.flush()
    assert [entry.detail for entry in service.store.activity(9)] == ["meanwhile", "first"]
