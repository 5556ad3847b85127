"""The nine tools of the `token-saver` dialect: keys, scopes, any JSON, expiry, search, resume, settings, files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dialect_calls import Caller, Open, opening
from hidden import assert_hidden
from keepmum.core.errors import InvalidInput, SecretFound
from keepmum.mcp.arguments import KEYWORDS
from keepmum.mcp.dialects.token_saver import SURFACE

TOKEN = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"


@pytest.fixture
def open_tools(project: Path) -> Iterator[Open]:  # noqa: ARG001 - sets the working folder
    with opening("token-saver") as open_one:
        yield open_one


@pytest.fixture
def tools(open_tools: Open) -> Caller:
    return open_tools()


@pytest.fixture
def write(tools: Caller) -> Callable[..., Any]:
    return lambda key, value, **more: tools.json("write_memory", key=key, value=value, **more)


def keys(rows: list[dict[str, Any]]) -> list[str]:
    return [row["key"] for row in rows]


# -- tools


def test_tools_and_parameters_match_the_design() -> None:
    ages, levels = {"daysAgo", "since", "until"}, {"minImportance", "maxVerbosity"}
    offered = {tool.name: set(tool.parameters["properties"]) for tool in SURFACE.tools}  # type: ignore[call-overload]
    assert offered == {
        "write_memory": {"key", "value", "scope", "ttl", "tags", "importance", "verbosity"},
        "read_memory": {"key", "pattern", "scope", "tags", "history"},
        "list_memories": {"scope", "pattern", "tags", "limit"} | ages | levels,
        "delete_memory": {"key", "scope", "pattern"},
        "search_memories": {"query", "scope", "limit"} | levels,
        "smart_resume": {"project_path", "session_id", "verbose", "verbosity", "minImportance"} | ages,
        "configure_memory": {"action", "setting", "value", "profile"},
        "export_memories": {"output", "scope", "pattern", "pretty", "includeMetadata"} | ages | levels,
        "import_memories": {
            "file", "mode", "onConflict", "scope", "minImportance", "keyPrefix", "dryRun", "backup",
        },
    }  # fmt: skip


@pytest.mark.parametrize("tool", SURFACE.tools, ids=lambda tool: tool.name)
def test_each_tool_declares_its_effects_and_uses_only_enforced_keywords(tool: Any) -> None:
    assert {"readOnlyHint", "openWorldHint"} <= set(tool.annotations)
    assert all(set(field) <= KEYWORDS | {"description"} for field in tool.parameters["properties"].values())


# -- write and read


@pytest.mark.parametrize(
    "value",
    ["Microservices", {"progress": 70, "next_steps": ["Add tests"]}, ["a", {"b": None}], 42, 0.5, True, None],
    ids=lambda value: type(value).__name__,
)
def test_json_value_round_trips(tools: Caller, write: Callable[..., Any], value: object) -> None:
    write("current.task", value)
    assert tools.json("read_memory", key="current.task")["value"] == value


def test_memory_has_the_fields_of_the_design(tools: Caller, write: Callable[..., Any], project: Path) -> None:
    write("project.type", "Next.js", ttl=3600, tags=["web"])
    answer = tools.json("read_memory", key="project.type")
    assert set(answer) == {"id", "key", "value", "scope", "project_path", "session_id", "metadata"}
    assert (answer["scope"], answer["project_path"], answer["session_id"]) == ("project", str(project), None)
    meta = answer["metadata"]
    assert (meta["ttl"], meta["tags"], meta["created_by"]) == (3600, ["web"], "claude-code")
    assert {"created_at", "updated_at", "accessed_at", "access_count", "importance", "verbosity"} <= set(meta)


def test_writing_a_key_again_replaces_value_and_metadata(tools: Caller, write: Callable[..., Any]) -> None:
    write("project.type", {"kind": "web"}, ttl=3600, tags=["web"], importance=5)
    write("project.type", "Astro")
    answer = tools.json("read_memory", key="project.type")
    assert answer["value"] == "Astro"
    assert [answer["metadata"][name] for name in ("ttl", "tags", "importance")] == [None, [], 3]


def test_earlier_values_of_a_key_are_read_latest_first(tools: Caller, write: Callable[..., Any]) -> None:
    for value in ("Next.js", {"kind": "Astro"}, "SvelteKit"):
        write("project.type", value)
    answer = tools.json("read_memory", key="project.type", history=True)
    assert answer["value"] == "SvelteKit"
    assert [(one["value"], one["replaced_by"]) for one in answer["history"]] == [
        ({"kind": "Astro"}, "claude-code"), ("Next.js", "claude-code"),
    ]  # fmt: skip
    assert "history" not in tools.json("read_memory", key="project.type")


def test_writing_reports_similar_memories(write: Callable[..., Any]) -> None:
    assert "similar" not in write("deploy.order", "Deploys go through the blue pool before the green pool")
    answer = write("deploy.pools", "Deploys go through the blue pool before the green pool")
    assert [(one["key"], one["advice"]) for one in answer["similar"]] == [("deploy.order", "skip")]


def test_same_key_in_two_scopes_is_two_memories(tools: Caller, write: Callable[..., Any]) -> None:
    write("style", "tabs", scope="global")
    write("style", "spaces")
    assert tools.json("read_memory", key="style")["value"] == "spaces"
    assert tools.json("read_memory", key="style", scope="global")["value"] == "tabs"


def test_values_are_separate_per_project(
    write: Callable[..., Any], open_tools: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("project.type", "Next.js")
    write("editor", "vim", scope="global")
    (tmp_path / "beta").mkdir()
    monkeypatch.chdir(tmp_path / "beta")
    other_project = open_tools()
    assert other_project.json("read_memory", key="project.type") is None
    assert other_project.json("read_memory", key="editor")["value"] == "vim"


def test_session_value_is_unknown_to_the_next_session(open_tools: Open) -> None:
    one, two = open_tools(), open_tools()
    one.json("write_memory", key="temp.step", value=3, scope="session")
    assert one.json("read_memory", key="temp.step")["session_id"]
    assert two.json("read_memory", key="temp.step") is None


def test_replacing_the_value_of_another_agent_is_a_reported_conflict(open_tools: Open) -> None:
    open_tools("claude-code").json("write_memory", key="shared.bug", value={"leak": "socket"}, scope="shared")
    answer = open_tools("gemini-cli").json("write_memory", key="shared.bug", value="none", scope="shared")
    assert answer["status"] == "conflict"
    assert answer["replaced"] == {"value": {"leak": "socket"}, "updated_by": "claude-code"}


@pytest.mark.parametrize(
    ("key", "levels"),
    [
        ("architecture.api", (5, 2)), ("decision.db", (4, 3)), ("todo.x", (3, 1)), ("error.build", (4, 4)),
        ("debug.x", (2, 4)), ("temp.x", (1, 1)), ("project.type", (3, 2)),
    ],
)  # fmt: skip
def test_key_prefix_sets_importance_and_verbosity(write: Callable[..., Any], key: str, levels: tuple[int, int]) -> None:
    meta = write(key, "x")["memory"]["metadata"]
    assert (meta["importance"], meta["verbosity"]) == levels


@pytest.mark.parametrize("key", [" ", "project.*"])
def test_unreadable_key_is_refused(write: Callable[..., Any], key: str) -> None:
    with pytest.raises(InvalidInput):
        write(key, "x")


@pytest.mark.parametrize("value", [f"signs in with {TOKEN}", {"deep": [{"token": TOKEN}]}], ids=["text", "json"])
def test_secret_is_refused_at_any_depth(tools: Caller, write: Callable[..., Any], value: object) -> None:
    with pytest.raises(SecretFound):
        write("project.auth", value)
    assert tools.json("list_memories") == []


# -- time to live


def test_expired_memory_is_absent_from_every_read(tools: Caller, write: Callable[..., Any]) -> None:
    write("temp.build", "green", ttl=60, importance=5)
    assert keys(tools.json("list_memories")) == ["temp.build"]
    tools.shift_clock(61_000)
    assert tools.json("read_memory", key="temp.build") is None
    assert tools.json("read_memory", pattern="temp.*") == []
    assert tools.json("list_memories") == []
    assert tools.json("search_memories", query="green") == []
    assert tools.json("smart_resume", verbose=True)["context"]["project"] == []


def test_default_time_to_live_applies_when_none_is_given(tools: Caller, write: Callable[..., Any]) -> None:
    tools.json("configure_memory", action="set", setting="ttlDefault", value=3600)
    assert write("temp.a", "x")["memory"]["metadata"]["ttl"] == 3600
    assert write("temp.b", "x", ttl=0)["memory"]["metadata"]["ttl"] is None


# -- read by pattern, tag and scope, and list


@pytest.fixture
def several_memories(write: Callable[..., Any]) -> None:
    write("project.type", "Next.js", tags=["web"])
    write("project.architecture", "Event bus", importance=5, tags=["bus"])
    write("projects", "not below project")
    write("current.task", {"module": "auth"}, tags=["web"])


@pytest.mark.usefixtures("several_memories")
def test_pattern_reads_matching_keys_by_importance(tools: Caller) -> None:
    expected = ["project.architecture", "project.type"]
    assert keys(tools.json("read_memory", pattern="project.*")) == expected
    assert keys(tools.json("read_memory", key="project.*")) == expected
    assert keys(tools.json("read_memory", key="*.t[ay]*")) == []


@pytest.mark.usefixtures("several_memories")
def test_read_matches_any_tag(tools: Caller) -> None:
    assert set(keys(tools.json("read_memory", tags=["web", "none"]))) == {"project.type", "current.task"}
    assert keys(tools.json("read_memory", pattern="project.*", tags=["web"])) == ["project.type"]
    assert keys(tools.json("list_memories", tags=["bus"])) == ["project.architecture"]


def test_scope_alone_reads_the_whole_scope(tools: Caller, write: Callable[..., Any]) -> None:
    write("shared.bug", "leak", scope="shared")
    write("project.type", "Next.js")
    assert keys(tools.json("read_memory", scope="shared")) == ["shared.bug"]


def test_read_without_arguments_is_refused(tools: Caller) -> None:
    with pytest.raises(InvalidInput, match="give a key, a pattern, tags or a scope"):
        tools.json("read_memory")


@pytest.mark.usefixtures("several_memories")
def test_reading_counts_as_access_and_listing_does_not(tools: Caller) -> None:
    tools.json("list_memories"), tools.json("search_memories", query="bus"), tools.json("smart_resume")
    assert tools.json("read_memory", key="project.type")["metadata"]["access_count"] == 0
    assert tools.json("read_memory", key="project.type")["metadata"]["access_count"] == 1


@pytest.mark.usefixtures("several_memories")
def test_list_is_ordered_by_importance_with_truncated_values(tools: Caller, write: Callable[..., Any]) -> None:
    write("project.story", "word " * 100, importance=4)
    rows = tools.json("list_memories", limit=2)
    assert keys(rows) == ["project.architecture", "project.story"]
    assert len(rows[1]["value"]) == 100


@pytest.mark.usefixtures("several_memories")
def test_list_filters_by_importance_and_verbosity(tools: Caller, write: Callable[..., Any]) -> None:
    write("error.build", "a long trace")
    assert keys(tools.json("list_memories", minImportance=4)) == ["project.architecture", "error.build"]
    assert keys(tools.json("list_memories", minImportance=4, maxVerbosity=2)) == ["project.architecture"]


def test_list_filters_by_age(tools: Caller, write: Callable[..., Any]) -> None:
    tools.shift_clock(-10 * 86_400_000)
    write("old", "x")
    tools.shift_clock(10 * 86_400_000)
    write("new", "x")
    assert keys(tools.json("list_memories", daysAgo=3)) == ["new"]
    assert keys(tools.json("list_memories", since="3d")) == ["new"]
    assert keys(tools.json("list_memories", until="3d")) == ["old"]


# -- delete


@pytest.mark.usefixtures("several_memories")
def test_delete_returns_whether_the_key_existed(tools: Caller) -> None:
    assert tools.json("delete_memory", key="project.type") is True
    assert tools.json("delete_memory", key="project.type") is False
    assert tools.json("read_memory", key="project.type") is None


def test_delete_is_limited_to_the_given_scope(tools: Caller, write: Callable[..., Any]) -> None:
    write("style", "tabs", scope="global"), write("style", "spaces")
    assert tools.json("delete_memory", key="style", scope="project") is True
    assert tools.json("read_memory", key="style")["value"] == "tabs"


@pytest.mark.usefixtures("several_memories")
def test_delete_takes_a_pattern_only_when_flagged(tools: Caller) -> None:
    assert tools.json("delete_memory", key="project.*") is False
    assert tools.json("delete_memory", key="project.*", pattern=True) is True
    assert set(keys(tools.json("list_memories"))) == {"projects", "current.task"}


# -- search


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"blue green"', {"project.deploy"}),
        ('"green blue"', set()),
        ("deploy AND staging", {"project.staging"}),
        ("deploy NOT staging", {"project.deploy"}),
        ("bus OR staging", {"project.bus", "project.staging"}),
        ("deploy (staging OR green)", {"project.deploy", "project.staging"}),
        ("NOT deploy", {"project.bus"}),
    ],
)
def test_search_supports_phrases_and_operators(
    tools: Caller, write: Callable[..., Any], query: str, expected: set[str]
) -> None:
    write("project.bus", "Events travel over the bus")
    write("project.deploy", "Deployed blue green")
    write("project.staging", "We deploy to staging by hand")
    assert set(keys(tools.json("search_memories", query=query))) == expected


def test_search_ranks_the_best_match_first(tools: Caller, write: Callable[..., Any]) -> None:
    write("project.deploy", "Deployed blue green")
    write("project.bus", "Events travel over the bus")
    assert keys(tools.json("search_memories", query="which bus do they travel over?"))[0] == "project.bus"


def test_malformed_operators_are_searched_as_words(tools: Caller, write: Callable[..., Any]) -> None:
    write("project.bus", "Events travel over the bus")
    assert keys(tools.json("search_memories", query='bus AND ( "')) == ["project.bus"]


# -- resume


def test_resume_has_briefing_context_and_token_count(tools: Caller, write: Callable[..., Any]) -> None:
    write("project.type", "Next.js with TypeScript")
    write("current.refactoring", {"module": "authentication", "progress": 70})
    write("discovered.issues", "Slow query"), write("next.step", "Add tests"), write("shared.x", "y", scope="shared")
    answer = tools.json("smart_resume")
    assert list(answer["context"]) == ["project", "current", "discovered", "next", "shared"]
    assert {name: keys(rows) for name, rows in answer["context"].items()} == {
        "project": ["project.type"], "current": ["current.refactoring"], "discovered": ["discovered.issues"],
        "next": ["next.step"], "shared": ["shared.x"],
    }  # fmt: skip
    assert "project.type: Next.js with TypeScript" in answer["briefing"]
    assert answer["context"]["current"][0]["value"] == {"module": "authentication", "progress": 70}


def test_resume_keeps_its_token_budget_and_counts_omissions(tools: Caller, write: Callable[..., Any]) -> None:
    for number in range(30):
        write(f"project.part{number}", "word " * 60)
    tools.json("configure_memory", action="profile", profile="minimal")
    text = tools.text("smart_resume", verbose=True)
    answer = json.loads(text)
    assert len(text) <= 4 * 500
    assert answer["token_count"] <= 500
    assert answer["left_out"] == 30 - len(answer["context"]["project"])
    assert answer["context"]["project"]


def test_resume_is_deterministic(tools: Caller, write: Callable[..., Any]) -> None:
    write("project.type", "Next.js")
    assert tools.text("smart_resume") == tools.text("smart_resume")


def test_resume_omits_low_importance_unless_verbose(tools: Caller, write: Callable[..., Any]) -> None:
    write("debug.trace", "x"), write("project.type", "y")
    assert tools.json("smart_resume")["context"]["discovered"] == []
    assert keys(tools.json("smart_resume", verbose=True)["context"]["discovered"]) == ["debug.trace"]


def test_resume_can_read_another_project(
    write: Callable[..., Any], open_tools: Open, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("project.type", "Next.js")
    (tmp_path / "beta").mkdir()
    monkeypatch.chdir(tmp_path / "beta")
    answer = open_tools().json("smart_resume", project_path=str(project))
    assert keys(answer["context"]["project"]) == ["project.type"]


# -- settings


def test_setting_is_persisted(tools: Caller, open_tools: Open) -> None:
    assert tools.json("configure_memory", action="set", setting="defaultImportance", value=5)["old"] == 3
    assert open_tools().json("configure_memory", action="get")["settings"]["defaultImportance"] == 5
    assert tools.json("configure_memory", action="reset")["settings"]["defaultImportance"] == 3


@pytest.mark.parametrize(
    ("profile", "budget"), [("minimal", 500), ("standard", 2000), ("detailed", 5000), ("comprehensive", 10_000)]
)
def test_profile_sets_the_token_budget(tools: Caller, profile: str, budget: int) -> None:
    answer = tools.json("configure_memory", action="profile", profile=profile)
    assert answer["settings"]["smartResumeMaxTokens"] == budget


def test_key_prefixes_are_configurable(tools: Caller, write: Callable[..., Any]) -> None:
    prefixes = {"adr.": {"importance": 5, "verbosity": 4}}
    tools.json("configure_memory", action="set", setting="patternPrefixes", value=prefixes)
    assert write("adr.1", "x")["memory"]["metadata"]["importance"] == 5


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("defaultImportance", 6), ("defaultVerbosity", "high"), ("autoExportEnabled", "yes"), ("nonsense", 1),
        ("patternPrefixes", {"x.": 3}), ("patternPrefixes", {"x.": {"colour": 1}}), ("ttlDefault", -1),
    ],
)  # fmt: skip
def test_invalid_setting_is_refused(tools: Caller, setting: str, value: object) -> None:
    with pytest.raises(InvalidInput):
        tools.json("configure_memory", action="set", setting=setting, value=value)


def test_secret_in_a_setting_is_refused(tools: Caller) -> None:
    with pytest.raises(SecretFound):
        tools.json("configure_memory", action="set", setting="autoExportPath", value=f"exports/{TOKEN}.json")
    with pytest.raises(SecretFound):
        tools.json("configure_memory", action="set", setting="patternPrefixes", value={TOKEN: {"importance": 1}})


def test_secret_in_a_file_name_is_refused(tools: Caller, project: Path) -> None:
    with pytest.raises(SecretFound):
        tools.json("export_memories", output=f"{TOKEN}.json")
    assert list(project.iterdir()) == []


# -- trust


def test_a_file_of_others_is_imported_as_text_from_outside(
    tools: Caller, write: Callable[..., Any], tmp_path: Path
) -> None:
    write("project.type", "here", scope="global")
    path = tmp_path / "theirs.json"
    rows = [{"key": "project.type", "value": "theirs", "scope": scope} for scope in ("project", "global")]
    path.write_text(json.dumps({"memories": rows}))
    counts = tools.json("import_memories", file=str(path), mode="replace")
    assert (counts["not_kept"], counts["failed"]) == ({"key": 1}, 0)
    assert tools.json("read_memory", key="project.type")["value"] == "here"
    found = tools.json("read_memory", key="project.type", scope="project")
    assert (found["value"], found["metadata"]["trust"]) == ("theirs", "outside")


def test_a_file_of_others_keeps_author_dates_use_and_levels(tools: Caller, tmp_path: Path) -> None:
    path = tmp_path / "theirs.json"
    row = {"key": "project.db", "value": {"a": 1}, "scope": "project", "importance": 5, "verbosity": 3, "tags": ["x"],
           "created_at": "2026-01-05 09:30:00", "created_by": "claude", "access_count": 7}  # fmt: skip
    path.write_text(json.dumps({"memories": [row]}))
    assert tools.json("import_memories", file=str(path))["not_kept"] == {}
    found = tools.json("read_memory", key="project.db")
    meta = found["metadata"]
    assert (found["value"], meta["created_by"], meta["importance"], meta["verbosity"], meta["tags"]) == (
        {"a": 1}, "claude", 5, 3, ["x"],
    )  # fmt: skip
    assert meta["created_at"].startswith("2026-01-05T09:30")


def test_an_own_export_keeps_what_is_from_outside_apart(tools: Caller, write: Callable[..., Any]) -> None:
    write("project.own", "ours")
    tools.service.remember("theirs", key="project.theirs", source_kind="web")
    path = tools.json("export_memories", includeMetadata=False)["path"]
    tools.json("import_memories", file=path, keyPrefix="again.")
    marks = [tools.json("read_memory", key=f"again.project.{name}")["metadata"] for name in ("own", "theirs")]
    assert [mark.get("trust") for mark in marks] == [None, "outside"]


# -- export and import


@pytest.mark.usefixtures("several_memories")
def test_export_is_importable_in_another_project(
    tools: Caller, open_tools: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = tools.json("export_memories")
    assert answer["count"] == 4
    (tmp_path / "beta").mkdir()
    monkeypatch.chdir(tmp_path / "beta")
    other_project = open_tools()
    counts = other_project.json("import_memories", file=answer["path"])
    assert [counts[name] for name in ("imported", "updated", "skipped", "failed")] == [4, 0, 0, 0]
    assert other_project.json("read_memory", key="current.task")["value"] == {"module": "auth"}


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({}, "here"), ({"mode": "replace"}, "file"), ({"mode": "skip"}, "here"), ({"onConflict": "older"}, "file"),
        ({"onConflict": "skip"}, "here"), ({"onConflict": "higher_importance"}, "file"),
    ],
    ids=["newer", "replace", "skip", "older", "skip on conflict", "importance"],
)  # fmt: skip
def test_import_resolves_conflicts_by_mode(
    tools: Caller, write: Callable[..., Any], options: dict[str, Any], value: str
) -> None:
    write("project.type", "file", importance=5)
    path = tools.json("export_memories")["path"]
    tools.shift_clock(60_000)
    write("project.type", "here", importance=2)
    tools.json("import_memories", file=path, **options)
    assert tools.json("read_memory", key="project.type")["value"] == value


@pytest.mark.usefixtures("several_memories")
def test_import_makes_a_backup_and_dry_run_changes_nothing(tools: Caller) -> None:
    path = tools.json("export_memories", output="all.json")["path"]
    assert tools.json("import_memories", file=path, keyPrefix="old.", dryRun=True)["imported"] == 4
    assert tools.json("read_memory", pattern="old.*") == []
    backup = tools.json("import_memories", file=path, keyPrefix="old.")["backup"]
    assert json.loads(Path(backup["path"]).read_text(encoding="utf-8"))["count"] == 4
    assert len(tools.json("read_memory", pattern="old.*")) == 4


def test_import_refuses_a_secret_and_stores_the_rest(tools: Caller, project: Path) -> None:
    rows = [{"key": "project.auth", "value": TOKEN}, {"key": "project.type", "value": "Next.js"}, {"value": "no key"}]
    (project / "in.json").write_text(json.dumps({"memories": rows}), encoding="utf-8")
    answer = tools.json("import_memories", file="in.json")
    assert (answer["imported"], answer["failed"]) == (1, 2)
    assert_hidden(TOKEN, json.dumps(answer))


def test_import_of_a_missing_file_says_so(tools: Caller) -> None:
    with pytest.raises(InvalidInput, match="file: does not exist"):
        tools.json("import_memories", file="nowhere.json")


@pytest.mark.parametrize("output", ["../elsewhere.json", "/etc/keepmum.json", "notes.txt", "package.json"])
def test_export_outside_its_folders_or_over_a_file_is_refused(tools: Caller, project: Path, output: str) -> None:
    (project / "package.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInput):
        tools.json("export_memories", output=output)
    assert (project / "package.json").read_text(encoding="utf-8") == "{}"


def test_automatic_export_runs_when_due(tools: Caller, write: Callable[..., Any], home: Path) -> None:
    def exports() -> int:
        return len(list((home / ".keepmum" / "exports").glob("*.json")))

    write("a", 1)
    assert exports() == 0
    tools.json("configure_memory", action="set", setting="autoExportEnabled", value=True)
    write("b", 2), write("c", 3)
    assert exports() == 1
    tools.shift_clock(25 * 3_600_000)
    write("d", 4)
    assert exports() == 2


FLAT = {
    "key": "project.type", "value": {"kind": "web"}, "scope": "project", "importance": 5, "verbosity": 4,
    "created_at": "2026-01-01 10:00:00", "updated_at": "2026-01-02 10:00:00", "accessed_at": "2026-01-02 10:00:00",
    "access_count": 7, "tags": ["a", "b"], "ttl": 86_400, "created_by": "claude",
}  # fmt: skip


def imported(tools: Caller, project: Path, *rows: object, **options: object) -> Any:
    content = {"version": "1.0", "exported_at": "2026-01-03", "source": {"project_path": "/x"}, "memories": rows}
    (project / "old.json").write_text(json.dumps(content), encoding="utf-8")
    return tools.json("import_memories", file="old.json", **options)


def test_export_of_the_original_keeps_levels_tags_and_ttl(tools: Caller, project: Path) -> None:
    answer = imported(tools, project, FLAT)
    assert answer["imported"] == 1
    dropped = ("created_at", "updated_at", "accessed_at", "access_count", "created_by")
    assert answer["not_kept"] == dict.fromkeys(dropped, 1)  # its time to live counts from today
    row = tools.json("read_memory", key="project.type")
    meta = row["metadata"]
    assert row["value"] == {"kind": "web"}
    assert (meta["importance"], meta["verbosity"], meta["tags"], meta["ttl"]) == (5, 4, ["a", "b"], 86_400)


def test_date_of_a_flat_row_decides_a_conflict(tools: Caller, project: Path, write: Callable[..., Any]) -> None:
    write("project.type", "mine")
    assert imported(tools, project, FLAT)["skipped"] == 1
    assert imported(tools, project, {**FLAT, "updated_at": "2999-01-01T00:00:00Z"})["updated"] == 1


@pytest.mark.parametrize("tags", ['["a", "b"]', "a, b", ["a", "b"]])
def test_tags_of_the_original_are_read_in_every_form(tools: Caller, project: Path, tags: object) -> None:
    imported(tools, project, {**FLAT, "tags": tags})
    assert tools.json("read_memory", key="project.type")["metadata"]["tags"] == ["a", "b"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("importance", 9), ("importance", "high"), ("verbosity", 2.5), ("verbosity", True), ("tags", [1]), ("tags", {}),
     ("tags", "[1"), ("ttl", "soon"), ("ttl", -1), ("scope", "universe"), ("scope", 7), ("key", 7), ("key", ""),
     ("metadata", [1])],
)  # fmt: skip
def test_field_of_a_wrong_type_is_an_error_and_not_dropped(
    tools: Caller, project: Path, field: str, value: object
) -> None:
    answer = imported(tools, project, {**FLAT, field: value})
    assert answer["failed"] == 1
    assert answer["errors"][0].startswith(f"memory 1: {field}: ")


def test_unknown_fields_are_counted_without_their_names(tools: Caller, project: Path) -> None:
    assert imported(tools, project, {**FLAT, TOKEN: "x", "emotion": "joy"})["not_kept"]["other fields"] == 2


def test_long_list_of_errors_says_how_many_more_there_are(tools: Caller, project: Path) -> None:
    answer = imported(tools, project, *({"key": ""} for _ in range(15)))
    assert answer["failed"] == 15
    assert answer["errors"][-1] == "and 5 more"


def test_import_accepts_a_path_in_the_home(tools: Caller, home: Path) -> None:
    (home / "old.json").write_text(json.dumps([FLAT]), encoding="utf-8")
    assert tools.json("import_memories", file="~/old.json")["imported"] == 1
