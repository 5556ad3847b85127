"""The real server, started as clients start it: every tool, several servers on one store, and failures."""

from __future__ import annotations

import ctypes
import functools
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from hidden import GITHUB_TOKEN as SECRET
from mcp_process import LIMIT, ServerProcess, request

pytestmark = pytest.mark.usefixtures("shared_bytecode")

Json = dict[str, Any]
Start = Callable[..., ServerProcess]
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="capabilities and limits are Linux's")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def start(root: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a server in the project, with the handshake made."""
    with ExitStack() as stack:

        def start_one(agent: str = "claude-code", *, greet: bool = True, **environ: str | None) -> ServerProcess:
            environment = {name: value for name, value in {**os.environ, **environ}.items() if value is not None}
            monkeypatch.chdir(project)
            command = [sys.executable, "-I", "-S", str(root / "plugin" / "launch.py"), "mcp", "--client", "claude"]
            server = stack.enter_context(ServerProcess(command, environment))
            if greet:
                server.greet(client=agent)
            return server

        yield start_one


def checkpointed(home: Path) -> Path:
    """Checkpoint the database, which a server that ends at once may leave to the next; returns its path."""
    path = home / ".keepmum" / "memory.db"
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    return path


def text_of(answer: Json) -> str:
    """The text of a call that succeeded."""
    result = answer["result"]
    assert not result.get("isError"), result
    return str(result["content"][0]["text"])


def error_of(answer: Json) -> str:
    """The text of a call that was refused."""
    result = answer["result"]
    assert result["isError"] is True, result
    return str(result["content"][0]["text"])


def id_in(text: str) -> str:
    return next(word.strip("(,.:") for word in text.split() if word.strip("(,.:").startswith("mem_"))


# -- tools


def test_memory_is_stored_recalled_loaded_and_forgotten(start: Start) -> None:
    server = start()
    confirmation = text_of(
        server.call("remember", text="We chose Postgres 16", key="db.choice", kind="decision", why="licence")
    )
    assert confirmation.startswith("Kept: We chose Postgres 16")
    found = text_of(server.call("recall", query="which database do we use, postgres?"))
    assert id_in(found) == id_in(confirmation)
    assert "Why: licence" in text_of(server.call("load", ids=["db.choice"]))
    assert "1 trashed" in text_of(server.call("forget", ids=["db.choice"]))
    assert "Nothing is remembered" in text_of(server.call("recall", query="postgres"))
    assert text_of(server.call("forget", ids=["db.choice"], undo=True)).startswith("Brought back: We chose Postgres 16")
    assert "We chose Postgres 16" in text_of(server.call("resume"))


def test_write_reports_its_outcome(start: Start) -> None:
    server = start()
    server.call("remember", text="Use tabs", key="style")
    assert text_of(server.call("remember", text="Use tabs", key="style")).startswith("Known already, nothing changed")
    assert "undo" in text_of(server.call("remember", text="Use blanks", key="style"))
    assert "It supersedes mem_" in text_of(server.call("remember", text="Use a formatter", supersedes="style"))


def test_first_line_without_words_gives_no_empty_title(start: Start) -> None:
    server = start()
    confirmation = text_of(server.call("remember", text="# \u00a0\nDeploys go through staging"))
    assert confirmation.startswith("Kept: Deploys go through staging")


def test_bulk_removal_needs_confirmation(start: Start) -> None:
    server = start()
    for number in range(3):
        server.call("remember", text=f"zebra {number}")
    listed = text_of(server.call("forget", query="zebra"))
    assert listed.startswith("3 would be trashed, nothing was removed yet.")
    code = listed.split('confirm "')[1].split('"')[0]
    assert text_of(server.call("forget", query="zebra", confirm=code)).startswith("3 trashed")


def test_memory_accepts_days_to_live(start: Start) -> None:
    server = start()
    assert text_of(server.call("remember", text="the freeze ends on Friday", ttl_days=3)).startswith("Kept")
    assert "ttl_days" in error_of(server.call("remember", text="too late", ttl_days=0))


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        pytest.param("remember", {}, "text", id="missing"),
        pytest.param("remember", {"text": 7}, "text", id="wrong type"),
        pytest.param("remember", {"text": ""}, "text", id="empty"),
        pytest.param("remember", {"text": "x" * 70_000}, "65,536", id="enormous"),
        pytest.param("remember", {"text": "a\x00b"}, "NUL", id="binary"),
        pytest.param("remember", {"text": "x", "colour": "red"}, "colour", id="unknown field"),
        pytest.param("remember", {"text": "x", "kind": "poem"}, "kind", id="unknown kind"),
        pytest.param("remember", {"text": "x", "importance": 2}, "importance", id="out of range"),
        pytest.param("remember", {"text": "x", "tags": [f"t{number}" for number in range(21)]}, "tags", id="too many"),
        pytest.param("remember", {"text": "x", "supersedes": "unknown"}, "no memory", id="unknown id"),
        pytest.param("recall", {"limit": 0}, "limit", id="limit"),
        pytest.param("recall", {"since": "some day"}, "since", id="invalid time"),
        pytest.param("load", {"ids": []}, "ids", id="nothing to load"),
        pytest.param("load", {"ids": ["mem_00000000"]}, "no memory", id="unknown memory"),
        pytest.param("forget", {}, "name a memory", id="nothing to forget"),
        pytest.param("forget", {"undo": True}, "ids", id="nothing to undo"),
        pytest.param("resume", {"tokens": 1}, "tokens", id="no budget"),
    ],
)
def test_invalid_argument_is_refused_and_the_server_continues(
    start: Start, tool: str, arguments: Json, message: str
) -> None:
    server = start()
    assert message in error_of(server.call(tool, **arguments))
    assert "Nothing is remembered" in text_of(server.call("recall", query="anything"))


def test_resources_and_prompts_show_stored_memories(start: Start) -> None:
    server = start()
    server.call("remember", text="Use tabs", key="style", kind="preference")

    def read(uri: str) -> str:
        answer: Json = server.ask("resources/read", {"uri": uri})
        return str(answer["result"]["contents"][0]["text"])

    assert "Use tabs" in read("memory://current-context")
    assert "claude-code created style" in read("memory://agent-activity")
    assert "Use tabs" in read("memory://style")
    assert server.ask("resources/read", {"uri": "memory://unknown"})["error"]
    briefing: Json = server.ask("prompts/get", {"name": "session-briefing", "arguments": {"focus": "tabs"}})
    assert "Use tabs" in briefing["result"]["messages"][0]["content"]["text"]


# -- secrets


def test_secret_is_refused_and_stored_nowhere(start: Start, tmp_path: Path, home: Path) -> None:
    server = start()
    text_of(server.call("remember", text="an ordinary value", key="known"))
    answers = [
        error_of(server.call("remember", text=f"deploy with {SECRET}")),
        error_of(server.call("remember", text="deploy", data={"token": SECRET})),
        error_of(server.call("remember", text="deploy", kind=SECRET)),
        error_of(server.call("remember", **{"text": "deploy", SECRET: 1})),
        error_of(server.call("load", ids=[SECRET])),
        text_of(server.call("recall", query=SECRET)),
    ]
    text_of(server.call("remember", text="another ordinary value"))
    server.close_input()
    assert server.end() == 0
    pieces = [SECRET[start : start + 5].lower() for start in range(len(SECRET) - 4)]
    outputs = "\n".join([*answers, server.errors()]).lower()
    assert [piece for piece in pieces if piece in outputs] == []
    files = [path for folder in (home, tmp_path) for path in folder.rglob("*") if path.is_file()]
    assert any(path.name == "memory.db" for path in files)
    for path in files:
        data = path.read_bytes().lower()
        assert [piece for piece in pieces if piece.encode() in data] == [], path.name


# -- two servers on one store


def test_two_clients_share_a_memory_under_their_own_names(start: Start) -> None:
    claude, codex = start("claude-code"), start("codex")
    text_of(claude.call("remember", text="Use tabs", key="style"))
    assert "by claude-code" in text_of(codex.call("recall", query="tabs"))
    conflict = text_of(codex.call("remember", text="Use blanks", key="style"))
    assert conflict.startswith("Replaced")
    assert "claude-code stored something else under this key" in conflict
    assert "by codex" in text_of(claude.call("recall", query="blanks"))


# -- end of input


def test_write_before_end_of_input_is_stored_and_acknowledged(start: Start, home: Path) -> None:
    server = start()
    arguments = {"text": "the last words"}
    server.send(request("tools/call", {"name": "remember", "arguments": arguments}, 9))
    server.close_input()
    answers = {message.get("id"): message for message in server.rest()}
    assert "Kept: the last words" in text_of(answers[9])
    assert server.end() == 0
    with closing(sqlite3.connect(home / ".keepmum" / "memory.db")) as db:
        assert db.execute("SELECT text FROM memories").fetchall() == [("the last words",)]


def test_idle_server_exits_at_end_of_input(start: Start) -> None:
    server = start()
    text_of(server.call("recall"))
    server.close_input()
    assert server.process.wait(LIMIT) == 0
    assert server.errors() == ""


# -- failures


def test_tools_without_a_home_are_refused_with_advice(start: Start, tmp_path: Path) -> None:
    server = start(HOME=None, USERPROFILE=None, KEEPMUM_HOME=None)
    assert "KEEPMUM_HOME" in error_of(server.call("remember", text="words"))
    assert server.ask("ping")["result"] == {}
    assert not list(tmp_path.rglob("memory.db"))


def test_disabled_server_offers_nothing(start: Start, home: Path) -> None:
    server = start(greet=False, KEEPMUM_ENABLED="0")
    answer: Json = server.greet(client="claude-code")
    assert "tools" not in answer["result"]["capabilities"]
    assert answer["result"].get("instructions", "") == ""
    assert "error" in server.ask("tools/list")
    assert not (home / ".keepmum" / "memory.db").exists()


def _drop_root_file_access() -> None:
    """Make file permissions apply to this process even for root (drops CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH)."""
    prctl, drop = ctypes.CDLL(None).prctl, 24
    for capability in (1, 2):
        prctl(drop, capability, 0, 0, 0)


@linux_only
def test_read_only_home_is_readable(start: Start, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = start()
    text_of(first.call("remember", text="Use tabs", key="style"))
    first.close_input()
    first.end()
    for path in sorted(home.rglob("*"), reverse=True):
        path.chmod(0o500 if path.is_dir() else 0o400)
    _run_before_exec(monkeypatch, _drop_root_file_access)
    try:
        server = start()
        assert "Use tabs" in text_of(server.call("recall", query="tabs"))
        assert "Use tabs" in text_of(server.call("load", ids=["style"]))
        refusal = error_of(server.call("remember", text="Use blanks"))
        assert "read-only" in refusal
        server.close_input()
        assert server.end() == 0
    finally:
        for path in sorted(home.rglob("*")):
            path.chmod(0o700)


@pytest.fixture
def database(start: Start, home: Path) -> Path:
    """The database of a server that stored one memory and has ended."""
    server = start()
    text_of(server.call("remember", text="Use tabs " * 2000, key="style"))
    server.close_input()
    server.end()
    return checkpointed(home)


@linux_only
@pytest.mark.parametrize("room", [pytest.param(64 << 10, id="a little"), pytest.param(0, id="none")])
def test_full_disk_fails_only_the_write(
    start: Start, database: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    import resource

    with monkeypatch.context() as patch:
        _run_before_exec(patch, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)))
        server = start()
    assert "Use tabs" in text_of(server.call("recall", query="tabs"))
    assert "othing was stored" in error_of(server.call("remember", text="no room for this " * 3500))
    assert "Use tabs" in text_of(server.call("load", ids=["style"]))
    server.close_input()
    server.end()
    with closing(sqlite3.connect(database)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM memories").fetchone() == (1,)


def test_damaged_store_is_repaired_before_the_first_answer(start: Start, database: Path) -> None:
    with database.open("r+b") as file:
        file.write(bytes(100))
    server = start()
    assert "Use tabs" in text_of(server.call("recall", query="tabs"))
    assert list(database.parent.glob("memory.db.corrupt-*"))


def _run_before_exec(monkeypatch: pytest.MonkeyPatch, prepare: Callable[[], None]) -> None:
    """Run `prepare` in every process that is started, before its program."""
    monkeypatch.setattr(subprocess, "Popen", functools.partial(subprocess.Popen, preexec_fn=prepare))
