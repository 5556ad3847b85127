"""A memory records the commit and branch that were checked out when it was written."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import keepmum_scanner
from keepmum.core.memory import Activity, Change
from keepmum.core.memory_text import full
from keepmum.service import MemoryService, opening
from keepmum.stores import Receipt, StaleWrite
from keepmum.workspace.git import repository as repository_facts


@dataclass
class Calls:
    """Texts that were scanned, and places where git was read."""

    scans: list[str] = field(default_factory=list)
    git_reads: list[object] = field(default_factory=list)


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


def test_a_branch_that_looks_like_a_secret_is_not_stored_and_stops_no_write(repository: Path, home: Path) -> None:
    token = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
    _git(repository, "checkout", "-q", "-b", token)
    with opening.open_session({"HOME": str(home)}, "codex", upkeep=False) as memory:
        kept = memory.remember("Tabs, not spaces").memory
    assert kept.git is not None
    assert kept.git["branch"] is None


@pytest.fixture
def counted(repository: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[MemoryService, Calls]]:
    """A service in a repository after a first write, with the scans and git reads since then."""
    calls = Calls()
    scan, git_context = keepmum_scanner.scan, repository_facts.git_context

    def counted_scan(text: str) -> Sequence[keepmum_scanner.Finding]:
        calls.scans.append(text)
        return scan(text)

    def counted_read(root: str, environ: Mapping[str, str]) -> repository_facts.GitContext:
        calls.git_reads.append(root)
        return git_context(root, environ)

    monkeypatch.setattr(keepmum_scanner, "scan", counted_scan)
    monkeypatch.setattr("keepmum.service.cited_code.git_context", git_context)  # reads HEAD for the briefing
    monkeypatch.setattr(repository_facts, "git_context", counted_read)
    with opening.open_session({"HOME": str(home)}, "codex", [str(repository)], upkeep=False) as memory:
        memory.settle()
        memory.remember("Tabs, not spaces", key="style.tabs", why="habit", tags=["style"])
        calls.scans.clear()
        calls.git_reads.clear()
        yield memory, calls


@pytest.mark.parametrize("key", ["deploy.order", "style.tabs"], ids=["a new memory", "a new value"])
def test_a_write_scans_each_text_once_and_reads_git_once(counted: tuple[MemoryService, Calls], key: str) -> None:
    memory, calls = counted
    memory.remember("Deploys go to the blue pool first", key=key, why="it has fewer users", tags=["deploy"])
    assert len(calls.scans) == len(set(calls.scans)) <= 10
    assert len(calls.git_reads) == 1


def test_a_retried_write_scans_and_reads_git_once(
    counted: tuple[MemoryService, Calls], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, calls = counted
    commit, attempts = memory.store.commit, iter([True, True, False])

    def commit_late(changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        if next(attempts):
            raise StaleWrite
        return commit(changes, activity)

    monkeypatch.setattr(memory.store, "commit", commit_late)
    assert memory.remember("Spaces, not tabs", key="style.tabs", why="a vote").action == "updated"
    assert len(calls.scans) == len(set(calls.scans)) <= 10
    assert len(calls.git_reads) == 1


def test_a_text_that_cleaning_changes_is_scanned_in_both_forms(counted: tuple[MemoryService, Calls]) -> None:
    memory, calls = counted
    memory.remember("Deploys\u200bgo first")
    assert {"Deploys\u200bgo first", "Deploys go first"} <= set(calls.scans)
