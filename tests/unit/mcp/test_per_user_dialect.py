"""The `per-user` dialect: isolated users, categories, decay, a profile without a model, export and erasure."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dialect_calls import Caller, opened
from keepmum import embedding
from keepmum.core.errors import Ambiguous, InvalidInput, NotFound, SecretFound
from keepmum.core.memory import KINDS, Memory
from keepmum.embedding.fake import FakeEmbedder
from keepmum.mcp.arguments import KEYWORDS
from keepmum.mcp.calls import ToolCall, plan
from keepmum.mcp.dialects.per_user import SURFACE
from keepmum.mcp.dialects.per_user import profile as profiles
from keepmum.mcp.dialects.per_user.views import kinds_of, weekly_decay
from keepmum.service import opening

TOKEN = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
DAY = 86_400_000
FIVE = {"MemoryStore", "MemoryRecall", "MemoryForget", "MemoryReflect", "MemoryList"}
Advance = Callable[[float], None]


@pytest.fixture
def tools(project: Path) -> Iterator[Caller]:  # noqa: ARG001 - sets the working folder
    with opened("per-user") as opened_tools:
        yield opened_tools


@pytest.fixture
def advance(tools: Caller) -> Advance:
    """Advances the clock by a number of days."""
    return lambda days: tools.shift_clock(int(days * DAY))


def store(tools: Caller, content: str, category: str = "fact", user: str = "ada", **more: object) -> str:
    """The id of a new memory."""
    return str(tools.json("MemoryStore", userId=user, content=content, category=category, **more)["memoryId"])


def recalled(tools: Caller, user: str = "ada", **wanted: object) -> list[str]:
    return [row["content"] for row in tools.json("MemoryRecall", userId=user, **wanted)["memories"]]


# -- tools


def test_tools_and_parameters_match_the_specification() -> None:
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
        "MemoryErase": {"userId", "memoryId", "confirm"},
        "MemoryAudit": {"userId", "memoryId", "limit"},
    }  # fmt: skip


@pytest.mark.parametrize("tool", SURFACE.tools, ids=lambda tool: tool.name)
def test_each_tool_requires_a_user_and_declares_its_effects(tool: Any) -> None:
    assert "userId" in tool.parameters["required"]
    assert {"readOnlyHint", "openWorldHint"} <= set(tool.annotations)
    assert all(set(field) <= KEYWORDS | {"description"} for field in tool.parameters["properties"].values())


@pytest.mark.parametrize("name", ["MemoryStore", "memory_store", "memory_reflect", "memory_list"])
def test_both_spellings_of_a_tool_name_are_accepted(name: str) -> None:
    assert isinstance(plan(SURFACE, "tools/call", {"name": name}), ToolCall)


# -- store


def test_new_memory_is_confirmed_with_its_tier(tools: Caller) -> None:
    answer = tools.json("MemoryStore", userId="ada", content="Prefers TypeScript", category="preference")
    assert answer["memoryId"].startswith("mem_")
    assert {name: answer[name] for name in ("status", "userId", "category", "tier", "similarMemories")} == {
        "status": "created", "userId": "ada", "category": "preference", "tier": "long-term", "similarMemories": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("category", "tier"),
    [("preference", "long-term"), ("fact", "long-term"), ("relationship", "long-term"), ("skill", "long-term"),
     ("project", "mid-term"), ("personality", "long-term"), ("instruction", "long-term")],
)  # fmt: skip
def test_default_tier_depends_on_the_category(tools: Caller, category: str, tier: str) -> None:
    assert tools.json("MemoryStore", userId="ada", content="One", category=category)["tier"] == tier
    other = "mid-term" if tier == "long-term" else "long-term"
    assert tools.json("MemoryStore", userId="ada", content="Two", category=category, tier=other)["tier"] == other


def test_importance_and_confidence_have_defaults_and_are_clamped(tools: Caller) -> None:
    store(tools, "One"), store(tools, "Two", importance=7, confidence=-1)
    (one, two) = sorted(tools.json("MemoryExport", userId="ada")["memories"], key=lambda row: row["content"])
    assert (one["importance"], one["confidence"]) == (0.5, 0.7)
    assert (two["importance"], two["confidence"]) == (1.0, 0.0)


def test_an_answer_has_both_that_a_memory_stays_and_where_it_is_stored(
    project: Path,  # noqa: ARG001 - sets the working folder
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environ = {**os.environ, "KEEPMUM_USER": "ada"}
    with opening.open_session(environ, "cli", trust="person", upkeep=False) as service:
        persons = service.remember("Prefers tabs", scope="global", kind="preference").memory.id
    monkeypatch.setenv("MEMORY_API_URL", "http://127.0.0.1:9")
    with opened("per-user") as tools:
        wanted = {"userId": "ada", "content": "Prefers spaces", "category": "preference", "supersedes": persons}
        notice = tools.json("MemoryStore", **wanted)["notice"]
    assert f"Not replaced: {persons[:8]}" in notice
    assert "stored on this machine" in notice


def test_tags_are_a_list_or_comma_separated(tools: Caller) -> None:
    store(tools, "One", tags="coding, style"), store(tools, "Two", tags=["coding"])
    assert sorted(recalled(tools, tags="coding")) == ["One", "Two"]
    assert recalled(tools, tags=["style", "nothing"]) == ["One"]


def test_identical_text_is_stored_once(tools: Caller) -> None:
    first = store(tools, "Works at Acme")
    answer = tools.json("MemoryStore", userId="ada", content="Works at Acme", category="fact")
    assert (answer["status"], answer["memoryId"]) == ("skipped", first)


def test_superseded_memory_remains_only_in_the_export(tools: Caller) -> None:
    old = store(tools, "Works at TechCorp")
    answer = tools.json("MemoryStore", userId="ada", content="Works at StartupXYZ", category="fact", supersedes=old)
    assert (answer["status"], answer["superseded"]) == ("created", old)
    assert recalled(tools) == ["Works at StartupXYZ"]
    exported = {row["content"]: row for row in tools.json("MemoryExport", userId="ada")["memories"]}
    assert exported["Works at TechCorp"]["supersededById"] == answer["memoryId"]


def test_category_includes_its_subcategories(tools: Caller) -> None:
    store(tools, "Bullet points", "preference/communication/format"), store(tools, "Vim", "preference/tools")
    assert recalled(tools, categories=["preference/communication"]) == ["Bullet points"]
    assert len(recalled(tools, categories="preference")) == 2


@pytest.mark.parametrize("category", ["", "mood", "mood/bad", "/"])
def test_unknown_category_is_refused(tools: Caller, category: str) -> None:
    with pytest.raises(InvalidInput, match="category"):
        store(tools, "One", category)


def test_secret_is_refused_in_every_field(tools: Caller) -> None:
    for field in ("content", "context", "userId"):
        fields: dict[str, Any] = {"userId": "ada", "content": "x", "category": "fact", field: f"token {TOKEN}"}
        with pytest.raises(SecretFound):
            tools.json("MemoryStore", **fields)
    assert recalled(tools) == []


def test_no_answer_repeats_a_secret_from_a_call(tools: Caller) -> None:
    store(tools, "Likes tea")
    answer = [
        tools.text("MemoryRecall", userId="ada", query=f"tea {TOKEN}"),
        tools.text("MemoryForget", userId="ada", query="tea", reason=f"it held {TOKEN}"),
        tools.text("MemoryList", userId=TOKEN),
    ]
    assert [TOKEN in words for words in answer] == [False, False, False]


def test_every_kind_belongs_to_one_category() -> None:
    categories = ("preference", "fact", "relationship", "skill", "project", "personality", "instruction")
    assert sorted(kind for category in categories for kind in kinds_of(category)) == sorted(KINDS)


# -- isolation of users


def test_no_tool_shows_memories_of_another_user(tools: Caller) -> None:
    store(tools, "Ada works at Acme", user="ada")
    for name in ("MemoryRecall", "MemoryReflect", "MemoryList", "MemoryExport"):
        assert "Acme" not in tools.text(name, userId="bob")
    for name in ("MemoryRecall", "MemoryForget"):
        assert "Ada" not in tools.text(name, userId="bob", query="works at Acme")
    assert "Ada" not in tools.text("MemoryReflect", userId="bob", focus="works at Acme")
    assert recalled(tools) == ["Ada works at Acme"]


def test_memory_of_another_user_cannot_be_replaced_or_forgotten(tools: Caller) -> None:
    memory_id = store(tools, "Works at Acme")
    with pytest.raises((NotFound, Ambiguous)):
        store(tools, "Works at Evil", user="bob", supersedes=memory_id)
    for mode in ("delete", "decay", "archive"):
        with pytest.raises((NotFound, Ambiguous)):
            tools.json("MemoryForget", userId="bob", memoryId=memory_id, mode=mode)
    assert tools.json("MemoryErase", userId="bob", confirm="bob")["erasedCount"] == 0
    assert recalled(tools) == ["Works at Acme"]


def test_same_text_of_two_users_is_two_memories(tools: Caller) -> None:
    assert store(tools, "Uses macOS") != store(tools, "Uses macOS", user="bob")


@pytest.mark.parametrize("user", ["", " ada", "ada\n", "a\u200bda", "ada\x1fbob", "\ufeffada"])
def test_ambiguous_user_name_is_refused(tools: Caller, user: str) -> None:
    with pytest.raises(InvalidInput, match="userId"):
        tools.json("MemoryRecall", userId=user)


def test_memories_with_and_without_a_user_are_separate(tools: Caller) -> None:
    service = tools.service
    service.remember("Of nobody", scope="global")
    store(tools, "Of Ada")
    assert recalled(tools) == ["Of Ada"]
    assert [match.memory.text for match in service.recall(scope="all")] == ["Of nobody"]


def test_briefing_files_hold_nothing_of_a_user(tools: Caller, home: Path) -> None:
    store(tools, "Answer in Spanish", "instruction")
    assert "Spanish" not in "".join(file.read_text(encoding="utf-8") for file in (home / ".keepmum").rglob("*.md"))


def test_server_restricted_to_one_user_refuses_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEEPMUM_USER", "ada")
    with opened("per-user") as tools:
        store(tools, "Of Ada")
        with pytest.raises(InvalidInput, match="restrict this server to one user"):
            tools.json("MemoryRecall", userId="bob")


# -- recall


def test_recalled_memory_has_the_fields_of_the_specification(tools: Caller) -> None:
    store(tools, "Prefers FastAPI over Flask", "preference", context="Said so")
    answer = tools.json("MemoryRecall", userId="ada", query="which web framework, FastAPI?")
    assert set(answer) == {"userId", "query", "memories", "totalMatches", "personalitySummary"}
    (row,) = answer["memories"]
    assert set(row) == {"id", "category", "tier", "content", "importance", "relevance", "lastAccessed"}
    assert 0 < row["relevance"] <= 1
    (row,) = tools.json("MemoryRecall", userId="ada", includeContext=True)["memories"]
    assert row["context"] == "Said so"


def test_recall_for_a_new_user_is_empty(tools: Caller) -> None:
    answer = tools.json("MemoryRecall", userId="new", categories=["preference", "personality", "instruction"])
    assert (answer["memories"], answer["totalMatches"], answer["personalitySummary"]) == ([], 0, None)


def test_recall_filters_by_category_tier_and_importance(tools: Caller) -> None:
    store(tools, "One", "fact", importance=0.9), store(tools, "Two", "project", importance=0.2)
    assert recalled(tools, categories=["fact", "skill"]) == ["One"]
    assert recalled(tools, categories="project, skill") == ["Two"]
    assert recalled(tools, tier="mid-term") == ["Two"]
    assert recalled(tools, minImportance=0.5) == ["One"]


def test_recall_ranks_by_importance_and_recency(tools: Caller, advance: Advance) -> None:
    store(tools, "Old and plain", importance=0.5)
    advance(30)
    store(tools, "New and plain", importance=0.5), store(tools, "New and weighty", importance=0.9)
    assert recalled(tools) == ["New and weighty", "New and plain", "Old and plain"]


def test_recall_limit_does_not_change_the_total(tools: Caller) -> None:
    for number in range(12):
        store(tools, f"Fact {number}")
    answer = tools.json("MemoryRecall", userId="ada")
    assert (len(answer["memories"]), answer["totalMatches"]) == (10, 12)
    assert len(recalled(tools, limit=3)) == 3


def test_recall_counts_as_access(tools: Caller) -> None:
    store(tools, "One"), recalled(tools), recalled(tools)
    (row,) = tools.json("MemoryList", userId="ada")["memories"]
    assert row["accessCount"] == 2
    assert row["lastAccessedAt"]


# -- decay


def memory(**more: Any) -> Memory:
    return Memory(**{"id": "m", "text": "", "title": "", "created_at": 0, "updated_at": 0, "kind": "project", **more})


@pytest.mark.parametrize(
    ("subject", "days", "left"),
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
def test_importance_decays_by_a_tenth_per_unused_week(subject: Memory, days: float, left: float | None) -> None:
    assert weekly_decay(subject, int(days * DAY)) == pytest.approx(left)


def test_decay_is_persisted(tools: Caller, advance: Advance) -> None:
    store(tools, "Asked about Redis", "project", importance=0.5)
    advance(14)
    importances = [tools.json("MemoryRecall", userId="ada")["memories"][0]["importance"] for _ in range(2)]
    assert importances == pytest.approx([0.405, 0.405], abs=0.002)


def test_decayed_memory_is_archived_and_found_only_by_query(tools: Caller, advance: Advance) -> None:
    store(tools, "Asked about Redis", "project", importance=0.15)
    advance(35)
    assert recalled(tools) == []
    (row,) = tools.json("MemoryRecall", userId="ada", query="redis")["memories"]
    assert (row["content"], row["archived"]) == ("Asked about Redis", True)


# -- forget


def test_memory_forgotten_by_id_goes_to_the_trash(tools: Caller) -> None:
    name = store(tools, "Works at OldCo")
    answer = tools.json("MemoryForget", userId="ada", memoryId=name, reason="User changed jobs")
    assert answer == {
        "status": "success", "action": "deleted", "affectedCount": 1,
        "affectedMemories": [{"id": name, "content": "Works at OldCo"}], "reason": "User changed jobs",
    }  # fmt: skip
    assert recalled(tools) == []
    assert tools.json("MemoryExport", userId="ada")["memories"][0]["status"] == "trashed"


def test_forget_by_query_requires_every_word(tools: Caller) -> None:
    store(tools, "Project Alpha uses Go", "project"), store(tools, "Project Beta uses Go", "project")
    store(tools, "Alpha male jokes", "relationship")
    answer = tools.json("MemoryForget", userId="ada", query="project alpha", mode="archive")
    assert (answer["action"], answer["affectedCount"]) == ("archived", 1)
    answer = tools.json("MemoryForget", userId="ada", query="alpha", categories=["relationship"])
    assert answer["affectedMemories"][0]["content"] == "Alpha male jokes"
    assert recalled(tools) == ["Project Beta uses Go"]


def test_forget_by_decay_halves_the_importance(tools: Caller) -> None:
    store(tools, "Lives in Rome", importance=0.8)
    assert tools.json("MemoryForget", userId="ada", query="rome", mode="decay")["action"] == "decayed"
    assert tools.json("MemoryList", userId="ada")["memories"][0]["importance"] == 0.4


def test_forget_respects_the_minimum_age(tools: Caller, advance: Advance) -> None:
    store(tools, "Rome in spring")
    advance(10)
    store(tools, "Rome in autumn")
    answer = tools.json("MemoryForget", userId="ada", query="rome", olderThan="5d")
    assert [row["content"] for row in answer["affectedMemories"]] == ["Rome in spring"]
    assert recalled(tools) == ["Rome in autumn"]


def test_forget_without_id_or_query_is_refused(tools: Caller) -> None:
    with pytest.raises(InvalidInput, match="give one, or a query"):
        tools.json("MemoryForget", userId="ada", categories=["fact"])


# -- reflect


@pytest.fixture
def stored_profile(tools: Caller) -> None:
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
        store(tools, content, category, importance=importance)


@pytest.mark.usefixtures("stored_profile")
def test_profile_is_built_from_stored_memories(tools: Caller) -> None:
    answer = tools.json("MemoryReflect", userId="ada")
    assert answer["profile"] == {
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
    assert (answer["basedOnMemories"], answer["confidence"]) == (9, round(9 / 20 * 0.7, 2))
    assert tools.json("MemoryReflect", userId="ada")["profile"] == answer["profile"]


@pytest.mark.usefixtures("stored_profile")
def test_focus_limits_the_profile(tools: Caller) -> None:
    answer = tools.json("MemoryReflect", userId="ada", focus="communication", includeMemories=True)
    assert {row["category"] for row in answer["memories"]} == {"preference", "instruction", "personality"}
    assert answer["profile"]["technicalContext"]["expertise"] == []
    about = tools.json("MemoryReflect", userId="ada", focus="monolith")
    assert about["profile"]["activeProjects"] == ["Migrating the monolith"]


def test_profile_of_an_unknown_user_is_null(tools: Caller) -> None:
    answer = tools.json("MemoryReflect", userId="ada")
    assert (answer["profile"], answer["confidence"], answer["basedOnMemories"]) == (None, 0.0, 0)
    assert answer["message"]


def test_profile_confidence_grows_with_the_number_of_memories() -> None:
    assert profiles.confidence([memory(confidence=0.8)] * 10) == 0.4
    assert profiles.confidence([memory(confidence=0.8)] * 40) == 0.8


# -- list


def test_list_has_pages_and_counts(tools: Caller, advance: Advance) -> None:
    for number in range(5):
        store(tools, f"Fact {number}")
        advance(0.01)  # memories of the same millisecond have no order
    store(tools, "API", "project")
    answer = tools.json("MemoryList", userId="ada", category="fact", page=2, pageSize=2, order="asc")
    assert [row["content"] for row in answer["memories"]] == ["Fact 2", "Fact 3"]
    assert answer["pagination"] == {"page": 2, "pageSize": 2, "totalItems": 5, "totalPages": 3}
    assert answer["stats"] == {"byCategory": {"fact": 5, "project": 1}, "byTier": {"long-term": 5, "mid-term": 1}}


@pytest.mark.parametrize(
    ("sort", "expected"), [("created", "CBA"), ("accessed", "ACB"), ("importance", "BCA"), (None, "CBA")]
)
def test_list_is_sorted_by_the_given_field(tools: Caller, advance: Advance, sort: str | None, expected: str) -> None:
    for name, importance in (("A", 0.1), ("B", 0.9), ("C", 0.5)):
        store(tools, name, importance=importance, tags=[name])
        advance(0.1)
    recalled(tools, tags=["a"])
    sorting = {} if sort is None else {"sortBy": sort}
    for order, names in (("desc", expected), ("asc", expected[::-1])):
        rows = tools.json("MemoryList", userId="ada", order=order, **sorting)["memories"]
        assert "".join(row["content"] for row in rows) == names


# -- export and erase


def test_export_holds_only_memories_of_the_user(tools: Caller) -> None:
    store(tools, "One", context="why", tags=["x"]), store(tools, "Two", user="bob")
    answer = tools.json("MemoryExport", userId="ada")
    assert answer["count"] == 1
    assert (
        answer["memories"][0] | {"content": "One", "context": "why", "tags": ["x"], "userId": "ada"}
        == (answer["memories"][0])
    )


def test_erasure_removes_every_byte_of_one_user(tools: Caller, home: Path) -> None:
    service = tools.service
    store(tools, "Loves xylophones"), store(tools, "Uses macOS", user="bob")
    forgotten = store(tools, "Plays xylophones badly")
    tools.json("MemoryForget", userId="ada", memoryId=forgotten, reason="xylophones are a joke")
    recalled(tools, query="does Ada play xylophones?")
    service.upkeep()  # a backup
    answer = tools.json("MemoryErase", userId="ada", confirm="ada")
    assert answer == {"userId": "ada", "status": "erased", "erasedCount": 2}
    files = [file for file in (home / ".keepmum").rglob("*") if file.is_file() and "pycache" not in str(file)]
    assert [file.name for file in files if b"xylophone" in file.read_bytes().lower()] == []
    assert recalled(tools, user="bob") == ["Uses macOS"]


def test_erasure_requires_the_user_name_as_confirmation(tools: Caller) -> None:
    store(tools, "One")
    with pytest.raises(InvalidInput, match="nothing was erased"):
        tools.json("MemoryErase", userId="ada", confirm="yes")
    assert recalled(tools) == ["One"]


def test_one_memory_is_erased_with_every_byte(tools: Caller, home: Path) -> None:
    store(tools, "Uses macOS")
    wrong = store(tools, "Loves xylophones")
    tools.service.upkeep()  # a backup
    assert tools.json("MemoryErase", userId="ada", memoryId=wrong, confirm=wrong)["erasedCount"] == 1
    files = [file for file in (home / ".keepmum").rglob("*") if file.is_file() and "pycache" not in str(file)]
    assert [file.name for file in files if b"xylophone" in file.read_bytes().lower()] == []
    assert recalled(tools) == ["Uses macOS"]


def test_a_memory_of_another_user_is_not_erased(tools: Caller) -> None:
    foreign = store(tools, "Uses macOS", user="bob")
    with pytest.raises(NotFound):
        tools.json("MemoryErase", userId="ada", memoryId=foreign, confirm=foreign)
    assert recalled(tools, user="bob") == ["Uses macOS"]


def test_erasing_one_memory_needs_its_id_as_confirmation(tools: Caller) -> None:
    one = store(tools, "One")
    with pytest.raises(InvalidInput, match="does not equal memoryId; nothing was erased"):
        tools.json("MemoryErase", userId="ada", memoryId=one, confirm="ada")
    assert recalled(tools) == ["One"]


# -- audit


def test_audit_shows_what_was_done_with_the_reasons(tools: Caller) -> None:
    one = store(tools, "Lives in Hamburg")
    store(tools, "Uses macOS", user="bob")
    tools.json("MemoryForget", userId="ada", memoryId=one, reason="moved away")
    entries = tools.json("MemoryAudit", userId="ada")["entries"]
    assert [entry["action"] for entry in entries] == ["trashed", "trashed", "created"]
    assert {entry["memoryId"] for entry in entries} == {one}
    assert "reason: moved away" in {entry["detail"] for entry in entries}


def test_audit_of_one_memory_says_when_it_is_cut(tools: Caller) -> None:
    one, other = store(tools, "Lives in Hamburg"), store(tools, "Plays chess")
    tools.json("MemoryForget", userId="ada", memoryId=one, mode="archive")
    answer = tools.json("MemoryAudit", userId="ada", memoryId=one, limit=1)
    assert ([entry["action"] for entry in answer["entries"]], answer["hasMore"]) == (["archived"], True)
    assert {entry["memoryId"] for entry in tools.json("MemoryAudit", userId="ada")["entries"]} == {one, other}


def test_audit_shows_nothing_of_another_user(tools: Caller) -> None:
    foreign = store(tools, "Uses macOS", user="bob")
    assert tools.json("MemoryAudit", userId="ada")["entries"] == []
    with pytest.raises(NotFound):
        tools.json("MemoryAudit", userId="ada", memoryId=foreign)


# -- forgetting by a query


@pytest.mark.parametrize("query", ["my location", "location", "where the user is located", "LOCATIONS"])
def test_query_matches_other_forms_of_a_word(tools: Caller, query: str) -> None:
    memory = store(tools, "The user is located in Hamburg")
    answer = tools.json("MemoryForget", userId="ada", query=query)
    assert (answer["status"], [row["id"] for row in answer["affectedMemories"]]) == ("success", [memory])
    assert recalled(tools) == []


@pytest.mark.parametrize("mode", ["delete", "decay", "archive"])
def test_query_that_matches_nothing_is_not_a_success_and_lists_the_closest(tools: Caller, mode: str) -> None:
    memory = store(tools, "The user lives in Hamburg")
    store(tools, "Lives in Hamburg", user="bob")
    answer = tools.json("MemoryForget", userId="ada", query="Hamburg office address", mode=mode)
    assert (answer["status"], answer["action"], answer["affectedCount"]) == ("not_found", "none", 0)
    assert "Nothing was forgotten: no memory contains every word of the query" in answer["message"]
    assert [row["id"] for row in answer["closestMemories"]] == [memory]
    assert recalled(tools) == ["The user lives in Hamburg"]


def test_filter_that_excludes_the_memory_is_named(tools: Caller) -> None:
    memory = store(tools, "Uses vim")
    answer = tools.json("MemoryForget", userId="ada", memoryId=memory, categories=["skill"], olderThan="2020-01-01")
    assert answer["status"] == "not_found"
    assert "passes categories and olderThan" in answer["message"]


@pytest.mark.parametrize("mode", ["delete", "archive"])
def test_memory_that_is_gone_is_not_forgotten_twice(tools: Caller, mode: str) -> None:
    memory = store(tools, "Uses vim")
    assert tools.json("MemoryForget", userId="ada", memoryId=memory, mode=mode)["status"] == "success"
    assert tools.json("MemoryForget", userId="ada", memoryId=memory, mode=mode)["status"] == "not_found"


def test_words_of_the_context_are_not_matched(tools: Caller) -> None:
    store(tools, "Uses vim", context="said in the meeting")
    assert tools.json("MemoryForget", userId="ada", query="meeting")["status"] == "not_found"


def test_export_has_the_due_decay_and_the_source(tools: Caller, advance: Advance) -> None:
    store(tools, "Builds a shop", "project"), store(tools, "Uses vim")
    advance(14)
    rows = {row["content"]: row for row in tools.json("MemoryExport", userId="ada")["memories"]}
    assert rows["Builds a shop"]["decayFactor"] == 0.81
    assert rows["Uses vim"]["decayFactor"] == 1.0
    assert set(rows["Uses vim"]["source"]) == {"conversationId", "messageId"}


@pytest.mark.parametrize("remote", [False, True])
def test_first_write_of_a_process_reports_similar_memories(
    project: Path,  # noqa: ARG001 - sets the working folder
    monkeypatch: pytest.MonkeyPatch,
    remote: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    monkeypatch.setitem(embedding.EMBEDDERS, "local", lambda *_: FakeEmbedder())
    if remote:  # no write waits for one
        monkeypatch.setattr(embedding, "_REMOTE", frozenset({"local"}))
    found = []
    for text in ("Prefers green tea in the morning", "Prefers green tea in the late morning"):
        with opened("per-user") as process:
            answer = process.json("MemoryStore", userId="ada", content=text, category="preference")
            found.append([row["content"] for row in answer["similarMemories"]])
    assert found == [[], ["Prefers green tea in the morning"]]  # by words if remote
