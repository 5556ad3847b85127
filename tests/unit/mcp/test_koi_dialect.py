"""The `koi` dialect: two tools over Markdown files, with the answer formats of its design."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hidden import assert_hidden
from keepmum.core.errors import InvalidInput, SecretFound
from keepmum.mcp.arguments import check
from keepmum.mcp.dialects import DIALECTS
from keepmum.mcp.dialects.koi.handlers import KoiHandlers, open_handlers, tag
from keepmum.mcp.surface import Context

Call = Callable[..., Any]


class Log(Context):
    """A context that records log messages."""

    __slots__ = ("lines",)

    def __init__(self) -> None:
        super().__init__(agent="claude-code")
        self.lines: list[str] = []

    def log(self, level: str, message: str) -> None:
        self.lines.append(message)


@pytest.fixture
def context() -> Log:
    return Log()


@pytest.fixture
def handlers(project: Path, context: Log) -> Iterator[KoiHandlers]:  # noqa: ARG001 - sets the working folder
    with contextlib.closing(open_handlers(context)) as opened:
        yield opened


@pytest.fixture
def call(handlers: KoiHandlers, context: Log) -> Call:
    """Calls a tool as a client does; returns the parsed answer."""
    tools = {tool.name: tool.parameters for tool in DIALECTS["koi"][0].tools}

    def called(name: str, **arguments: Any) -> Any:
        return json.loads(handlers.call(name, check(tools[name], arguments), context))

    return called


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_dialect_has_two_tools_and_none_is_destructive() -> None:
    surface = DIALECTS["koi"][0]
    assert [tool.name for tool in surface.tools] == ["remember", "recall"]
    assert (surface.resources, surface.templates, surface.prompts) == ((), (), ())
    assert not any((tool.annotations or {}).get("destructiveHint") for tool in surface.tools)


def test_descriptions_do_not_ask_to_trust_recalled_text() -> None:
    surface = DIALECTS["koi"][0]
    words = " ".join((surface.instructions, *(tool.description for tool in surface.tools))).lower()
    assert "trust" not in words
    assert "check what they say" in words


def test_remember_returns_id_and_path(call: Call, project: Path) -> None:
    answer = call("remember", content="## Chose OAuth2\n\nIt can be revoked", tags=["auth"])
    assert set(answer) == {"id", "path"}
    assert answer["id"][:4] == "mem_"
    assert len(answer["id"]) == 16
    text = (project / answer["path"]).read_text(encoding="utf-8")
    assert text.startswith(f"---\nid: {answer['id']}\n")
    assert text.endswith("---\n\n## Chose OAuth2\n\nIt can be revoked\n")


def test_recall_returns_every_field_of_the_design(call: Call) -> None:
    stored = call("remember", content="Chose OAuth2", tags=["auth"])
    (found,) = call("recall", query="oauth2")
    assert list(found) == ["id", "timestamp", "tags", "content", "git"]
    assert (found["id"], found["tags"], found["content"]) == (stored["id"], ["auth"], "Chose OAuth2")
    assert found["timestamp"] < 100_000_000_000
    assert found["git"] == {"branch": "unknown", "commit": "unknown", "dirty": False, "files_changed": []}


def test_git_context_has_branch_commit_and_changed_files(call: Call, project: Path) -> None:
    git(project, "init", "-q", "-b", "feature/oauth")
    (project / "old.py").write_text("1")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    (project / "old.py").write_text("2")
    (project / "src").mkdir()
    (project / "src" / "näw.py").write_text("3")
    call("remember", content="First")
    call("remember", content="Second")
    for found in call("recall"):
        assert found["git"]["branch"] == "feature/oauth"
        assert git(project, "rev-parse", "HEAD").startswith(found["git"]["commit"])
        assert (found["git"]["dirty"], found["git"]["files_changed"]) == (True, ["old.py", "src/näw.py"])


def test_unchanged_working_tree_is_clean(call: Call, project: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    git(project, "commit", "-q", "--allow-empty", "-m", "first")
    call("remember", content="First")
    call("remember", content="Second")
    assert [found["git"]["dirty"] for found in call("recall")] == [False, False]


def test_recall_without_a_query_returns_the_ten_latest(call: Call) -> None:
    for number in range(12):
        call("remember", content=f"Note {number}")
    assert [found["content"] for found in call("recall")] == [f"Note {number}" for number in range(11, 1, -1)]
    assert len(call("recall", limit=12)) == 12


def test_recall_matches_any_tag(call: Call) -> None:
    call("remember", content="One", tags=["Data Base"])
    call("remember", content="Two", tags=["auth"])
    call("remember", content="Three", tags=["other"])
    assert {found["content"] for found in call("recall", tags=["data_base", "AUTH"])} == {"One", "Two"}


@pytest.mark.parametrize(
    ("given", "stored"),
    [("Data Base", "data-base"), ("a_b", "a-b"), ("C++!", "c"), (" x ", "x"), ("größe", "größe"), ("!!", "")],
)
def test_tags_are_normalised_as_koi_does(given: str, stored: str) -> None:
    assert tag(given) == stored


def test_query_by_id_finds_the_memory(call: Call) -> None:
    call("remember", content="One")
    stored = call("remember", content="Two")
    assert [found["content"] for found in call("recall", query=stored["id"])] == ["Two"]


@pytest.mark.parametrize("since", ["1h", "1d", "1w", "today", "yesterday", "2020-01-31"])
def test_since_accepts_every_form_of_the_design(call: Call, since: str) -> None:
    call("remember", content="One")
    assert len(call("recall", since=since)) == 1


def test_since_excludes_older_memories(call: Call, project: Path) -> None:
    day = project / ".memories" / "2020-01-01"
    day.mkdir(parents=True)
    (day / "000000_0000.md").write_text("---\nid: mem_000000000000\ntimestamp: 1577836800\ntags: []\n---\n\nOld\n")
    call("remember", content="New")
    assert [found["content"] for found in call("recall", since="1d")] == ["New"]
    assert len(call("recall")) == 2


def test_invalid_since_is_refused(call: Call) -> None:
    with pytest.raises(InvalidInput, match="is not a time"):
        call("recall", since="a while ago")


def test_global_recall_searches_every_project_and_names_each(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, context: Log
) -> None:
    call("remember", content="Here")
    (tmp_path / "miller").mkdir()
    monkeypatch.chdir(tmp_path / "miller")
    with contextlib.closing(open_handlers(context)) as there:
        there.call("remember", {"content": "There"}, context)
    found = call("recall", scope="global", since="yesterday")
    assert [(each["project"], each["content"]) for each in found] == [("miller", "There"), ("shop", "Here")]
    assert [each["content"] for each in call("recall")] == ["Here"]


def test_missing_projects_in_the_registry_are_skipped(call: Call, home: Path) -> None:
    call("remember", content="Here")
    path = home / ".koi" / "registry.json"
    registry = json.loads(path.read_text())
    registry["projects"] |= {"/nowhere/at all": {"lastAccess": 9**11, "name": "gone"}}
    path.write_text(json.dumps(registry))
    assert [found["content"] for found in call("recall", scope="global")] == ["Here"]


def test_recall_does_not_count_as_access(call: Call, handlers: KoiHandlers) -> None:
    stored = call("remember", content="One")
    call("recall", query="one")
    assert handlers._service.with_file_id(stored["id"])[0].access_count == 0


def test_duplicate_memory_is_stored_once(call: Call, project: Path) -> None:
    assert call("remember", content="One") == call("remember", content="One")
    assert len(list(project.rglob("*.md"))) == 1


def test_secret_is_written_to_no_file(call: Call, project: Path) -> None:
    with pytest.raises(SecretFound):
        call("remember", content="the token is " + "ghp_" + os.urandom(18).hex())
    assert list(project.rglob("*.md")) == []


def test_secret_edited_into_a_file_is_masked_and_reported(call: Call, project: Path, context: Log) -> None:
    secret = "ghp_" + os.urandom(18).hex()
    stored = call("remember", content="The deploy uses a zebra")
    path = project / stored["path"]
    path.write_text(path.read_text().replace("zebra", secret))
    (found,) = call("recall", query="deploy")
    assert_hidden(secret, json.dumps(found))
    assert any("masked: run `keepmum audit`" in line for line in context.lines)
    assert not any(secret[:12] in line for line in context.lines)
