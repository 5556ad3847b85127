"""Every write path, as a process: a credential is refused or masked, and no file of the home contains it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hidden import GITHUB_TOKEN as SECRET

pytestmark = pytest.mark.heavy

LIMIT = 60  # seconds
Run = Callable[..., subprocess.CompletedProcess[str]]

KEPT = {"id": "mem_" + "0" * 26, "text": "a fact", "title": "a fact", "created_at": 1, "updated_at": 1}


@pytest.fixture
def run(root: Path, tmp_path: Path, share_bytecode: Callable[[Path], None]) -> Run:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    share_bytecode(tmp_path / "home")

    def run(*words: str, said: str = "", **extra: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", str(root / "plugin" / "launch.py"), *words]
        environ = {**os.environ, "HOME": str(tmp_path), "KEEPMUM_HOME": str(tmp_path / "home"), **extra}
        return subprocess.run(
            command, cwd=tmp_path / "project", env=environ, capture_output=True, text=True, timeout=LIMIT, check=False,
            input=said,
        )  # fmt: skip

    return run


def leaks(*folders: Path) -> list[str]:
    """Files below the folders that contain five consecutive characters of the secret."""
    pieces = [SECRET[at : at + 5].encode().lower() for at in range(4, len(SECRET) - 4)]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if any(piece in path.read_bytes().lower() for piece in pieces))


def shows_secret(done: subprocess.CompletedProcess[str]) -> bool:
    return any(SECRET[at : at + 5] in done.stdout + done.stderr for at in range(4, len(SECRET) - 4))


REMEMBERED = {
    "text": ("remember", f"deploy with {SECRET}"),
    "title": ("remember", "text", "--title", f"deploy {SECRET}"),
    "why": ("remember", "text", "--why", f"because {SECRET}"),
    "tag": ("remember", "text", "--tag", SECRET),
    "key": ("remember", "text", "--key", SECRET),
    "source": ("remember", "text", "--source", f"https://ada:{SECRET}@example.org/"),
}


@pytest.mark.parametrize("words", REMEMBERED.values(), ids=REMEMBERED)
@pytest.mark.parametrize("kind", ["sqlite", "markdown"])
def test_what_is_remembered_with_a_secret_stands_nowhere(
    run: Run, tmp_path: Path, kind: str, words: tuple[str, ...]
) -> None:
    run("remember", "an ordinary value", KEEPMUM_BACKEND=kind)
    done = run(*words, KEEPMUM_BACKEND=kind)
    assert (done.returncode, shows_secret(done)) == (1, False)
    assert leaks(tmp_path / "home", tmp_path / "project") == []


def test_what_comes_by_standard_input_stands_nowhere(run: Run, tmp_path: Path) -> None:
    done = run("remember", said=f"a line\ndeploy with {SECRET}\n")
    assert (done.returncode, shows_secret(done)) == (1, False)
    assert leaks(tmp_path / "home") == []


def _front(**fields: str) -> str:
    named = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"---\nid: mem_e42ff8549525\n{named}timestamp: 1795273720\nagent: cli\n---\n\n"


LINES: dict[str, dict[str, object]] = {
    "text": {"text": f"use {SECRET}"},
    "title": {"title": f"use {SECRET}"},
    "why": {"why": f"since {SECRET}"},
    "tags": {"tags": [SECRET]},
    "key": {"key": SECRET},
    "data": {"data": {"deep": [{"token": SECRET}]}},
    "source": {"source": f"https://ada:{SECRET}@example.org/"},
    "git": {"git": {"url": f"https://{SECRET}@example.org/"}},
    "agent": {"agent": SECRET},
    "a field of another name": {SECRET: 1},
}
IMPORTED: dict[str, tuple[str, str, str]] = {
    **{
        f"JSON lines, {name}": ("keepmum", "in.jsonl", json.dumps({**KEPT, **more}) + "\n")
        for name, more in LINES.items()
    },
    "Markdown, text": ("memories", "in/2026-11-21/a.md", _front() + f"use {SECRET}\n"),
    "Markdown, tag": ("memories", "in/2026-11-21/a.md", _front(tags=f"[{SECRET}]") + "text\n"),
    "notes of a client": ("claude", "in/MEMORY.md", f"# Notes\n\n- deploy with {SECRET}\n"),
    "a graph": (
        "server-memory",
        "in.json",
        json.dumps({"type": "entity", "name": "ada", "entityType": "person", "observations": [f"uses {SECRET}"]})
        + "\n",
    ),
}


@pytest.mark.parametrize("name", IMPORTED)
def test_what_is_imported_with_a_secret_stands_nowhere(run: Run, tmp_path: Path, name: str) -> None:
    form, path, content = IMPORTED[name]
    file = tmp_path / "files" / path
    file.parent.mkdir(parents=True)
    file.write_text(content, encoding="utf-8")
    run("remember", "an ordinary value")
    done = run("import", "--yes", "--from", form, str(tmp_path / "files" / path.split("/")[0]))
    assert not shows_secret(done)
    assert done.returncode != 0 or "refused" in done.stdout + done.stderr
    assert leaks(tmp_path / "home", tmp_path / "project") == []


def test_what_would_wait_for_a_server_stands_nowhere(run: Run, tmp_path: Path) -> None:
    """Port 9 is the discard port: nothing listens there."""
    done = run("remember", f"deploy with {SECRET}", MEMORY_API_URL="http://127.0.0.1:9", MEMORY_API_KEY="k" * 8)
    assert (done.returncode, shows_secret(done)) == (1, False)
    assert leaks(tmp_path / "home") == []


@pytest.fixture
def edited(run: Run, tmp_path: Path) -> Path:
    """A memory file that was edited by hand and contains a secret."""
    (tmp_path / "home" / "config.toml").write_text('[backend]\nkind = "markdown"\n', encoding="utf-8")
    run("remember", "how the river is crossed", "--key", "river")
    (file,) = (tmp_path / "project" / ".memories").rglob("*.md")
    with file.open("a", encoding="utf-8") as more:
        more.write(f"deploy with {SECRET} now\n")
    return file


@pytest.mark.parametrize("words", [("recall", "river"), ("load", "river"), ("export",), ("resume",), ("review",)])
def test_what_was_edited_by_hand_is_masked_on_its_way_out(run: Run, edited: Path, words: tuple[str, ...]) -> None:
    assert SECRET in edited.read_text(encoding="utf-8")
    assert not shows_secret(run(*words))


@pytest.mark.parametrize("how", ["--redact", "--purge"])
def test_what_was_edited_by_hand_can_be_repaired(run: Run, edited: Path, tmp_path: Path, how: str) -> None:
    run("recall", "river")
    assert run("audit").returncode == 1
    done = run("audit", how, "--yes")
    assert (done.returncode, shows_secret(done)) == (0, False), done.stderr
    assert leaks(tmp_path / "home", tmp_path / "project") == []
    assert edited.exists() is (how == "--redact")


def test_the_search_of_these_tests_works(edited: Path, tmp_path: Path) -> None:
    assert leaks(tmp_path / "project") == [edited.name]
