"""What a person does: each verb, what undoes it, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from keepmum.core.errors import InvalidInput, NotFound, SecretFound
from keepmum.core.memory import Memory
from keepmum.dashboard.desk import Desk
from keepmum.dashboard.failures import Changed, CountNeeded, failure
from keepmum.service import MemoryService
from keepmum.service.handoffs import Handoffs
from unit.core.service_parts import OpenService
from unit.dashboard.pages import Page


def _do(desk: Desk, verb: str, **args: Any) -> Any:
    return desk.change(verb, args)["data"]


def _content(memory: Memory) -> Memory:
    """A memory without what an undo does not bring back."""
    return replace(memory, revision=0, updated_at=0, updated_by="", confirmed_at=None, trashed_at=None)


@pytest.fixture
def memory(agent: MemoryService) -> Memory:
    """A memory that an agent stored."""
    return agent.remember("deploys go through the blue pool", tags=["deploy"], why="a bad release").memory


@pytest.mark.parametrize(
    ("verb", "args", "expected"),
    [
        ("edit", {"text": "green"}, {"text": "green", "why": "a bad release"}),
        (
            "edit",
            {"title": "Pools", "why": "", "kind": "fact", "tags": ["a", "b"]},
            {
                "title": "Pools",
                "why": None,
                "kind": "fact",
                "tags": ("a", "b"),
                "text": "deploys go through the blue pool",
            },
        ),
        ("archive", {}, {"status": "archived"}),
        ("forget", {}, {"status": "trashed"}),
        ("still_true", {}, {"confirmed_by": "you, in the dashboard"}),
        ("confirm", {}, {"trust": "person"}),
        ("pin", {}, {"pinned": True}),
        ("wrong", {"reason": "it is green"}, {"status": "trashed"}),
        ("tag", {"add": ["infra"], "remove": ["deploy"]}, {"tags": ("infra",)}),
    ],
)
def test_a_verb_does_one_thing_and_is_undone(  # noqa: PLR0917 - a table and its fixtures
    desk: Desk, person: MemoryService, memory: Memory, verb: str, args: dict[str, Any], expected: dict[str, Any]
) -> None:
    names = {"id": memory.id, "revision": 1} if verb == "edit" else {"ids": [memory.id], "revisions": {memory.id: 1}}
    done = _do(desk, verb, **names, **args)
    changed = person.find(memory.id)
    assert {name: getattr(changed, name) for name in expected} == expected
    assert changed.updated_by == "you, in the dashboard" or verb in {"still_true", "confirm", "pin"}
    assert done["memories"][0]["id"] == memory.id
    _do(desk, "undo", undo=done["undo"])
    assert _content(person.find(memory.id)) == _content(memory)


def test_every_write_is_logged_as_the_persons(desk: Desk, agent: MemoryService, memory: Memory) -> None:
    for verb in ("still_true", "confirm", "pin", "archive", "restore", "forget"):
        _do(desk, verb, ids=[memory.id])
    by = [event.agent for event in agent.activity(6)]
    assert by == ["you, in the dashboard"] * 6


def test_a_persons_correction_is_not_a_conflict_between_agents(desk: Desk, agent: MemoryService) -> None:
    memory = agent.remember("retry 5 times", key="payments.retry").memory
    _do(desk, "edit", id=memory.id, text="retry 3 times")
    assert agent.activity(1)[0].action == "updated"
    assert desk.ask("review", {})["data"]["total"] == 0


def test_an_earlier_version_is_put_back_and_that_is_undone(desk: Desk, agent: MemoryService, memory: Memory) -> None:
    agent.revise(memory.id, "deploys go through the green pool")
    done = _do(desk, "put_back", id=memory.id, version=1)
    assert agent.find(memory.id).text == memory.text
    _do(desk, "undo", undo=done["undo"])
    assert agent.find(memory.id).text == "deploys go through the green pool"


def test_what_is_removed_is_brought_back(desk: Desk, agent: MemoryService, memory: Memory) -> None:
    _do(desk, "wrong", ids=[memory.id], reason="no")
    assert desk.ask("memory", {"id": memory.id})["data"]["wrong"]["reason"] == "no"
    done = _do(desk, "restore", ids=[memory.id])
    assert agent.find(memory.id).status == "active"
    assert agent.remember("deploys go through the blue pool now").wrong is None, "it is no longer marked"
    _do(desk, "undo", undo=done["undo"])
    assert agent.store.get([memory.id])[0].status == "trashed"


def test_one_who_was_slower_sees_both_versions(page: Page, agent: MemoryService, memory: Memory) -> None:
    agent.revise(memory.id, "deploys go through the green pool")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("edit", {"id": memory.id, "revision": 1, "text": "mine"}),
        ("put_back", {"id": memory.id, "revision": 1, "version": 1}),
        *(
            (verb, {"ids": [memory.id], "revisions": {memory.id: 1}})
            for verb in ("archive", "pin", "wrong", "still_true")
        ),
        ("tag", {"ids": [memory.id], "revisions": {memory.id: 1}, "add": ["x"]}),
    ]
    for verb, args in calls:
        reply = page.post("/api/change", {"do": verb, "args": args})
        assert (reply.status, reply.json["error"]["kind"]) == (409, "changed"), verb
        assert reply.json["error"]["present"]["text"] == "deploys go through the green pool"
    assert agent.find(memory.id).text == "deploys go through the green pool"


def test_an_undo_after_another_change_is_refused(desk: Desk, agent: MemoryService, memory: Memory) -> None:
    done = _do(desk, "edit", id=memory.id, text="mine")
    _do(desk, "edit", id=memory.id, text="mine again")
    with pytest.raises(InvalidInput, match="changed meanwhile"):
        _do(desk, "undo", undo=done["undo"])
    assert agent.find(memory.id).text == "mine again"


@pytest.mark.parametrize("field", ["text", "title", "why", "tags"])
def test_a_secret_is_refused_at_its_field(page: Page, memory: Memory, field: str) -> None:
    key = "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    reply = page.post(
        "/api/change", {"do": "edit", "args": {"id": memory.id, field: [key] if field == "tags" else key}}
    )
    error = reply.json["error"]
    assert (reply.status, error["kind"]) == (422, "refused")
    assert {(place["rule"], place["line"]) for place in error["places"]} == {("github.token", 1)}
    assert error["places"][0]["field"].startswith(field)
    assert key not in reply.body.decode()


def test_a_secret_in_a_reason_or_a_tag_of_many_is_refused(desk: Desk, agent: MemoryService, memory: Memory) -> None:
    key = "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    for verb, args in (("wrong", {"reason": key}), ("tag", {"add": [key]})):
        with pytest.raises(SecretFound):
            _do(desk, verb, ids=[memory.id], **args)
    assert agent.store.get([memory.id]) == [memory]


def test_many_are_changed_and_undone_at_once(desk: Desk, agent: MemoryService) -> None:
    ids = [agent.remember(f"fact {number}").memory.id for number in range(30)]
    with pytest.raises(CountNeeded):
        _do(desk, "forget", ids=ids)
    with pytest.raises(CountNeeded):
        _do(desk, "forget", ids=ids, count=29)
    done = _do(desk, "forget", ids=ids, count=30)
    assert (done["count"], agent.count()) == (30, 0)
    _do(desk, "undo", undo=done["undo"])
    assert agent.count() == 30
    pinned = _do(desk, "pin", ids=ids[:5])
    assert pinned["said"] == "Pinned 5 memories"
    _do(desk, "undo", undo=pinned["undo"])
    assert not any(memory.pinned for memory in agent.store.get(ids))


def test_of_many_all_are_changed_or_none(desk: Desk, agent: MemoryService, memory: Memory) -> None:
    other = agent.remember("another fact").memory
    agent.forget([other.id])
    for verb in ("archive", "pin", "still_true"):
        with pytest.raises(InvalidInput):
            _do(desk, verb, ids=[memory.id, other.id])
    with pytest.raises(NotFound):
        _do(desk, "archive", ids=[memory.id, "mem_00000000000000000000000000"])
    assert _content(agent.find(memory.id)) == _content(memory)


def test_an_agents_writes_since_a_time_are_undone(
    desk: Desk, agent: MemoryService, open_memory: OpenService, clock: Any
) -> None:
    kept = agent.remember("kept", key="kept").memory
    clock.advance(days=1)
    since, other = clock.now, open_memory("cursor")
    new = other.remember("new").memory
    other.remember("changed", key="kept")
    other.remember("new", key="theirs")
    touched = other.remember("touched by both").memory
    agent.revise(touched.id, "touched by both, again")
    plan = desk.ask("undo_agent", {"agent": "cursor", "since": since})["data"]
    assert {(row["id"], row["does"]) for row in plan["rows"]} == {(kept.id, "put back"), (new.id, "trash")}
    assert [each["id"] for each in plan["skipped"]] == [touched.id]
    done = _do(desk, "undo_agent", agent="cursor", since=since, confirmation=plan["confirmation"])
    assert agent.find(kept.id).text == "kept"
    assert agent.store.get([new.id])[0].status == "trashed"
    _do(desk, "undo", undo=done["undo"])
    assert agent.find(kept.id).text == "changed"


def test_an_undo_of_an_agent_is_of_what_was_listed(desk: Desk, agent: MemoryService, memory: Memory) -> None:
    plan = desk.ask("undo_agent", {"agent": "codex", "since": 0})["data"]
    agent.remember("another")
    error = failure(_refused(desk, "undo_agent", agent="codex", since=0, confirmation=plan["confirmation"]))
    assert (error.status, error.body["error"]["kind"]) == (409, "confirm")
    assert agent.find(memory.id).status == "active"


def _refused(desk: Desk, verb: str, **args: Any) -> BaseException:
    with pytest.raises(Exception) as refused:  # noqa: PT011 - what it is, is asked by the caller
        _do(desk, verb, **args)
    return refused.value


def test_an_item_is_settled_with_one_decision(desk: Desk, agent: MemoryService, open_memory: OpenService) -> None:
    agent.remember("retry 5 times", key="payments.retry")
    open_memory("cursor").remember("retry 3 times", key="payments.retry")
    for decision, texts in (
        ("still-true", {"retry 3 times"}),
        ("put-back", {"retry 5 times"}),
        ("both", {"retry 3 times", "retry 5 times"}),
        ("edit", {"retry 4 times"}),
    ):
        (item,) = desk.ask("review", {})["data"]["items"]
        assert decision in item["decisions"]
        done = _do(
            desk, "decide", item=item["id"], decision=decision, text="retry 4 times" if decision == "edit" else None
        )
        assert {match.memory.text for match in agent.recall(None)} == texts
        assert desk.ask("review", {})["data"]["total"] == 0
        _do(desk, "undo", undo=done["undo"])
        assert {match.memory.text for match in agent.recall(None)} == {"retry 3 times"}


def test_a_handoff_is_given_and_withdrawn(desk: Desk, agent: MemoryService, open_memory: OpenService) -> None:
    number = Handoffs(agent).create("webhook handler", "add tests").number
    _do(desk, "give", handoff=number, agent="cursor")
    assert Handoffs(agent).pending()[0].to_agent == "cursor"
    assert Handoffs(open_memory("cursor")).pick_up(number).status == "in_progress", "an agent can still take it"
    done = _do(desk, "withdraw", handoff=number)
    assert Handoffs(agent).all() == []
    _do(desk, "undo", undo=done["undo"])
    assert Handoffs(agent).all()[0].status == "in_progress"


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("none", {}), ("edit", {}), ("edit", {"id": "mem_none"}), ("edit", {"id": "x", "kind": "none"}),
        ("archive", {}), ("archive", {"ids": []}), ("archive", {"ids": "x"}), ("archive", {"ids": [1]}),
        ("archive", {"ids": ["x"] * 501}), ("tag", {"ids": ["x"]}), ("pin", {"ids": ["x"], "pinned": 1}),
        ("undo", {}), ("undo", {"undo": "x"}), ("undo", {"undo": "a:b:c"}), ("decide", {}),
        ("decide", {"item": "x", "decision": "none"}), ("withdraw", {"handoff": 0}),
        ("give", {"handoff": 1, "agent": "x"}),
        ("take_out", {"confirmation": "x"}),
    ],
)  # fmt: skip
def test_a_wrong_call_is_refused_in_a_sentence(page: Page, verb: str, args: dict[str, Any]) -> None:
    reply = page.post("/api/change", {"do": verb, "args": args})
    assert 400 <= reply.status < 500, reply.body
    assert reply.json["error"]["message"]
    assert "internal" not in json.dumps(reply.json)


def test_a_change_that_fails_is_not_the_end_of_the_page(page: Page, memory: Memory) -> None:
    with pytest.raises(AssertionError):
        page.change("archive", ids=["mem_00000000000000000000000000"])
    assert page.change("archive", ids=[memory.id])["count"] == 1


def test_an_edit_by_someone_else_is_a_kind_of_its_own() -> None:
    assert failure(Changed({"id": "x"})).body["error"]["present"] == {"id": "x"}
