"""A memory carries what was checked out when it was written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from keepmum.core.briefing import full
from keepmum.service import opening


def _git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "api"
    folder.mkdir()
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    monkeypatch.chdir(folder)
    return folder


def test_branch_and_commit_are_kept_and_shown(repository: Path, home: Path) -> None:
    with opening.open_session({"HOME": str(home)}, "codex", upkeep=False) as memory:
        kept = memory.remember("Tabs, not spaces").memory
    assert kept.git is not None
    assert kept.git["branch"] == "main"
    assert _git(repository, "rev-parse", "HEAD").startswith(str(kept.git["commit"]))
    assert f"Git: main@{kept.git['commit']}" in full(kept)


def test_the_same_words_at_a_later_commit_are_nothing_new(repository: Path, home: Path) -> None:
    with opening.open_session({"HOME": str(home)}, "codex", upkeep=False) as memory:
        memory.remember("Tabs, not spaces")
        _git(repository, "commit", "-q", "--allow-empty", "-m", "second")
        assert memory.remember("Tabs, not spaces").action is None


def test_a_branch_that_looks_like_a_secret_stops_no_write_and_is_not_kept(repository: Path, home: Path) -> None:
    token = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
    _git(repository, "checkout", "-q", "-b", token)
    with opening.open_session({"HOME": str(home)}, "codex", upkeep=False) as memory:
        kept = memory.remember("Tabs, not spaces").memory
    assert kept.git is not None
    assert kept.git["branch"] is None
