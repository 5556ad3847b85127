"""`keepmum audit` as a process: folders, stores, and exit statuses."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hidden import GITHUB_TOKEN as SECRET
from hidden import assert_hidden

pytestmark = pytest.mark.heavy

LIMIT = 60  # seconds
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(root: Path, tmp_path: Path, share_bytecode: Callable[[Path], None]) -> Run:
    share_bytecode(tmp_path / "home")
    (tmp_path / "project").mkdir()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", str(root / "plugin" / "launch.py"), *words]
        environ = {**os.environ, "KEEPMUM_HOME": str(tmp_path / "home")}
        return subprocess.run(
            command, cwd=tmp_path / "project", env=environ, capture_output=True, text=True, timeout=LIMIT, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    return run


@pytest.fixture
def planted(run: Run, tmp_path: Path) -> Path:
    """The home of a store with a secret, written past the service."""
    run("remember", "an ordinary value", "--key", "known")
    with contextlib.closing(sqlite3.connect(tmp_path / "home" / "memory.db")) as db, db:
        db.execute("UPDATE memories SET text = ?", (f"deploy with {SECRET}",))
    return tmp_path / "home"


def leaks(home: Path) -> list[str]:
    pieces = [SECRET[at : at + 5].encode().lower() for at in range(len(SECRET) - 4)]
    contents = {path.name: path.read_bytes().lower() for path in home.rglob("*") if path.is_file()}
    return sorted(name for name, content in contents.items() if any(piece in content for piece in pieces))


def test_clean_store_and_clean_file_pass(run: Run, tmp_path: Path) -> None:
    (tmp_path / "project" / "CLAUDE.md").write_text("an ordinary line", encoding="utf-8")
    run("remember", "an ordinary value")
    assert (run("audit").returncode, run("audit", "CLAUDE.md").returncode) == (0, 0)


def test_finding_in_a_file_has_place_and_rule(run: Run, tmp_path: Path) -> None:
    (tmp_path / "project" / ".memories").mkdir()
    (tmp_path / "project" / ".memories" / "a.md").write_text(f"one\nuse {SECRET}\n", encoding="utf-8")
    done = run("audit", ".memories")
    assert (done.returncode, done.stdout) == (1, f"{Path('.memories', 'a.md')}:2:5: github.token\n")
    (finding,) = json.loads(run("audit", "--json", ".memories").stdout)
    assert (finding["line"], finding["rule"]) == (2, "github.token")


def test_finding_in_the_store_is_reported_without_changing_it(run: Run, planted: Path) -> None:
    done = run("audit")
    assert (done.returncode, ":text:1: github.token" in done.stdout) == (1, True)
    assert_hidden(SECRET, done.stdout + done.stderr)
    assert leaks(planted)


def test_repair_needs_confirmation(run: Run, planted: Path) -> None:
    assert run("audit", "--redact").returncode == 1
    assert leaks(planted)


@pytest.mark.parametrize("action", ["--redact", "--purge"])
def test_repair_removes_the_secret_from_the_whole_home(run: Run, planted: Path, action: str) -> None:
    done = run("audit", action, "--yes")
    assert done.returncode == 0, done.stderr
    assert leaks(planted) == []
    assert run("audit").returncode == 0


def test_recall_before_repair_is_masked_and_reported(run: Run, planted: Path) -> None:
    done = run("recall", "--json")
    assert_hidden(SECRET, done.stdout)
    assert "1 place masked: run `keepmum audit`" in done.stderr
    assert planted.exists()


@pytest.mark.parametrize("words", [("--redact", "--purge"), ("--redact", "."), ("nowhere.md",)])
def test_invalid_usage_exits_2(run: Run, words: tuple[str, ...]) -> None:
    assert run("audit", *words).returncode == 2


def test_settings_files_are_audited_with_the_store(run: Run, tmp_path: Path) -> None:
    run("remember", "an ordinary value")
    (tmp_path / "home" / "config.toml").write_text(f"# {SECRET}\n", encoding="utf-8")
    (tmp_path / "project" / ".keepmum.toml").write_text(f"\n# {SECRET}\n", encoding="utf-8")
    done = run("audit")
    assert done.returncode == 1
    assert [line.rpartition("/")[2] for line in done.stdout.splitlines()] == [
        "config.toml:1:3: github.token",
        ".keepmum.toml:2:3: github.token",
    ]
    assert len(json.loads(run("audit", "--json").stdout)) == 2
