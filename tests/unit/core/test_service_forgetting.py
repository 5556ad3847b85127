"""Forgetting: named memories at once, search results after confirmation; both can be undone for 30 days."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contract.stores import a_memory
from keepmum.core.errors import ConfirmationNeeded, InvalidInput, NotFound
from keepmum.core.memory import Change
from keepmum.service import MemoryService
from unit.core.service_parts import Clock, OpenService

DAY = 86_400_000


def left(service: MemoryService) -> list[str]:
    return sorted(match.memory.text for match in service.recall(limit=50))


def forgotten(answer: Any) -> list[str]:
    return sorted(memory.text for memory in answer.memories)


# -- forgetting


def test_without_names_nothing_is_forgotten(service: MemoryService) -> None:
    service.remember("zebra")
    with pytest.raises(InvalidInput, match="name a memory"):
        service.forget()
    assert left(service) == ["zebra"]


def test_named_memories_are_forgotten_at_once(service: MemoryService) -> None:
    memory = service.remember("zebra").memory
    service.remember("gnu", key="animal")
    answer = service.forget([memory.id, "animal"])
    assert (answer.done, answer.action, forgotten(answer)) == (True, "trashed", ["gnu", "zebra"])
    assert left(service) == []


def test_one_unknown_name_forgets_nothing(service: MemoryService) -> None:
    service.remember("gnu", key="animal")
    with pytest.raises(NotFound):
        service.forget(["animal", "unknown"])
    assert left(service) == ["gnu"]


def test_search_results_are_listed_first_and_forgotten_when_confirmed(service: MemoryService) -> None:
    for text in ("zebra one", "zebra two", "gnu"):
        service.remember(text)
    listed = service.forget(query="zebra")
    assert (listed.done, forgotten(listed)) == (False, ["zebra one", "zebra two"])
    assert left(service) == ["gnu", "zebra one", "zebra two"]
    done = service.forget(query="zebra", confirmation=listed.confirmation)
    assert (done.done, forgotten(done)) == (True, ["zebra one", "zebra two"])
    assert left(service) == ["gnu"]


@pytest.mark.parametrize("query", ["zebra", None])
def test_a_bulk_removal_concerns_every_match(service: MemoryService, query: str | None) -> None:
    many = [a_memory(f"zebra {number} in herd", at=service.now(), tags=("x",)) for number in range(1_100)]
    other = [a_memory(f"gnu {number} in herd", at=service.now(), tags=("y",)) for number in range(1_100)]
    service.store.commit([Change(None, memory) for memory in (*other, *many)])
    sought: dict[str, Any] = {"query": "zebra herd"} if query else {"tags": ["x"]}
    listed = service.forget(**sought)
    assert len(listed.memories) == 1_100
    assert service.forget(**sought, confirmation=listed.confirmation).done
    assert service.count() == 1_100


def test_a_memory_that_was_removed_before_is_counted(service: MemoryService) -> None:
    memory = service.remember("zebra").memory
    service.forget([memory.id])
    again = service.forget([memory.id])
    assert (again.done, again.memories, again.already) == (False, (), 1)


def test_forgetting_what_matches_nothing_is_not_done(service: MemoryService) -> None:
    service.remember("The user lives in Hamburg")
    answer = service.forget(query="my location", confirmation=service.forget(query="my location").confirmation)
    assert (answer.done, answer.memories, answer.already) == (False, (), 0)


def test_a_list_that_has_changed_is_not_forgotten(open_memory: OpenService) -> None:
    here, there = open_memory(), open_memory("codex")
    here.remember("zebra one")
    listed = here.forget(query="zebra")
    there.remember("zebra two")
    with pytest.raises(ConfirmationNeeded, match="has changed"):
        here.forget(query="zebra", confirmation=listed.confirmation)
    assert left(here) == ["zebra one", "zebra two"]


def test_a_confirmation_of_something_else_is_refused(service: MemoryService) -> None:
    service.remember("zebra")
    with pytest.raises(ConfirmationNeeded):
        service.forget(query="zebra", confirmation="00000000")


def test_a_dry_run_touches_nothing(service: MemoryService) -> None:
    service.remember("gnu", key="animal")
    answer = service.forget(["animal"], dry_run=True)
    assert (answer.done, forgotten(answer)) == (False, ["gnu"])
    assert left(service) == ["gnu"]


def test_every_word_of_a_search_must_occur(service: MemoryService) -> None:
    service.remember("zebra crossing")
    service.remember("zebra only")
    assert forgotten(service.forget(query="zebra crossing")) == ["zebra crossing"]


def test_stop_words_must_occur_when_a_query_has_no_others(service: MemoryService) -> None:
    service.remember("how it was before")
    service.remember("zebra before noon")
    assert forgotten(service.forget(query="how it was")) == ["how it was before"]
    assert forgotten(service.forget(query="before")) == ["how it was before", "zebra before noon"]


@pytest.mark.parametrize("query", ["...", "?!", "'"])
def test_a_search_without_a_word_is_refused(service: MemoryService, query: str) -> None:
    service.remember("zebra ...")
    with pytest.raises(InvalidInput, match="query: contains no word"):
        service.forget(query=query)


def test_every_tag_must_match(service: MemoryService) -> None:
    service.remember("both", tags=["a", "b"])
    service.remember("one", tags=["a"])
    assert forgotten(service.forget(tags=["a", "b"])) == ["both"]


def test_age_counts_from_the_last_change(service: MemoryService, clock: Clock) -> None:
    service.remember("old")
    service.remember("revived", key="k")
    clock.advance(days=10)
    service.remember("revived!", key="k")
    assert forgotten(service.forget(older_than=clock.now - 5 * DAY)) == ["old"]


def test_a_search_that_finds_nothing_says_so(service: MemoryService) -> None:
    answer = service.forget(query="zebra", confirmation=None)
    assert (answer.done, answer.memories) == (False, ())


def test_a_trashed_memory_is_not_trashed_again(service: MemoryService) -> None:
    memory = service.remember("zebra").memory
    service.forget([memory.id])
    again = service.forget([memory.id])
    assert (again.done, again.memories) == (False, ())


def test_an_unknown_way_to_forget_is_refused(service: MemoryService) -> None:
    with pytest.raises(InvalidInput, match="archive, trash, purge"):
        service.forget(["x"], mode="burn")


# -- undo


@pytest.mark.parametrize("mode", ["archive", "trash"])
@pytest.mark.parametrize("name", ["id", "key"])
def test_a_removed_memory_can_be_restored(service: MemoryService, mode: str, name: str) -> None:
    before = service.remember("gnu", key="animal", tags=["a"], importance=0.9).memory
    service.forget(["animal"], mode=mode)
    answer = service.undo(before.id if name == "id" else "animal")
    assert answer.action == "restored"
    after = service.find("animal")
    assert (after.text, after.tags, after.importance, after.status) == ("gnu", ("a",), 0.9, "active")
    assert left(service) == ["gnu"]


def test_a_superseded_memory_can_be_restored_once_its_key_is_free(service: MemoryService) -> None:
    old = service.remember("Jenkins", key="ci").memory
    new = service.remember("Buildkite", supersedes="ci").memory
    with pytest.raises(InvalidInput, match=f"now held by {new.id}"):
        service.undo(old.id)
    service.forget([new.id])
    service.undo(old.id)
    assert left(service) == ["Jenkins"]


def test_an_update_can_be_undone(service: MemoryService) -> None:
    service.remember("Use tabs", key="style", why="habit")
    service.remember("Use blanks", key="style", why="the linter wants it")
    answer = service.undo("style")
    assert (answer.memory.text, answer.memory.why) == ("Use tabs", "habit")
    assert left(service) == ["Use tabs"]


def test_an_undo_can_be_undone(service: MemoryService) -> None:
    service.remember("Use tabs", key="style")
    service.remember("Use blanks", key="style")
    service.undo("style")
    service.undo("style")
    assert left(service) == ["Use blanks"]


def test_either_agent_can_undo_a_conflict(open_memory: OpenService) -> None:
    here, there = open_memory("claude-code"), open_memory("codex")
    here.remember("Use tabs", key="style")
    there.remember("Use blanks", key="style")
    here.undo("style")
    assert left(there) == ["Use tabs"]


def test_an_undo_reports_a_key_that_another_memory_took(service: MemoryService) -> None:
    old = service.remember("old", key="k").memory
    service.forget(["k"])
    new = service.remember("new", key="k").memory
    with pytest.raises(InvalidInput, match=f"now held by {new.id}"):
        service.undo(old.id)


def test_a_key_that_an_expired_memory_holds_is_free(service: MemoryService, clock: Clock) -> None:
    old = service.remember("old", key="k").memory
    service.forget(["k"])
    service.remember("for a minute", key="k", ttl_seconds=60)
    clock.advance(seconds=60)
    service.undo(old.id)
    assert left(service) == ["old"]


def test_a_memory_without_changes_has_nothing_to_undo(service: MemoryService) -> None:
    memory = service.remember("zebra").memory
    with pytest.raises(InvalidInput, match="never been changed"):
        service.undo(memory.id)


def test_an_active_memory_is_not_restored(service: MemoryService) -> None:
    memory = service.remember("zebra").memory
    with pytest.raises(InvalidInput, match="active already"):
        service.restore(memory.id)


# -- purging


def test_a_purge_leaves_no_byte_of_the_memory(service: MemoryService, keepmum_home: Path) -> None:
    words = ["quagga", "okapi", "bongo", "dikdik", "gerenuk", "oribi", "kudu.first"]
    text, title, why, tag, source, _, key = words
    service.remember(text, title=title, why=why, tags=[tag], source=source, key=key)
    service.remember(words[5], key=words[6])  # creates history
    service.remember("a memory that stays")
    service.load([words[6]])
    service.forget([words[6]], mode="purge")
    service.close()
    everything = b"".join(path.read_bytes() for path in keepmum_home.glob("memory.db*")).lower()
    assert b"a memory that stays" in everything
    assert [word for word in words if word.encode() in everything] == []


def test_a_purge_reaches_the_file_while_it_is_open(service: MemoryService, keepmum_home: Path) -> None:
    service.remember("quagga", key="animal")
    service.forget(["animal"], mode="purge")
    assert not any(b"quagga" in path.read_bytes() for path in keepmum_home.glob("memory.db*"))


def test_a_purged_memory_cannot_be_restored(service: MemoryService) -> None:
    memory = service.remember("zebra", key="animal").memory
    service.forget(["animal"], mode="purge")
    for name in (memory.id, "animal"):
        with pytest.raises(NotFound):
            service.undo(name)


def test_a_purge_is_logged_without_its_words(service: MemoryService) -> None:
    memory = service.remember("zebra", key="animal").memory
    service.forget(["animal"], mode="purge")
    assert [(event.action, event.memory, event.key, event.detail) for event in service.activity()] == [
        ("purged", memory.id, None, ""),
        ("created", memory.id, None, ""),
    ]
