"""What the views show, that looking changes nothing, and that no view shows a secret."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keepmum.core.errors import InvalidInput, KeepmumError
from keepmum.core.memory import Change, Memory
from keepmum.core.retention import DAY_MS
from keepmum.dashboard import views
from keepmum.dashboard.base import Dashboard
from keepmum.dashboard.cards import passage
from keepmum.dashboard.desk import Desk
from keepmum.service import MemoryService
from keepmum.service.handoffs import Handoffs
from unit.core.service_parts import Clock, OpenService


def _shown(desk: Desk, view: str, **args: Any) -> Any:
    return desk.ask(view, args)["data"]


def _stored(service: MemoryService, first: str, **fields: Any) -> Memory:
    """A memory as it is in the store, with fields that no caller of `remember` chooses."""
    memory = service.remember(first).memory
    changed = replace(memory, revision=memory.revision + 1, **fields)
    service.store.commit([Change(memory, changed)])
    return changed


def _everything(desk: Desk, memory: str, item: str) -> str:
    """Every view of a page, as JSON."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("live", {"about": True}), ("home", {}), ("memories", {"facets": True}), ("memories", {"query": "deploys"}),
        ("memories", {"sort": "fading"}), ("memories", {"sort": "used"}), ("memory", {"id": memory}),
        ("review", {}), ("item", {"item": item}), ("activity", {"cards": True}), ("activity_days", {}),
        ("undo_agent", {"agent": "codex"}), ("handoffs", {}), ("health", {}), ("audit", {}),
    ]  # fmt: skip
    assert {view for view, _ in calls} | {"code"} == set(views.VIEWS)
    return json.dumps([desk.ask(view, args) for view, args in calls])


@pytest.fixture
def item(agent: MemoryService) -> str:
    """An item of the review queue."""
    agent.remember("always deploy to the blue pool", kind="instruction")
    return agent.review().items[0].id


def test_looking_changes_nothing(desk: Desk, agent: MemoryService, person: MemoryService, item: str) -> None:
    memory = agent.remember("deploys go through the blue pool", tags=["deploy"]).memory
    before = agent.store.get([memory.id]), agent.activity(), agent.changes()
    _everything(desk, memory.id, item)
    "".join(desk.export("jsonl", {})), "".join(desk.export("markdown", {"query": "pool"}))
    person.context.log.flush()
    assert (agent.store.get([memory.id]), agent.activity(), agent.changes()) == before


def test_a_masked_secret_is_shown_nowhere_and_showing_it_is_not_logged(
    desk: Desk, agent: MemoryService, person: MemoryService, item: str, key: str
) -> None:
    fields = dict.fromkeys(
        ("title", "text", "why", "key", "agent", "session", "source", "created_by"), f"deploys {key}"
    )
    memory = _stored(
        agent,
        "deploys go through the blue pool",
        **fields,
        tags=(key,),
        data={"note": key},
        git={"branch": key, "commit": "0" * 40},
    )
    _stored(agent, "another", supersedes=memory.id, title=key)
    before = len(agent.activity(200))
    shown = (
        _everything(desk, memory.id, item) + "".join(desk.export("jsonl", {})) + "".join(desk.export("markdown", {}))
    )
    assert "removed]" in shown
    assert key not in shown
    person.context.log.flush()
    assert len(agent.activity(200)) == before


@pytest.fixture
def key() -> str:
    """A string in the form of a code host's key."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def test_a_hit_says_why_it_was_found(desk: Desk, agent: MemoryService) -> None:
    agent.remember("The router keeps carts. Deploys go through the blue pool first; green follows.", title="Pools")
    (row,) = _shown(desk, "memories", query="which pool do deploys use")["rows"]
    assert row["hit"]["passage"] == [
        ["Deploys", 1],
        [" go through the blue ", 0],
        ["pool", 1],
        [" first; green follows.", 0],
    ]
    assert row["hit"]["words"] == 1.0
    assert row["hit"]["meaning"] is None
    assert set(row["hit"]["terms"]) == {"pool", "deploys"}


def test_a_passage_of_a_text_without_blanks_is_short() -> None:
    (piece,) = passage("a" * 65_536, ["pool"])
    assert len(piece[0]) <= 242


@pytest.mark.parametrize("sort", ["updated", "created", "used", "fading", "importance"])
def test_the_ranges_of_a_list_make_the_whole_list(desk: Desk, agent: MemoryService, clock: Clock, sort: str) -> None:
    for number in range(25):
        clock.advance(seconds=1)
        agent.remember(f"fact {number}")
    pages = [_shown(desk, "memories", sort=sort, offset=offset, limit=10) for offset in (0, 10, 20)]
    ids = [row["id"] for page in pages for row in page["rows"]]
    assert [page["total"] for page in pages] == [25] * 3
    assert len(set(ids)) == len(ids) == 25
    if sort in {"updated", "created"}:
        assert ids == sorted(ids, reverse=True)


def test_a_list_follows_its_filters_and_counts_them(desk: Desk, agent: MemoryService) -> None:
    agent.remember("one", kind="decision", tags=["deploy"])
    agent.remember("two", kind="fact", tags=["deploy", "infra"])
    agent.forget([agent.remember("three").memory.id], mode="archive")
    found = _shown(desk, "memories", kinds=["decision"], facets=True)
    assert [row["title"] for row in found["rows"]] == ["one"]
    assert found["facets"]["kinds"] == {"decision": 1}
    assert [row["title"] for row in _shown(desk, "memories", tags=["deploy", "infra"])["rows"]] == ["two"]
    assert [row["title"] for row in _shown(desk, "memories", status="archived")["rows"]] == ["three"]
    assert _shown(desk, "memories", agent="cursor")["rows"] == []


@pytest.mark.parametrize(
    "args",
    [{"limit": 0}, {"limit": 201}, {"offset": -1}, {"query": "x" * 1001}, {"query": 1}, {"kinds": "fact"},
     {"kinds": ["x"]},
     {"status": "gone"}, {"sort": "random"}, {"since": "today"}, {"tags": [1]}, {"query": "a\x00b"}, {"limit": 2.5},
     {"limit": True}, {"scope": "others"}],
)  # fmt: skip
def test_a_wrong_argument_is_named(desk: Desk, args: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        desk.ask("memories", args)


def test_the_history_names_the_author_of_each_version(
    desk: Desk, agent: MemoryService, open_memory: OpenService
) -> None:
    memory = agent.remember("retry 5 times", key="payments.retry").memory
    open_memory("cursor").remember("retry 3 times", key="payments.retry")
    versions = _shown(desk, "memory", id=memory.id)["versions"]
    assert [(each["text"], each["agent"], each["action"]) for each in versions] == [
        ("retry 3 times", "cursor", "conflict"), ("retry 5 times", "codex", "created"),
    ]  # fmt: skip


def test_a_memory_that_fades_says_when_half_is_left(desk: Desk, agent: MemoryService, clock: Clock) -> None:
    memory = agent.remember("a note", kind="note").memory
    clock.advance(days=27)
    fading = _shown(desk, "memory", id=memory.id)["fading"]
    assert fading["left"] == pytest.approx(0.5, abs=0.01)
    assert fading["half_at"] == clock.now + 27 * DAY_MS
    assert fading["past"][0][1] == 1.0
    assert fading["past"][-1][1] == pytest.approx(0.5, abs=0.01)
    assert _shown(desk, "memory", id=agent.remember("x", kind="decision").memory.id)["fading"]["fades"] is False


def test_a_value_that_another_agent_replaced_waits_for_a_person(
    desk: Desk, agent: MemoryService, open_memory: OpenService
) -> None:
    agent.remember("retry 5 times", key="payments.retry")
    open_memory("cursor").remember("retry 3 times", key="payments.retry")
    (found,) = _shown(desk, "review")["items"]
    assert (found["group"], found["title"]) == ("conflicts", "payments.retry")
    assert [(side["role"], side["memory"]["text"]) for side in found["sides"]] == [
        ("now", "retry 3 times"), ("before", "retry 5 times"),
    ]  # fmt: skip
    assert "Cursor replaced the value of payments.retry" in found["reason"]
    assert [row["flags"] for row in _shown(desk, "memories")["rows"]] == [["conflict"]]
    assert [each["kind"] for each in _shown(desk, "memory", id="payments.retry")["warnings"]] == ["conflict"]


def test_home_says_what_agents_need(desk: Desk, agent: MemoryService, open_memory: OpenService) -> None:
    assert _shown(desk, "home")["first_run"] is True
    agent.remember("retry 5 times", key="payments.retry", kind="decision")
    open_memory("cursor").remember("retry 3 times", key="payments.retry", kind="decision")
    home = _shown(desk, "home")
    assert [(need["group"], need["key"]) for need in home["needs"]] == [("conflicts", "payments.retry")]
    assert home["learnt"]["by"] == [["codex", 1]]
    assert [(line["title"], line["kind"]) for line in home["briefing"]["lines"] if line["id"]] == [
        ("retry 3 times", "decision")
    ]
    assert {lane["agent"] for lane in home["lanes"]["agents"]} == {"codex", "cursor"}


def test_what_took_long_is_kept_for_five_times_as_long(person: MemoryService) -> None:
    now, computed = [0.0], []

    def slow() -> int:
        now[0] += 2.0
        computed.append(1)
        return len(computed)

    dashboard = Dashboard(person, "page", clock=lambda: now[0])
    assert dashboard.remembered("needs", "one", slow, patient=True) == 1
    now[0] += 9.9
    assert dashboard.remembered("needs", "other", slow, patient=True) == 1
    assert dashboard.remembered("about", "one", slow) == 2, "another name"
    now[0] += 0.2
    assert dashboard.remembered("needs", "other", slow, patient=True) == 3
    assert dashboard.remembered("about", "other", slow) == 4, "without patience a change counts at once"


def test_a_kept_view_has_the_number_of_changes_that_it_shows(
    person: MemoryService, agent: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, brief = [0.0], person.brief

    def slow(*given: Any) -> str:
        now[0] += 2.0
        return brief(*given)

    monkeypatch.setattr(person, "brief", slow)
    desk = Desk(Dashboard(person, "page", clock=lambda: now[0]))
    agent.remember("deploys go through the blue pool")
    first = desk.ask("home", {})
    agent.remember("the green pool is empty")
    kept = desk.ask("home", {})
    assert kept["data"]["briefing"] == first["data"]["briefing"]
    assert kept["changes"] == first["changes"] != person.changes()
    assert desk.ask("live", {})["changes"] == person.changes(), "by which the page knows that it must ask again"
    now[0] += 10.0
    fresh = desk.ask("home", {})
    assert "green" in fresh["data"]["briefing"]["text"]
    assert fresh["changes"] == person.changes()


def test_a_change_while_a_view_is_made_is_not_counted_as_shown(
    desk: Desk, agent: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = desk.ask("live", {})["changes"]

    def show(*_: object) -> dict[str, Any]:
        agent.remember("deploys go through the blue pool")
        return {}

    monkeypatch.setattr(views, "VIEWS", {**views.VIEWS, "home": show})
    assert desk.ask("home", {})["changes"] == before != agent.changes()


def test_activity_is_read_page_by_page(desk: Desk, agent: MemoryService) -> None:
    for number in range(7):
        agent.remember(f"fact {number}")
    first = _shown(desk, "activity", what="writes", limit=4, cards=True)
    second = _shown(desk, "activity", what="writes", limit=4, cursor=first["cursor"])
    assert [entry["title"] for entry in (*first["entries"], *second["entries"])] == [
        f"fact {n}" for n in range(6, -1, -1)
    ]
    assert second["cursor"] == ""
    assert [(card["agent"], card["wrote"], card["days"][-1]) for card in first["cards"]] == [("codex", 7, 7)]


def test_a_refusal_is_shown_by_its_rule(desk: Desk, agent: MemoryService, key: str) -> None:
    with pytest.raises(KeepmumError):
        agent.remember(f"the key is {key}")
    agent.context.log.flush()
    (entry,) = _shown(desk, "activity", what="refused")["entries"]
    assert entry["detail"] == "github.token"
    assert _shown(desk, "health")["refused"]["rules"] == [["github.token", 1]]


def test_handoffs_are_listed_with_what_they_need(desk: Desk, agent: MemoryService) -> None:
    agent.remember("blue first", key="deploy.order", scope="global")
    Handoffs(agent).create("webhook handler", "add tests", context_keys=("deploy.order", "none"))
    (found,) = _shown(desk, "handoffs")["waiting"]
    assert (found["summary"], found["from_agent"]) == ("webhook handler", "codex")
    assert [(need["key"], need["id"] is not None) for need in found["needs"]] == [
        ("deploy.order", True),
        ("none", False),
    ]


_NO_LISTS: tuple[Any, ...] = (5, True, "abc", {"a": 1}, [1], [None], [["a"]])
_NO_TEXT: tuple[Any, ...] = (5, {}, ["a"], None)
_SOUND = {"summary": "webhook handler", "next_steps": "add tests", "from_agent": "codex"}


_DAMAGED: list[dict[str, Any]] = [
    *[{"context_keys": value} for value in _NO_LISTS],
    *[{name: value} for name in (*_SOUND, "status") for value in _NO_TEXT],
    *[{name: {}} for name in ("to_agent", "picked_up_by", "result", "stuck_reason")],
    {"status": "unheard-of"},
]


@pytest.mark.parametrize("damaged", _DAMAGED, ids=json.dumps)
def test_what_only_looks_like_a_handoff_harms_no_other(
    desk: Desk, agent: MemoryService, damaged: dict[str, Any]
) -> None:
    agent.remember("x", key="handoff-7", scope="global", data={"handoff": {**_SOUND, **damaged}})
    Handoffs(agent).create("a real one", "add tests")
    assert [each["summary"] for each in _shown(desk, "handoffs")["waiting"]] == ["a real one"]
    assert desk.ask("live", {"about": True})["about"]["handoffs"] == 1
    assert Handoffs(agent).pick_up(8).status == "in_progress"


@pytest.mark.parametrize("key", ["handoff-" + "9" * 247, "handoff-9999999999", "handoff-007", "handoff-٣"])
def test_a_number_that_no_handoff_can_have_is_not_counted(agent: MemoryService, key: str) -> None:
    agent.remember("x", key=key, scope="global", data={"handoff": _SOUND})
    assert Handoffs(agent).create("a real one", "add tests").number == 1
    assert [each.summary for each in Handoffs(agent).all()] == ["a real one"]


def test_the_highest_number_is_the_last(agent: MemoryService) -> None:
    agent.remember("x", key="handoff-999999999", scope="global", data={"handoff": _SOUND})
    with pytest.raises(InvalidInput, match="no free number"):
        Handoffs(agent).create("a real one", "add tests")


@pytest.mark.parametrize("git", [{"commit": 5}, {"commit": ["0"], "branch": {}}, {"branch": "main"}, {}])
def test_a_commit_that_is_no_text_is_not_shown(desk: Desk, agent: MemoryService, git: dict[str, Any]) -> None:
    memory = _stored(agent, "deploys", git=git)
    assert _shown(desk, "memory", id=memory.id)["memory"]["git"] is None


HOSTILE = (
    "<img src=x onerror=alert(1)>", "javascript:alert(1)", "\u202egnp.exe\u202c and more", "a" * 60_000, "😀 " * 200,
    "</script><script>alert(1)</script>", "ends with half a pair \ud83d",
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=["tag", "link", "bidi", "long", "emoji", "script", "half"])
def test_hostile_text_is_data_in_every_field(desk: Desk, agent: MemoryService, text: str) -> None:
    short = text[:90].encode("utf-8", "ignore").decode()
    memory = _stored(
        agent, "deploys", text=text.encode("utf-8", "ignore").decode(), title=short, why=short, source=short,
        tags=(short,),
        agent=short, session=short, created_by=short, git={"branch": short, "commit": "0" * 40},
    )  # fmt: skip
    shown = json.loads(json.dumps(desk.ask("memory", {"id": memory.id})))["data"]["memory"]
    assert (shown["title"], shown["source"], shown["tags"]) == (short, short, [short])
    assert len(_shown(desk, "memories")["rows"][0]["excerpt"]) <= 240


def test_a_store_that_cannot_be_written_is_looked_at(
    tmp_path: Path, desk: Desk, agent: MemoryService, item: str
) -> None:
    memory = agent.remember("deploys go through the blue pool").memory
    (tmp_path / "keepmum" / "memory.db").chmod(0o400)
    assert _everything(desk, memory.id, item)
