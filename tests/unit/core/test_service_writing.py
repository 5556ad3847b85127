"""Writes: limits, cleaning, creating, updating, superseding, concurrency, and what is reported."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from keepmum.core import validation
from keepmum.core.errors import InvalidInput, KeepmumError, NotFound, SecretFound
from keepmum.core.memory import KINDS, LASTING_KINDS, LIMITS, Change, Memory
from keepmum.service import MemoryService, Remembered
from keepmum.stores import Receipt
from unit.core.service_parts import Clock, OpenService


def contents(service: MemoryService) -> list[str]:
    return [match.memory.text for match in service.recall(limit=100)]


# -- titles


@pytest.mark.parametrize(
    ("text", "title"),
    [
        pytest.param("# \u00a0\nDeploys go through staging", "Deploys go through staging", id="blank heading"),
        pytest.param("- \u00a0 *  **Use  tabs**\nhere", "Use tabs", id="marks and blanks"),
        pytest.param("# >\n---", "untitled", id="only marks"),
    ],
)
def test_the_title_is_the_first_line_that_says_something(service: MemoryService, text: str, title: str) -> None:
    assert service.remember(text).memory.title == title


@pytest.mark.parametrize("text", ["\x1f", "\u00a0", "#\u2003", "\x1f\n\x1e\n\x85", ""])
def test_a_title_is_never_empty(text: str) -> None:
    assert validation.title_of(text) == "untitled"


# -- limits

TOO_MUCH: list[Any] = [
    pytest.param({"text": "x" * (LIMITS.text + 1)}, "text", "65,536", id="text"),
    pytest.param({"text": "ü" * (LIMITS.text // 2 + 1)}, "text", "65,536", id="text in bytes"),
    pytest.param({"title": "x" * (LIMITS.title + 1)}, "title", "120", id="title"),
    pytest.param({"key": "x" * (LIMITS.key + 1)}, "key", "255", id="key"),
    pytest.param({"why": "x" * (LIMITS.why + 1)}, "why", "5,000", id="why"),
    pytest.param({"source": "x" * (LIMITS.source + 1)}, "source", "2,000", id="source"),
    pytest.param({"session": "x" * (LIMITS.name + 1)}, "session", "200", id="session"),
    pytest.param({"project": "x" * (LIMITS.name + 1)}, "project", "200", id="project"),
    pytest.param({"tags": [f"t{number}" for number in range(21)]}, "tags", "20", id="tags"),
    pytest.param({"tags": ["x" * (LIMITS.tag + 1)]}, "tags", "100", id="one tag"),
    pytest.param({"data": {"d": "x" * LIMITS.data}}, "data", "65,536", id="data"),
    pytest.param({"importance": 1.01}, "importance", "between 0 and 1", id="importance above"),
    pytest.param({"importance": -0.01}, "importance", "between 0 and 1", id="importance below"),
    pytest.param({"importance": float("nan")}, "importance", "between 0 and 1", id="importance not a number"),
    pytest.param({"confidence": 2}, "confidence", "between 0 and 1", id="confidence"),
    pytest.param({"ttl_seconds": 0}, "ttl_seconds", "above 0", id="no time to live"),
    pytest.param({"ttl_seconds": float("inf")}, "ttl_seconds", "100 years", id="endless time to live"),
    pytest.param({"data": float("nan")}, "data", "NaN", id="data not a number"),
    pytest.param({"kind": "poem"}, "kind", "decision, preference", id="unknown kind"),
    pytest.param({"scope": "galaxy"}, "scope", "project, global", id="unknown scope"),
    pytest.param({"tier": "short"}, "tier", "long, mid", id="unknown tier"),
    pytest.param({"text": "  \n\t "}, "text", "empty", id="blank text"),
    pytest.param({"text": "a\x00b"}, "text", "NUL", id="binary text"),
    pytest.param({"title": "\ud800"}, "title", "surrogate", id="half a character"),
    pytest.param({"tags": ["\udc00"]}, "tags", "surrogate", id="half a character in a tag"),
    pytest.param({"data": {"a": ["\ud800"]}}, "data", "surrogate", id="half a character in data"),
]


@pytest.mark.parametrize(("fields", "field", "message"), TOO_MUCH)
def test_an_invalid_write_is_refused_with_field_and_limit(
    service: MemoryService, fields: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        service.remember(**{"text": "a plain text", **fields})
    assert refusal.value.field == field
    assert message in str(refusal.value)
    assert service.count() == 0


def test_data_that_is_nested_too_deep_is_refused(service: MemoryService) -> None:
    data: Any = "core"
    for _ in range(40):
        data = [data]
    with pytest.raises(InvalidInput, match="data: is nested more than 32 deep"):
        service.remember("text", data=data)


def test_a_memory_at_every_limit_is_kept(service: MemoryService) -> None:
    fields: dict[str, Any] = {
        "title": "t" * LIMITS.title, "key": "k" * LIMITS.key, "why": "w " * (LIMITS.why // 2 - 1) + "w",
        "source": "s" * LIMITS.source, "tags": [f"{number:0{LIMITS.tag}}" for number in range(LIMITS.tags)],
        "importance": 1, "confidence": 0,
    }  # fmt: skip
    kept = service.remember("x " * (LIMITS.text // 2 - 1) + "xx", **fields).memory
    assert len(kept.text) == LIMITS.text
    assert service.load([kept.id]) == [kept]


# -- cleaning


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        pytest.param("cafe\u0301", "café", id="composed"),
        pytest.param("a\r\nb\rc", "a\nb\nc", id="line ends"),
        pytest.param("  a  ", "a", id="blanks at the ends"),
        pytest.param("pay\u202eload", "payload", id="bidirectional override"),
        pytest.param("do\U000e0041\U000e0042 it", "do it", id="tag characters"),
        pytest.param("a\u200bb", "a b", id="zero-width space"),
        pytest.param("a\x1b[31mb", "a[31mb", id="terminal escape"),
        pytest.param("नमस्\u200dते", "नमस्\u200dते", id="a joiner that a script needs"),
    ],
)
def test_a_text_is_kept_clean(service: MemoryService, sent: str, kept: str) -> None:
    assert service.remember(sent).memory.text == kept


def test_a_title_is_made_of_the_first_line(service: MemoryService) -> None:
    assert service.remember("# We chose Postgres\n\nbecause").memory.title == "We chose Postgres"


def test_a_long_first_line_is_cut_at_a_word(service: MemoryService) -> None:
    title = service.remember("word " * 60).memory.title
    assert title.endswith("word…")
    assert len(title) <= LIMITS.title


def test_tags_are_lower_case_and_unique(service: MemoryService) -> None:
    assert service.remember("text", tags=["DB", "db ", "", "api"]).memory.tags == ("db", "api")


@pytest.mark.parametrize("kind", KINDS)
def test_lasting_kinds_have_the_long_tier(service: MemoryService, kind: str) -> None:
    assert service.remember("text", kind=kind).memory.tier == ("long" if kind in LASTING_KINDS else "mid")


# -- created, updated, unchanged, conflict


def test_the_same_text_again_changes_nothing(service: MemoryService, clock: Clock) -> None:
    first = service.remember("Use tabs")
    clock.advance(days=1)
    again = service.remember("use  tabs", title="Use tabs")
    once_more = service.remember("use  tabs")
    assert (first.action, again.action, once_more.action) == ("created", "updated", None)
    assert once_more.memory.id == first.memory.id


def test_an_identical_write_is_reported_as_known(service: MemoryService) -> None:
    service.remember("Use tabs", key="style.indent", kind="preference")
    again = service.remember("Use tabs", key="style.indent")
    assert again.action is None
    assert service.history("style.indent") == []


def test_a_new_value_for_a_key_replaces_the_old_one_and_is_reported(service: MemoryService, clock: Clock) -> None:
    first = service.remember("Use tabs", key="style.indent")
    clock.advance(seconds=1)
    second = service.remember("Use blanks", key="style.indent")
    assert (second.action, second.memory.id, second.previous) == ("updated", first.memory.id, first.memory)
    assert contents(service) == ["Use blanks"]


def test_a_different_value_of_another_agent_is_reported_as_a_conflict(open_memory: OpenService) -> None:
    open_memory("claude-code").remember("Use tabs", key="style.indent")
    answer = open_memory("codex").remember("Use blanks", key="style.indent")
    assert answer.action == "conflict"
    assert answer.previous is not None
    assert (answer.previous.text, answer.previous.updated_by) == ("Use tabs", "claude-code")
    assert (answer.memory.created_by, answer.memory.updated_by) == ("claude-code", "codex")


def test_another_agent_with_the_same_value_is_not_a_conflict(open_memory: OpenService) -> None:
    open_memory("claude-code").remember("Use tabs", key="style.indent")
    assert open_memory("codex").remember("Use tabs", key="style.indent", tags=["style"]).action == "updated"


def test_fields_that_are_not_given_stay(service: MemoryService) -> None:
    whole = service.remember(
        "Use tabs", key="k", title="Indent", kind="decision", why="habit", tags=["style"], importance=0.9,
        confidence=0.2, data={"width": 4}, source="AGENTS.md", ttl_seconds=1000,
    ).memory  # fmt: skip
    after = service.remember("Use blanks", key="k").memory
    assert replace(after, text=whole.text, revision=1) == whole


def test_a_generated_title_follows_the_text(service: MemoryService) -> None:
    service.remember("Use tabs", key="k")
    assert service.remember("Use blanks", key="k").memory.title == "Use blanks"


def test_a_new_kind_sets_its_tier(service: MemoryService) -> None:
    service.remember("Use tabs", key="k")
    assert service.remember("Use tabs", key="k", kind="decision").memory.tier == "long"


def test_the_same_text_without_a_key_is_given_one(service: MemoryService) -> None:
    first = service.remember("Use tabs")
    assert service.remember("Use tabs", key="style.indent").memory.id == first.memory.id
    assert service.find("style.indent").id == first.memory.id


def test_the_same_text_under_two_keys_is_two_memories(service: MemoryService) -> None:
    service.remember("yes", key="a")
    assert service.remember("yes", key="b").action == "created"
    assert service.count() == 2


def test_the_same_key_of_two_projects_is_two_memories(open_memory: OpenService) -> None:
    open_memory().remember("Postgres", key="db")
    other = open_memory(place={"project": "beta"})
    assert other.remember("Oracle", key="db").action == "created"
    assert contents(other) == ["Oracle"]


def test_a_global_memory_is_seen_from_every_project(open_memory: OpenService) -> None:
    assert open_memory().remember("I like tea", scope="global").memory.project is None
    assert contents(open_memory(place={"project": "beta"})) == ["I like tea"]


def test_the_scope_is_the_services_own_unless_given(open_memory: OpenService) -> None:
    assert open_memory(default_scope="global").remember("I like tea").memory.scope == "global"


# -- superseding


def test_a_superseded_memory_is_hidden_and_linked_both_ways(service: MemoryService) -> None:
    old = service.remember("We use Jenkins").memory
    new = service.remember("We use Buildkite", supersedes=old.id)
    assert new.memory.supersedes == old.id
    assert service.find(old.id).superseded_by == new.memory.id
    assert contents(service) == ["We use Buildkite"]


def test_a_chain_of_superseded_memories_shows_its_last(service: MemoryService) -> None:
    ids = [service.remember("value 0").memory.id]
    for number in range(1, 4):
        ids.append(service.remember(f"value {number}", supersedes=ids[-1]).memory.id)
    assert contents(service) == ["value 3"]
    assert [service.find(memory).superseded_by for memory in ids] == [*ids[1:], None]


def test_the_key_passes_to_the_memory_that_supersedes(service: MemoryService) -> None:
    service.remember("Jenkins", key="ci")
    new = service.remember("Buildkite", supersedes="ci").memory
    assert service.find("ci").id == new.id


def test_superseding_what_is_unknown_stores_nothing(service: MemoryService) -> None:
    with pytest.raises(NotFound):
        service.remember("Buildkite", supersedes="nothing.here")
    assert service.count() == 0


def test_superseding_retries_after_a_concurrent_change(open_memory: OpenService) -> None:
    here, there = open_memory(), open_memory("codex")
    old = here.remember("Jenkins", key="ci").memory
    by_key = here.store.by_key
    changed: list[Remembered] = []

    def by_key_late(space: str, key: str) -> Memory | None:
        memory = by_key(space, key)
        if not changed:
            changed.append(there.remember("Jenkins 2", key="ci"))
        return memory

    here.store.by_key = by_key_late  # type: ignore[method-assign] # between reading and writing
    new = here.remember("Buildkite", supersedes="ci").memory
    assert new.supersedes == old.id
    assert here.history(old.id)[0].before["text"] == "Jenkins 2"


# -- agents, times and other processes


def test_a_write_records_agent_time_and_project(open_memory: OpenService, clock: Clock) -> None:
    memory = open_memory("codex", origin="cli", place={"session": "s1", "user": "ada"}).remember("text").memory
    assert (memory.agent, memory.created_by, memory.updated_by, memory.origin) == ("codex", "codex", "codex", "cli")
    assert (memory.project, memory.session, memory.user) == ("alpha", "s1", "ada")
    assert memory.created_at == memory.updated_at == clock.now


def test_users_do_not_see_each_other(open_memory: OpenService) -> None:
    ada = open_memory(place={"user": "ada"})
    kept = ada.remember("I like tea", key="drink", scope="global").memory
    bob = open_memory(place={"user": "bob"})
    assert contents(bob) == []
    for reference in ("drink", kept.id):
        with pytest.raises(NotFound):
            bob.load([reference])


def test_a_race_for_one_key_leaves_one_memory_and_the_loser_in_its_history(open_memory: OpenService) -> None:
    here, there = open_memory(), open_memory("codex")
    by_key = here.store.by_key
    taken: list[Remembered] = []

    def by_key_late(space: str, key: str) -> Memory | None:
        found = by_key(space, key)
        if not taken:
            taken.append(there.remember("theirs", key="k"))
        return found

    here.store.by_key = by_key_late  # type: ignore[method-assign] # between reading and writing
    assert here.remember("ours", key="k").action == "conflict"
    assert [revision.before["text"] for revision in here.history("k")] == ["theirs"]


def test_a_write_that_always_loses_gives_up_with_a_message(open_memory: OpenService) -> None:
    here, there = open_memory(), open_memory("codex")
    memory = here.remember("value", key="k").memory
    commit = here.store.commit

    def commit_late(changes: Any, activity: Any = ()) -> Receipt:
        present = there.store.get([memory.id])[0]
        there.store.commit([Change(present, replace(present, revision=present.revision + 1))])
        return commit(changes, activity)

    here.store.commit = commit_late  # type: ignore[method-assign] # another writer is always faster
    with pytest.raises(KeepmumError, match="nothing was stored, try again"):
        here.remember("ours", key="k")
    assert there.find("k").text == "value"


def test_an_expired_memory_frees_its_key(service: MemoryService, clock: Clock) -> None:
    old = service.remember("for an hour", key="k", ttl_seconds=3600).memory
    clock.advance(seconds=3600)
    new = service.remember("for good", key="k")
    assert new.action == "created"
    assert new.memory.id != old.id
    assert service.find(old.id).status == "trashed"


# -- editing


def test_a_new_text_keeps_all_other_fields(service: MemoryService) -> None:
    old = service.remember("Blue first", title="Pools", tags=["deploy"], kind="decision").memory
    new = service.revise(old.id, "Green first")
    assert (new.action, new.memory.id, new.memory.revision) == ("updated", old.id, 2)
    assert (new.memory.title, new.memory.tags, new.memory.kind) == ("Pools", ("deploy",), "decision")


def test_a_new_text_with_a_secret_is_refused(service: MemoryService) -> None:
    old = service.remember("Blue first").memory
    with pytest.raises(SecretFound):
        service.revise(old.id, "The job signs in with " + "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21")
    assert service.find(old.id).text == "Blue first"


def test_a_removed_memory_cannot_be_edited(service: MemoryService) -> None:
    old = service.remember("Blue first").memory
    service.forget([old.id])
    with pytest.raises(InvalidInput, match="was removed"):
        service.revise(old.id, "Green first")


def test_a_new_memory_takes_no_existing_key(service: MemoryService) -> None:
    service.remember("one", key="k")
    with pytest.raises(InvalidInput, match="taken"):
        service.remember("two", key="k", fresh=True)
    assert service.find("k").text == "one"


def test_only_the_current_revision_can_be_replaced(service: MemoryService) -> None:
    first = service.remember("one", key="k").memory
    service.revise("k", "two", revision=first.revision)
    with pytest.raises(InvalidInput, match="changed meanwhile"):
        service.revise("k", "three", revision=first.revision)
    assert service.find("k").text == "two"


def test_a_write_can_end_an_expiry(service: MemoryService) -> None:
    service.remember("one", key="k", ttl_seconds=60)
    assert service.remember("one", key="k", endless=True).memory.expires_at is None
    assert service.find("k").expires_at is None


def test_a_service_can_switch_its_project_temporarily(service: MemoryService) -> None:
    service.remember("mine", key="k")
    with service.at(replace(service.place, user="ada")):
        assert service.recall() == []
        service.remember("hers", key="k")
    assert [match.memory.text for match in service.recall()] == ["mine"]


def test_the_same_text_sent_again_can_say_what_it_replaces(open_memory: OpenService) -> None:
    service = open_memory()
    old = service.remember("deploys use the green pool", key="pool").memory
    new = service.remember("deploys use the blue pool").memory
    again = service.remember("deploys use the blue pool", supersedes=old.id).memory
    assert (again.id, again.key, again.supersedes) == (new.id, "pool", old.id)
    assert [memory.id for memory in service.every(statuses=("active",))] == [new.id]
    assert service.remember("deploys use the blue pool", supersedes=old.id).action is None
