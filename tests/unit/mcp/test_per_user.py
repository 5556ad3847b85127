"""The `per-user` dialect: users strictly apart, categories, decay, a profile without a model, export and erasure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialect_calls import Caller, opened
from keepmum.core.errors import Ambiguous, InvalidInput, NotFound, SecretFound
from keepmum.core.memory import KINDS, Memory
from keepmum.mcp.arguments import KEYWORDS
from keepmum.mcp.calls import ToolCall, plan
from keepmum.mcp.dialects.per_user import SURFACE
from keepmum.mcp.dialects.per_user import profile as profiles
from keepmum.mcp.dialects.per_user.views import kinds_of, weekly_decay

TOKEN = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
DAY = 86_400_000
FIVE = {"MemoryStore", "MemoryRecall", "MemoryForget", "MemoryReflect", "MemoryList"}
Wait = Callable[[float], None]


@pytest.fixture
def tools(project: Path) -> Iterator[Caller]:  # noqa: ARG001 - it is where the process stands
    with opened("per-user") as opened_tools:
        yield opened_tools


@pytest.fixture
def wait(tools: Caller, monkeypatch: pytest.MonkeyPatch) -> Wait:
    """Lets so many days pass."""
    service = tools.handlers._service  # type: ignore[attr-defined]
    clock, passed = service.context.clock, [0.0]
    monkeypatch.setattr(service, "context", replace(service.context, clock=lambda: clock() + int(passed[0] * DAY)))

    def let_pass(days: float) -> None:
        passed[0] += days

    return let_pass


def keep(tools: Caller, content: str, category: str = "fact", user: str = "ada", **more: object) -> str:
    """The id of a memory that is kept."""
    return str(tools.json("MemoryStore", userId=user, content=content, category=category, **more)["memoryId"])


def recalled(tools: Caller, user: str = "ada", **wanted: object) -> list[str]:
    return [row["content"] for row in tools.json("MemoryRecall", userId=user, **wanted)["memories"]]


# -- what is offered


def test_the_tools_and_their_parameters_are_those_of_the_specification() -> None:
    offered = {tool.name: set(tool.parameters["properties"]) for tool in SURFACE.tools}  # type: ignore[call-overload]
    assert offered == {
        "MemoryStore": {
            "userId", "content", "category", "tier", "importance", "confidence", "tags", "context", "supersedes",
        },
        "MemoryRecall": {"userId", "query", "categories", "tags", "tier", "minImportance", "limit", "includeContext"},
        "MemoryForget": {"userId", "memoryId", "query", "categories", "olderThan", "mode", "reason"},
        "MemoryReflect": {"userId", "focus", "includeMemories"},
        "MemoryList": {"userId", "category", "tier", "sortBy", "order", "page", "pageSize"},
        "MemoryExport": {"userId"},
        "MemoryErase": {"userId", "confirm"},
    }  # fmt: skip


@pytest.mark.parametrize("tool", SURFACE.tools, ids=lambda tool: tool.name)
def test_each_tool_wants_a_user_and_says_what_it_may_change(tool: Any) -> None:
    assert "userId" in tool.parameters["required"]
    assert {"readOnlyHint", "openWorldHint"} <= set(tool.annotations)
    assert all(set(field) <= KEYWORDS | {"description"} for field in tool.parameters["properties"].values())


@pytest.mark.parametrize("name", ["MemoryStore", "memory_store", "memory_reflect", "memory_list"])
def test_both_spellings_of_a_name_are_understood(name: str) -> None:
    assert isinstance(plan(SURFACE, "tools/call", {"name": name}), ToolCall)


# -- storing


def test_a_new_memory_is_told_with_its_tier(tools: Caller) -> None:
    told = tools.json("MemoryStore", userId="ada", content="Prefers TypeScript", category="preference")
    assert told["memoryId"].startswith("mem_")
    assert {name: told[name] for name in ("status", "userId", "category", "tier", "similarMemories")} == {
        "status": "created", "userId": "ada", "category": "preference", "tier": "long-term", "similarMemories": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("category", "tier"),
    [("preference", "long-term"), ("fact", "long-term"), ("relationship", "long-term"), ("skill", "long-term"),
     ("project", "mid-term"), ("personality", "long-term"), ("instruction", "long-term")],
)  # fmt: skip
def test_the_tier_follows_from_the_category_unless_it_is_said(tools: Caller, category: str, tier: str) -> None:
    assert tools.json("MemoryStore", userId="ada", content="One", category=category)["tier"] == tier
    other = "mid-term" if tier == "long-term" else "long-term"
    assert tools.json("MemoryStore", userId="ada", content="Two", category=category, tier=other)["tier"] == other


def test_importance_and_confidence_have_defaults_and_are_clamped(tools: Caller) -> None:
    keep(tools, "One"), keep(tools, "Two", importance=7, confidence=-1)
    (one, two) = sorted(tools.json("MemoryExport", userId="ada")["memories"], key=lambda row: row["content"])
    assert (one["importance"], one["confidence"]) == (0.5, 0.7)
    assert (two["importance"], two["confidence"]) == (1.0, 0.0)


def test_tags_come_as_a_list_or_with_commas(tools: Caller) -> None:
    keep(tools, "One", tags="coding, style"), keep(tools, "Two", tags=["coding"])
    assert sorted(recalled(tools, tags="coding")) == ["One", "Two"]
    assert recalled(tools, tags=["style", "nothing"]) == ["One"]


def test_the_very_same_text_is_stored_once(tools: Caller) -> None:
    first = keep(tools, "Works at Acme")
    told = tools.json("MemoryStore", userId="ada", content="Works at Acme", category="fact")
    assert (told["status"], told["memoryId"]) == ("skipped", first)


def test_what_is_superseded_stays_in_the_history_alone(tools: Caller) -> None:
    old = keep(tools, "Works at TechCorp")
    told = tools.json("MemoryStore", userId="ada", content="Works at StartupXYZ", category="fact", supersedes=old)
    assert (told["status"], told["superseded"]) == ("created", old)
    assert recalled(tools) == ["Works at StartupXYZ"]
    exported = {row["content"]: row for row in tools.json("MemoryExport", userId="ada")["memories"]}
    assert exported["Works at TechCorp"]["supersededById"] == told["memoryId"]


def test_a_category_may_have_categories_below_it(tools: Caller) -> None:
    keep(tools, "Bullet points", "preference/communication/format"), keep(tools, "Vim", "preference/tools")
    assert recalled(tools, categories=["preference/communication"]) == ["Bullet points"]
    assert len(recalled(tools, categories="preference")) == 2


@pytest.mark.parametrize("category", ["", "mood", "mood/bad", "/"])
def test_a_category_that_there_is_not_is_refused(tools: Caller, category: str) -> None:
    with pytest.raises(InvalidInput, match="category"):
        keep(tools, "One", category)


def test_a_secret_is_refused_in_every_field(tools: Caller) -> None:
    for field in ("content", "context", "userId"):
        fields: dict[str, Any] = {"userId": "ada", "content": "x", "category": "fact", field: f"token {TOKEN}"}
        with pytest.raises(SecretFound):
            tools.json("MemoryStore", **fields)
    assert recalled(tools) == []


def test_no_answer_repeats_a_secret_that_a_call_named(tools: Caller) -> None:
    keep(tools, "Likes tea")
    told = [
        tools.text("MemoryRecall", userId="ada", query=f"tea {TOKEN}"),
        tools.text("MemoryForget", userId="ada", query="tea", reason=f"it held {TOKEN}"),
        tools.text("MemoryList", userId=TOKEN),
    ]
    assert [TOKEN in words for words in told] == [False, False, False]


def test_every_kind_of_the_core_is_of_one_category() -> None:
    categories = ("preference", "fact", "relationship", "skill", "project", "personality", "instruction")
    assert sorted(kind for category in categories for kind in kinds_of(category)) == sorted(KINDS)


# -- users apart


def test_no_tool_shows_what_belongs_to_another_user(tools: Caller) -> None:
    keep(tools, "Ada works at Acme", user="ada")
    for name in ("MemoryRecall", "MemoryReflect", "MemoryList", "MemoryExport"):
        assert "Acme" not in tools.text(name, userId="bob")
    for name in ("MemoryRecall", "MemoryForget"):
        assert "Ada" not in tools.text(name, userId="bob", query="works at Acme")
    assert "Ada" not in tools.text("MemoryReflect", userId="bob", focus="works at Acme")
    assert recalled(tools) == ["Ada works at Acme"]


def test_another_users_memory_can_be_neither_replaced_nor_forgotten(tools: Caller) -> None:
    hers = keep(tools, "Works at Acme")
    with pytest.raises((NotFound, Ambiguous)):
        keep(tools, "Works at Evil", user="bob", supersedes=hers)
    for mode in ("delete", "decay", "archive"):
        with pytest.raises((NotFound, Ambiguous)):
            tools.json("MemoryForget", userId="bob", memoryId=hers, mode=mode)
    assert tools.json("MemoryErase", userId="bob", confirm="bob")["erasedCount"] == 0
    assert recalled(tools) == ["Works at Acme"]


def test_the_same_text_of_two_users_is_two_memories(tools: Caller) -> None:
    assert keep(tools, "Uses macOS") != keep(tools, "Uses macOS", user="bob")


@pytest.mark.parametrize("user", ["", " ada", "ada\n", "a\u200bda", "ada\x1fbob", "\ufeffada"])
def test_a_name_that_could_be_taken_for_another_is_refused(tools: Caller, user: str) -> None:
    with pytest.raises(InvalidInput, match="userId"):
        tools.json("MemoryRecall", userId=user)


def test_memories_of_no_user_are_of_none_here_and_his_are_nowhere_else(tools: Caller) -> None:
    service = tools.handlers._service  # type: ignore[attr-defined]
    service.remember("Of nobody", scope="global")
    keep(tools, "Of Ada")
    assert recalled(tools) == ["Of Ada"]
    assert [match.memory.text for match in service.recall(scope="all")] == ["Of nobody"]


def test_the_briefing_of_this_machine_tells_nothing_of_a_user(tools: Caller, home: Path) -> None:
    keep(tools, "Answer in Spanish", "instruction")
    assert "Spanish" not in "".join(file.read_text(encoding="utf-8") for file in (home / ".keepmum").rglob("*.md"))


def test_a_server_that_is_set_to_one_user_serves_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEEPMUM_USER", "ada")
    with opened("per-user") as tools:
        keep(tools, "Of Ada")
        with pytest.raises(InvalidInput, match="restrict this server to one user"):
            tools.json("MemoryRecall", userId="bob")


# -- recalling


def test_a_recalled_memory_has_the_fields_of_the_specification(tools: Caller) -> None:
    keep(tools, "Prefers FastAPI over Flask", "preference", context="Said so")
    told = tools.json("MemoryRecall", userId="ada", query="which web framework, FastAPI?")
    assert set(told) == {"userId", "query", "memories", "totalMatches", "personalitySummary"}
    (row,) = told["memories"]
    assert set(row) == {"id", "category", "tier", "content", "importance", "relevance", "lastAccessed"}
    assert 0 < row["relevance"] <= 1
    (row,) = tools.json("MemoryRecall", userId="ada", includeContext=True)["memories"]
    assert row["context"] == "Said so"


def test_of_a_new_user_nothing_is_known(tools: Caller) -> None:
    told = tools.json("MemoryRecall", userId="new", categories=["preference", "personality", "instruction"])
    assert (told["memories"], told["totalMatches"], told["personalitySummary"]) == ([], 0, None)


def test_filters_narrow_it_down(tools: Caller) -> None:
    keep(tools, "One", "fact", importance=0.9), keep(tools, "Two", "project", importance=0.2)
    assert recalled(tools, categories=["fact", "skill"]) == ["One"]
    assert recalled(tools, categories="project, skill") == ["Two"]
    assert recalled(tools, tier="mid-term") == ["Two"]
    assert recalled(tools, minImportance=0.5) == ["One"]


def test_what_matters_and_was_used_lately_comes_first(tools: Caller, wait: Wait) -> None:
    keep(tools, "Old and plain", importance=0.5)
    wait(30)
    keep(tools, "New and plain", importance=0.5), keep(tools, "New and weighty", importance=0.9)
    assert recalled(tools) == ["New and weighty", "New and plain", "Old and plain"]


def test_a_limit_leaves_the_count_of_all(tools: Caller) -> None:
    for number in range(12):
        keep(tools, f"Fact {number}")
    told = tools.json("MemoryRecall", userId="ada")
    assert (len(told["memories"]), told["totalMatches"]) == (10, 12)
    assert len(recalled(tools, limit=3)) == 3


def test_recalling_counts_as_use(tools: Caller) -> None:
    keep(tools, "One"), recalled(tools), recalled(tools)
    (row,) = tools.json("MemoryList", userId="ada")["memories"]
    assert row["accessCount"] == 2
    assert row["lastAccessedAt"]


# -- fading


def memory(**more: Any) -> Memory:
    return Memory(**{"id": "m", "text": "", "title": "", "created_at": 0, "updated_at": 0, "kind": "project", **more})


@pytest.mark.parametrize(
    ("faded", "days", "left"),
    [
        (memory(), 6.9, None),
        (memory(), 7, 0.45),
        (memory(), 14, 0.405),
        (memory(accessed_at=7 * DAY), 14, 0.45),
        (memory(tier="long"), 700, None),
        (memory(kind="instruction", tier="mid"), 700, None),
    ],
    ids=["within the week", "a week", "two weeks", "since the last use", "long-term", "instruction"],
)
def test_a_tenth_goes_with_each_week_without_use(faded: Memory, days: float, left: float | None) -> None:
    assert weekly_decay(faded, int(days * DAY)) == pytest.approx(left)


def test_what_fades_is_less_important_from_then_on(tools: Caller, wait: Wait) -> None:
    keep(tools, "Asked about Redis", "project", importance=0.5)
    wait(14)
    importances = [tools.json("MemoryRecall", userId="ada")["memories"][0]["importance"] for _ in range(2)]
    assert importances == pytest.approx([0.405, 0.405], abs=0.002)


def test_what_has_faded_is_archived_and_found_by_a_query_alone(tools: Caller, wait: Wait) -> None:
    keep(tools, "Asked about Redis", "project", importance=0.15)
    wait(35)
    assert recalled(tools) == []
    (row,) = tools.json("MemoryRecall", userId="ada", query="redis")["memories"]
    assert (row["content"], row["archived"]) == ("Asked about Redis", True)


# -- forgetting


def test_one_that_is_named_is_deleted_and_can_be_brought_back(tools: Caller) -> None:
    name = keep(tools, "Works at OldCo")
    told = tools.json("MemoryForget", userId="ada", memoryId=name, reason="User changed jobs")
    assert told == {
        "status": "success", "action": "deleted", "affectedCount": 1,
        "affectedMemories": [{"id": name, "content": "Works at OldCo"}], "reason": "User changed jobs",
    }  # fmt: skip
    assert recalled(tools) == []
    assert tools.json("MemoryExport", userId="ada")["memories"][0]["status"] == "trashed"


def test_a_query_means_those_in_which_every_word_occurs(tools: Caller) -> None:
    keep(tools, "Project Alpha uses Go", "project"), keep(tools, "Project Beta uses Go", "project")
    keep(tools, "Alpha male jokes", "relationship")
    told = tools.json("MemoryForget", userId="ada", query="project alpha", mode="archive")
    assert (told["action"], told["affectedCount"]) == ("archived", 1)
    told = tools.json("MemoryForget", userId="ada", query="alpha", categories=["relationship"])
    assert told["affectedMemories"][0]["content"] == "Alpha male jokes"
    assert recalled(tools) == ["Project Beta uses Go"]


def test_decay_halves_the_importance(tools: Caller) -> None:
    keep(tools, "Lives in Rome", importance=0.8)
    assert tools.json("MemoryForget", userId="ada", query="rome", mode="decay")["action"] == "decayed"
    assert tools.json("MemoryList", userId="ada")["memories"][0]["importance"] == 0.4


def test_only_what_is_older_is_forgotten(tools: Caller, wait: Wait) -> None:
    keep(tools, "Rome in spring")
    wait(10)
    keep(tools, "Rome in autumn")
    told = tools.json("MemoryForget", userId="ada", query="rome", olderThan="5d")
    assert [row["content"] for row in told["affectedMemories"]] == ["Rome in spring"]
    assert recalled(tools) == ["Rome in autumn"]


def test_something_must_be_meant(tools: Caller) -> None:
    with pytest.raises(InvalidInput, match="give one, or a query"):
        tools.json("MemoryForget", userId="ada", categories=["fact"])


# -- reflecting


@pytest.fixture
def known(tools: Caller) -> None:
    for content, category, importance in (
        ("Senior backend developer", "fact", 0.9),
        ("Uses Docker and PostgreSQL", "fact", 0.8),
        ("Expert in Go", "skill", 0.9),
        ("Learning Rust", "skill", 0.6),
        ("Prefers code examples", "preference", 0.8),
        ("Doesn't like long caveats", "preference", 0.7),
        ("Always answer in Spanish", "instruction", 1.0),
        ("Use dry humor", "personality", 0.6),
        ("Migrating the monolith", "project", 0.5),
    ):
        keep(tools, content, category, importance=importance)


@pytest.mark.usefixtures("known")
def test_a_profile_is_made_of_what_is_stored(tools: Caller) -> None:
    told = tools.json("MemoryReflect", userId="ada")
    assert told["profile"] == {
        "summary": "Senior backend developer; Uses Docker and PostgreSQL; Expert in Go; Learning Rust",
        "communicationStyle": {
            "preference": "Prefers code examples",
            "avoidances": ["Doesn't like long caveats"],
            "appreciated": ["Prefers code examples"],
        },
        "technicalContext": {
            "expertise": ["Expert in Go"], "learning": ["Learning Rust"], "stack": ["Uses Docker and PostgreSQL"],
        },
        "interactionGuidelines": ["Always answer in Spanish", "Use dry humor"],
        "activeProjects": ["Migrating the monolith"],
    }  # fmt: skip
    assert (told["basedOnMemories"], told["confidence"]) == (9, round(9 / 20 * 0.7, 2))
    assert tools.json("MemoryReflect", userId="ada")["profile"] == told["profile"]


@pytest.mark.usefixtures("known")
def test_a_focus_reflects_on_a_part(tools: Caller) -> None:
    told = tools.json("MemoryReflect", userId="ada", focus="communication", includeMemories=True)
    assert {row["category"] for row in told["memories"]} == {"preference", "instruction", "personality"}
    assert told["profile"]["technicalContext"]["expertise"] == []
    about = tools.json("MemoryReflect", userId="ada", focus="monolith")
    assert about["profile"]["activeProjects"] == ["Migrating the monolith"]


def test_of_nobody_there_is_no_profile(tools: Caller) -> None:
    told = tools.json("MemoryReflect", userId="ada")
    assert (told["profile"], told["confidence"], told["basedOnMemories"]) == (None, 0.0, 0)
    assert told["message"]


def test_a_profile_is_as_sure_as_its_memories_and_as_many_as_they_are() -> None:
    assert profiles.confidence([memory(confidence=0.8)] * 10) == 0.4
    assert profiles.confidence([memory(confidence=0.8)] * 40) == 0.8


# -- listing


def test_a_list_has_pages_and_counts(tools: Caller, wait: Wait) -> None:
    for number in range(5):
        keep(tools, f"Fact {number}")
        wait(0.01)  # memories of one millisecond have no order
    keep(tools, "API", "project")
    told = tools.json("MemoryList", userId="ada", category="fact", page=2, pageSize=2, order="asc")
    assert [row["content"] for row in told["memories"]] == ["Fact 2", "Fact 3"]
    assert told["pagination"] == {"page": 2, "pageSize": 2, "totalItems": 5, "totalPages": 3}
    assert told["stats"] == {"byCategory": {"fact": 5, "project": 1}, "byTier": {"long-term": 5, "mid-term": 1}}


@pytest.mark.parametrize(
    ("sort", "expected"), [("created", "CBA"), ("accessed", "ACB"), ("importance", "BCA"), (None, "CBA")]
)
def test_a_list_is_sorted_as_wanted(tools: Caller, wait: Wait, sort: str | None, expected: str) -> None:
    for name, importance in (("A", 0.1), ("B", 0.9), ("C", 0.5)):
        keep(tools, name, importance=importance, tags=[name])
        wait(0.1)
    recalled(tools, tags=["a"])
    how = {} if sort is None else {"sortBy": sort}
    for order, names in (("desc", expected), ("asc", expected[::-1])):
        rows = tools.json("MemoryList", userId="ada", order=order, **how)["memories"]
        assert "".join(row["content"] for row in rows) == names


# -- all of it


def test_an_export_holds_everything_of_the_user_and_of_no_other(tools: Caller) -> None:
    keep(tools, "One", context="why", tags=["x"]), keep(tools, "Two", user="bob")
    told = tools.json("MemoryExport", userId="ada")
    assert told["count"] == 1
    assert (
        told["memories"][0] | {"content": "One", "context": "why", "tags": ["x"], "userId": "ada"}
        == (told["memories"][0])
    )


def test_an_erasure_leaves_no_byte_of_the_user_and_all_of_the_others(tools: Caller, home: Path) -> None:
    service = tools.handlers._service  # type: ignore[attr-defined]
    keep(tools, "Loves xylophones"), keep(tools, "Uses macOS", user="bob")
    gone = keep(tools, "Plays xylophones badly")
    tools.json("MemoryForget", userId="ada", memoryId=gone, reason="xylophones are a joke")
    recalled(tools, query="does Ada play xylophones?")
    service.upkeep()  # a backup
    told = tools.json("MemoryErase", userId="ada", confirm="ada")
    assert told == {"userId": "ada", "status": "erased", "erasedCount": 2}
    files = [file for file in (home / ".keepmum").rglob("*") if file.is_file() and "pycache" not in str(file)]
    assert [file.name for file in files if b"xylophone" in file.read_bytes().lower()] == []
    assert recalled(tools, user="bob") == ["Uses macOS"]


def test_an_erasure_wants_the_name_twice(tools: Caller) -> None:
    keep(tools, "One")
    with pytest.raises(InvalidInput, match="nothing was erased"):
        tools.json("MemoryErase", userId="ada", confirm="yes")
    assert recalled(tools) == ["One"]
