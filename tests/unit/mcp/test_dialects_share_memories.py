"""What one dialect stores, the command line and the other dialects find."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from dialect_calls import Caller, Open, opened, opening
from keepmum.cli.main import main
from keepmum.core.errors import NotFound
from keepmum.mcp.dialects import DIALECTS
from rest_server import KEY, FakeServer, behind

TEXT = "## Chose OAuth2 over JWT\n\nSessions can be revoked."
Run = Callable[..., str]


def repository(path: Path) -> Path:
    path.mkdir()
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    return path


COMMANDS = [["standup"], ["recall", "OAuth2"], ["recall"], ["resume"], ["export"], ["load", "FILE-ID"]]


@pytest.fixture
def shop(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001 - the user's home
    """A repository in which Koi's tools have stored a memory."""
    folder = repository(tmp_path / "shop")
    monkeypatch.chdir(folder)
    with opened("koi") as koi:
        koi.json("remember", content=TEXT, tags=["auth"])
    return folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `keepmum` in the working folder; returns what it prints."""

    def run_one(*words: str) -> str:
        capsys.readouterr()
        main(words)
        return capsys.readouterr().out

    return run_one


# -- Koi's memories


@pytest.fixture(params=["command line", "variable", "settings"])
def dialect_chosen(request: pytest.FixtureRequest, shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository; the dialect was chosen on a server's command line, by a variable, or in the settings."""
    if request.param == "variable":
        monkeypatch.setenv("KEEPMUM_DIALECT", "koi")
    if request.param == "settings":
        (home / ".keepmum" / "config.toml").write_text('dialect = "koi"\n', encoding="utf-8")
    return shop


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_command_line_finds_what_koi_stored(dialect_chosen: Path, run: Run, command: list[str]) -> None:
    (file,) = (dialect_chosen / ".memories").glob("*/*.md")
    file_id = file.read_text(encoding="utf-8").split("id: ")[1].split()[0]
    assert "Chose OAuth2 over JWT" in run(*(file_id if word == "FILE-ID" else word for word in command))


def test_doctor_and_status_count_what_koi_stored(shop: Path, run: Run) -> None:  # noqa: ARG001 - has the memory
    assert "store: 1 memory" in run("doctor")
    assert "memories  1" in run("status")


@pytest.mark.usefixtures("shop")
def test_other_dialects_find_and_forget_what_koi_stored() -> None:
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "keepmum": ("recall", {"query": "OAuth2"}),
        "shared": ("search_memory", {"query": "OAuth2"}),
        "hackathon": ("recall", {"query": "OAuth2"}),
        "token-saver": ("search_memories", {"query": "OAuth2"}),
    }
    for dialect, (tool, arguments) in calls.items():
        with opened(dialect) as tools:
            assert "OAuth2" in tools.text(tool, **arguments), dialect
    with opened("per-user") as tools:
        assert tools.json("MemoryRecall", userId="ada", query="OAuth2")["memories"] == []
        assert tools.json("MemoryErase", userId="ada", confirm="ada")["status"] == "erased"
    with opened("keepmum") as tools:
        found = tools.service.recall("OAuth2")
        tools.text("forget", ids=[found[0].memory.id])
        assert "OAuth2" not in tools.text("recall", query="OAuth2 JWT")
    with opened("koi") as koi:
        assert koi.json("recall") == []


@pytest.mark.usefixtures("shop")
def test_koi_finds_what_other_dialects_stored_and_they_store_as_before(home: Path) -> None:
    with opened("keepmum") as tools:
        tools.text("remember", text="Deploys go through the blue pool")
        assert {type(part).__name__ for part in tools.service.store.features.composite.parts.values()} == {
            "SqliteStore", "MarkdownStore",
        }  # fmt: skip
    with opened("koi") as koi:
        assert len(koi.json("recall")) == 2
    assert (home / ".keepmum" / "memory.db").exists()


@pytest.mark.usefixtures("shop")
def test_briefing_has_what_koi_stored(home: Path) -> None:
    with opened("keepmum"):
        pass
    (briefing,) = (home / ".keepmum" / "state" / "briefings").glob("*.md")
    assert "OAuth2" in briefing.read_text(encoding="utf-8")


@pytest.mark.usefixtures("shop")
def test_every_project_is_searched_from_anywhere(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository(tmp_path / "other"))
    assert "OAuth2" in run("standup")
    assert "OAuth2" in run("recall", "--scope", "all")
    assert run("recall") == ""
    monkeypatch.chdir("/")
    assert "OAuth2" in run("standup")


@pytest.mark.usefixtures("shop")
def test_only_an_id_opens_the_files_of_other_projects(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = run("recall").split("(mem_")[1].split(",")[0]
    monkeypatch.chdir(repository(tmp_path / "other"))
    assert "OAuth2" in run("load", f"mem_{memory}")
    assert "OAuth2" in run("load", f"mem_{memory[:12]}")
    with opened("keepmum") as tools:
        for key in ("cache", "abcd", "deadbeef"):
            with pytest.raises(NotFound):
                tools.service.find(key)
        assert list(tools.service.store.features.composite.opened) == []


def test_files_of_a_repository_in_which_this_user_stored_nothing_are_not_read(
    shop: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["cp", "-r", str(shop), str(clone)], check=True)
    monkeypatch.chdir(clone)
    assert run("recall") == ""
    with opened("keepmum") as tools:
        assert tools.service.count() == 0


@pytest.mark.parametrize("source", ["variable", "settings", "project"])
def test_files_of_others_are_read_when_the_user_chose_koi(
    tmp_path: Path, run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    clone = repository(tmp_path / "clone")
    (clone / ".memories" / "2026-02-04").mkdir(parents=True)
    text = f"---\nid: mem_a1b2c3d4e5f6\ntimestamp: 1738680652\ntags:\n  - auth\n---\n\n{TEXT}\n"
    (clone / ".memories" / "2026-02-04" / "143052_a1b2.md").write_text(text, encoding="utf-8")
    if source == "variable":
        monkeypatch.setenv("KEEPMUM_DIALECT", "koi")
    else:
        folder = home / ".keepmum" if source == "settings" else clone
        folder.mkdir(exist_ok=True)
        name = "config.toml" if source == "settings" else ".keepmum.toml"
        (folder / name).write_text('dialect = "koi"\n', encoding="utf-8")
    monkeypatch.chdir(clone)
    assert ("OAuth2" in run("recall")) is (source != "project")


def test_moving_to_another_folder_reads_its_files(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from keepmum.mcp.surface import Context

    monkeypatch.chdir(repository(tmp_path / "other"))
    context = Context(agent="codex", session="s1", roots=(str(shop),))
    with opened("keepmum") as tools:
        assert tools.service.count() == 0
        monkeypatch.chdir("/")
        tools.handlers.roots_changed(context)
        assert tools.service.count() == 1


@pytest.mark.usefixtures("shop")
def test_with_a_team_server_the_files_are_read_as_well(
    httpserver: HTTPServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_API_URL", behind(httpserver, FakeServer()))
    monkeypatch.setenv("MEMORY_API_KEY", KEY)
    with opened("shared") as tools:
        tools.text("store_memory", title="Pools", text="Blue first")
        assert "Memory API: http" in tools.text("get_config")
    assert {"OAuth2", "Pools"} <= {word for line in run("standup").splitlines() for word in line.split()}


def test_damaged_registry_is_not_an_error(shop: Path, home: Path, run: Run) -> None:  # noqa: ARG001 - has the memory
    (home / ".koi" / "registry.json").write_text("{", encoding="utf-8")
    main(["remember", "still works"])
    assert "still works" in run("recall")


# -- the memories of users


@pytest.fixture
def open_tools(project: Path) -> Iterator[Open]:  # noqa: ARG001 - sets the working folder
    with opening("per-user") as open_one:
        yield open_one


@pytest.fixture
def ada(open_tools: Open) -> Caller:
    return open_tools()


def stored(tools: Caller, text: str = "Uses vim", user: str = "ada") -> str:
    return str(tools.json("MemoryStore", userId=user, content=text, category="fact")["memoryId"])


def contents(tools: Caller, user: str = "ada") -> list[str]:
    return [row["content"] for row in tools.json("MemoryList", userId=user)["memories"]]


def test_command_line_restores_what_a_users_agent_deleted(ada: Caller, run: Run) -> None:
    memory = stored(ada)
    ada.json("MemoryForget", userId="ada", memoryId=memory)
    assert "restored" in run("forget", "--undo", memory)
    assert contents(ada) == ["Uses vim"]


def test_command_line_loads_and_forgets_a_users_memory_by_its_complete_id(ada: Caller, run: Run) -> None:
    memory, other = stored(ada), stored(ada, "Uses emacs", "bob")
    assert "Uses vim" in run("load", memory)
    assert "trashed" in run("forget", memory)
    assert (contents(ada), contents(ada, "bob")) == ([], ["Uses emacs"])
    assert run("load", memory[:12]) == ""
    assert run("load", memory, other) == ""  # of two users


def test_a_user_that_the_settings_name_sees_no_other(ada: Caller, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = stored(ada)
    monkeypatch.setenv("KEEPMUM_USER", "bob")
    assert run("load", memory) == ""
    monkeypatch.setenv("KEEPMUM_USER", "ada")
    assert "Uses vim" in run("recall")


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name not in {"koi", "per-user"}])
def test_no_other_dialect_reaches_a_users_memory_by_its_id(ada: Caller, dialect: str) -> None:
    memory = stored(ada)
    with opened(dialect) as tools, pytest.raises(NotFound, match="belongs to a user"):
        tools.service.find(memory)
    assert json.dumps(contents(ada)) == '["Uses vim"]'
