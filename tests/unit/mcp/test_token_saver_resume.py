"""`smart_resume` with many and large notes, with every budget, and for other projects."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dialect_calls import Caller, Open, opening
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Memory
from keepmum.core.token_saver import text_of
from keepmum.mcp.calls import ToolCall, plan
from keepmum.mcp.dialects.token_saver import SURFACE, entry
from keepmum.mcp.dialects.token_saver.resume import resume

Write = Callable[..., Any]


@pytest.fixture
def open_tools(project: Path) -> Iterator[Open]:  # noqa: ARG001 - sets the working folder
    with opening("token-saver") as open_one:
        yield open_one


@pytest.fixture
def tools(open_tools: Open) -> Caller:
    return open_tools()


@pytest.fixture
def write(tools: Caller) -> Write:
    return lambda key, value, **more: tools.json("write_memory", key=key, value=value, **more)


def memory(key: str, value: str, at: int = 1, importance: float = 0.5, **more: Any) -> Memory:
    return Memory(
        id=f"mem_{key}", key=key, text=value, title=key, created_at=at, updated_at=at, importance=importance, **more
    )


def keys(answer: Any, section: str) -> list[str]:
    return [row["key"] for row in answer["context"][section]]


def size(answer: Any) -> int:
    return len(json.dumps(answer, ensure_ascii=False))


# -- sections


@pytest.mark.parametrize("count", [20, 30, 60])
def test_project_and_current_work_are_shown_with_many_later_notes(tools: Caller, write: Write, count: int) -> None:
    write("project.architecture", "Microservices with an event bus")
    write("current.task", {"module": "auth", "progress": 70})
    for number in range(count):
        write(f"discovered.issue{number}", "x" * 100)
    answer = tools.json("smart_resume")
    assert keys(answer, "project") == ["project.architecture"]
    assert keys(answer, "current") == ["current.task"]
    assert answer["context"]["discovered"]
    shown = sum(map(len, answer["context"].values()))
    assert answer["left_out"] == count + 2 - shown
    assert ("Left out for lack of room: discovered" in answer["briefing"]) is (answer["left_out"] > 0)


SECTION_KEYS = {
    "project": "project.k{}", "current": "current.k{}", "discovered": "error.k{}", "next": "todo.k{}",
    "shared": "shared.k{}", "other": "architecture.k{}",
}  # fmt: skip


@pytest.mark.parametrize("budget", [500, 2000, 5000, 10_000])
@pytest.mark.parametrize("length", [10, 100, 1_000, 60_000])
@pytest.mark.parametrize("crowd", sorted(SECTION_KEYS))
def test_no_section_is_crowded_out(crowd: str, length: int, budget: int) -> None:
    important = [memory(SECTION_KEYS[crowd].format(n), "x" * length, importance=1.0) for n in range(200)]
    single = [memory(key.format("one"), f"value of {name}") for name, key in SECTION_KEYS.items() if name != crowd]
    answer: Any = resume([*important, *single], budget)
    assert size(answer) <= 4 * budget
    assert answer["token_count"] <= budget
    for section in ("project", "current", "discovered", "next", "shared"):
        assert answer["context"][section], section
    assert "project.k" in json.dumps(answer["context"]["project"])
    assert answer["left_out"] == 205 - sum(map(len, answer["context"].values()))
    assert str(answer["left_out"]) in answer["briefing"] or answer["left_out"] == 0


def test_keys_outside_the_namespaces_come_after_the_projects_own() -> None:
    notes = [memory(f"architecture.n{number}", "x" * 50, importance=1.0) for number in range(3)]
    answer: Any = resume([*notes, memory("project.type", "Next.js")], 2000)
    assert keys(answer, "project") == ["project.type", "architecture.n0", "architecture.n1", "architecture.n2"]


@pytest.mark.parametrize("budget", [400, 500, 2000])
def test_every_section_is_shown_when_all_are_crowded(budget: int) -> None:
    crowds = [memory(key.format(number), "x" * 300) for number in range(50) for key in SECTION_KEYS.values()]
    answer: Any = resume(crowds, budget)
    assert all(answer["context"].values())
    assert size(answer) <= 4 * budget


def test_room_that_is_left_goes_to_project_and_current_work_then_by_importance() -> None:
    crowds = [memory(f"{name}{number}", "x" * 300) for number in range(40) for name in ("discovered.i", "notes.i")]
    answer: Any = resume([*crowds, memory("project.type", "y"), memory("current.task", "z")], 2000)
    assert len(answer["context"]["discovered"]) > 2
    assert abs(len(answer["context"]["discovered"]) - len(answer["context"]["project"])) <= 3


@pytest.mark.parametrize("section", ["project", "current"])
def test_single_giant_note_is_shown_cut(section: str) -> None:
    answer: Any = resume([memory(f"{section}.plan", "word " * 12_000)], 2000)
    (row,) = answer["context"][section]
    assert row["truncated"] is True
    assert row["value"].startswith("word word")
    assert size(answer) <= 8000


def test_giant_note_does_not_hide_small_ones() -> None:
    notes = [memory(f"project.n{number}", "small", importance=0.5) for number in range(5)]
    answer: Any = resume([memory("project.plan", "word " * 12_000, importance=1.0), *notes], 500)
    assert len(answer["context"]["project"]) == 6
    assert answer["left_out"] == 0


@pytest.mark.parametrize("budget", [50, 100, 200])
def test_smallest_budgets_still_show_project_and_current_work(budget: int) -> None:
    tags = tuple(f"{number:03}-{'t' * 90}" for number in range(20))
    notes = [memory("project." + "k" * 200, "v" * 9000, tags=tags), memory("current.task", "v" * 9000, tags=tags)]
    answer: Any = resume(notes, budget)
    assert answer["context"]["project"]
    assert answer["context"]["current"]
    assert size(answer) < 2000


def test_settings_do_not_empty_the_project_and_say_what_they_hide(tools: Caller, write: Write) -> None:
    write("project.type", "Next.js"), write("current.task", "auth"), write("current.note", "b", importance=2)
    tools.json("configure_memory", action="profile", profile="minimal")  # wants an importance of 4
    answer = tools.json("smart_resume")
    assert (keys(answer, "project"), keys(answer, "current")) == (["project.type"], ["current.task"])
    assert "importance or verbosity: 1" in answer["briefing"]
    assert keys(tools.json("smart_resume", verbose=True), "current") == ["current.task", "current.note"]


def test_filters_of_the_call_are_kept(tools: Caller, write: Write) -> None:
    write("project.type", "Next.js")
    assert keys(tools.json("smart_resume", minImportance=5), "project") == []
    assert keys(tools.json("smart_resume", verbosity=1), "project") == []


def test_values_that_are_not_text_keep_their_type_when_they_are_cut(tools: Caller, write: Write) -> None:
    write("current.plan", {"steps": [f"step {number}" for number in range(5000)], "done": 3})
    (row,) = tools.json("smart_resume")["context"]["current"]
    assert row["value"]["steps"][0] == "step 0"
    (listed,) = tools.json("list_memories")
    assert listed["value"]["steps"][0] == "step 0"
    assert listed["truncated"] is True


@pytest.mark.parametrize(
    "value",
    ["x" * 500, ["x" * 500], {"a": "x" * 500}, {"k" * 200: 1}, [[["x" * 500] * 9] * 9], {"a": {"b": {"c": "x" * 999}}},
     list(range(500)), {str(number): number for number in range(500)}, [None] * 200, "ü" * 300],
    ids=lambda value: f"{type(value).__name__}-{len(value)}",
)  # fmt: skip
def test_shortened_value_has_its_type_and_size(value: Any) -> None:
    short = entry.shortened(value, 100)
    assert type(short) is type(value)
    assert len(text_of(short)) <= 110
    assert short != value


@pytest.mark.parametrize("value", ["", "x" * 100, [], {}, 7, None, True, [1, 2], {"a": "b"}])
def test_short_value_is_unchanged(value: Any) -> None:
    assert entry.shortened(value, 100) == value


# -- names


@pytest.mark.parametrize("name", ["search_memories", "search_memory"])
def test_search_is_called_by_either_name(name: str) -> None:
    assert isinstance(plan(SURFACE, "tools/call", {"name": name, "arguments": {"query": "x"}}), ToolCall)


# -- other projects


def repository(path: Path) -> Path:
    path.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    return path


@pytest.fixture
def there(tmp_path: Path, open_tools: Open, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another repository, with a memory."""
    folder = repository(tmp_path / "there")
    (folder / "src" / "deep").mkdir(parents=True)
    monkeypatch.chdir(folder)
    open_tools().json("write_memory", key="project.type", value="of there")
    return folder


@pytest.fixture
def here(tmp_path: Path, there: Path, open_tools: Open, monkeypatch: pytest.MonkeyPatch) -> Caller:  # noqa: ARG001 - first
    """Tools in a repository with a memory of its own."""
    monkeypatch.chdir(repository(tmp_path / "here"))
    tools = open_tools()
    tools.json("write_memory", key="project.type", value="of here")
    return tools


def resumed(tools: Caller, path: object) -> list[object]:
    answer = tools.json("smart_resume", project_path=str(path))
    return [row["value"] for row in answer["context"]["project"]]


@pytest.mark.parametrize("form", ["", "src/deep", "src/../src", "./"])
def test_project_path_works_from_another_repository(here: Caller, there: Path, form: str) -> None:
    assert resumed(here, f"{there}/{form}") == ["of there"]
    assert here.json("smart_resume")["context"]["project"][0]["value"] == "of here"


def test_project_path_may_be_relative_a_link_or_below_the_home(
    here: Caller, there: Path, tmp_path: Path, home: Path
) -> None:
    (tmp_path / "link").symlink_to(there / "src")
    (home / "code").symlink_to(there)
    assert resumed(here, "../there") == ["of there"]
    assert resumed(here, tmp_path / "link") == ["of there"]
    assert resumed(here, "~/code/src") == ["of there"]


@pytest.mark.parametrize("variable", ["KEEPMUM_PROJECT", "DEFAULT_PROJECT", "CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR"])
def test_project_path_has_precedence_over_variables(
    here: Caller, there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "acme" if variable.endswith("_PROJECT") else str(tmp_path / "here"))
    assert resumed(here, there) == ["of there"]


def test_project_path_of_the_session_itself(here: Caller, tmp_path: Path) -> None:
    assert resumed(here, tmp_path / "here") == ["of here"]


def test_project_path_below_a_folder_without_a_repository(
    here: Caller, open_tools: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "plain")
    open_tools().json("write_memory", key="project.type", value="of plain")
    assert resumed(here, tmp_path / "plain" / "sub") == ["of plain"]


def test_named_project_is_found_by_its_folder(
    here: Caller, open_tools: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "named" / "sub").mkdir(parents=True)
    (tmp_path / "named" / ".keepmum.toml").write_text('project = "acme"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path / "named")
    open_tools().json("write_memory", key="project.type", value="of acme")
    assert resumed(here, tmp_path / "named" / "sub") == ["of acme"]


def test_project_in_files_is_found_by_its_folder(
    here: Caller, open_tools: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPMUM_BACKEND", "markdown")
    monkeypatch.chdir(repository(tmp_path / "files"))
    open_tools().json("write_memory", key="project.type", value="of files")
    monkeypatch.chdir(tmp_path / "here")
    assert resumed(open_tools(), tmp_path / "files") == ["of files"]
    assert resumed(here, tmp_path / "files") == ["of files"]


@pytest.mark.parametrize("path", ["missing", "a-file", "a-file/below", "/", "~nobody-of-this-name/x"])
def test_path_that_is_not_a_project_is_refused(here: Caller, tmp_path: Path, path: str) -> None:
    (tmp_path / "here" / "a-file").touch()
    with pytest.raises(InvalidInput, match="project_path"):
        here.json("smart_resume", project_path=path)


def test_unknown_project_is_empty_and_says_so(here: Caller, tmp_path: Path) -> None:
    answer = here.json("smart_resume", project_path=str(repository(tmp_path / "new")))
    assert "There are no memories here yet" in answer["briefing"]


def test_unreachable_server_of_another_project_is_said(
    here: Caller, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_API_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("MEMORY_API_KEY", "any-word")
    answer = here.json("smart_resume", project_path=str(there))
    assert "127.0.0.1:9" in answer["notice"]
