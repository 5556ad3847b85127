"""Our reader of git's files returns the same as git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from keepmum.workspace.git.config import parse
from keepmum.workspace.git.repository import (
    GitContext,
    Remote,
    changed_files,
    find_repository,
    git_context,
    remote_of,
)
from keepmum_scanner import git_process


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    person = {
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    return {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", **person}


@pytest.fixture
def repository(tmp_path: Path, environ: dict[str, str]) -> Path:
    folder = tmp_path / "api"
    folder.mkdir()
    git(folder, environ, "init", "-q", "-b", "main")
    return folder


def git(folder: Path, environ: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('[remote "origin"]\n\turl = https://h/a/b.git\n', id="plain"),
        pytest.param('[Remote "Or.igin"]\n\tURL=x\n', id="case"),
        pytest.param('[remote "a\\"b\\\\c"]\nurl = x\n', id="escapes in a subsection"),
        pytest.param("[remote.Origin]\nurl = x\n", id="dotted section"),
        pytest.param("[a]\nb = c ; comment\nd = e # comment\n# f = g\n;h = i\n", id="comments"),
        pytest.param('[a]\nb = "c ; d" # e\n', id="a comment sign in quotes"),
        pytest.param('[a]\nb = one  "two  " three \t\n', id="blanks"),
        pytest.param("[a]\nb = one \\\n  two\n", id="two lines"),
        pytest.param('[a]\nb = "one\\\ntwo"\n', id="two lines in quotes"),
        pytest.param('[a]\nb = c\\td\\ne\\\\f\\"g\n', id="escapes"),
        pytest.param("[a]\nb\n", id="no value"),
        pytest.param("[a]\nb =\n", id="empty value"),
        pytest.param("[a] b = c\n", id="one line"),
        pytest.param("[a]\r\nb = c\r\n", id="Windows line ends"),
        pytest.param("[a]\nb = c", id="no final line end"),
        pytest.param('[url "https://x/"]\n  insteadOf = y:\n  insteadOf = z:\n', id="several values"),
        pytest.param('[a]\nb-c = 1\n\n  [d "e"]\nf = \xe9\n', id="more"),
    ],
)
def test_a_configuration_is_read_as_git_reads_it(tmp_path: Path, environ: dict[str, str], text: str) -> None:
    (tmp_path / "config").write_bytes(text.encode())
    listed = git(tmp_path, environ, "config", "--file", "config", "-z", "--list").split("\0")
    expected = [(key, value) for key, _, value in (item.partition("\n") for item in listed) if key]
    assert parse(text) == expected


def test_a_byte_order_mark_is_passed_over() -> None:
    assert parse("\ufeff[a]\nb = c\n") == [("a.b", "c")]


@pytest.mark.parametrize("text", ['[a "b]\nc = d\n', "= x\n", "[]\na = b\n", "a = b\n[c", "\0\x01"])
def test_what_is_not_a_configuration_says_nothing(text: str) -> None:
    assert parse(text) == []


def test_a_long_line_takes_no_longer_than_its_length() -> None:
    assert parse('[a]\nb = "' + "\\\n" * 200_000)[0][0] == "a.b"


def test_a_remote_does_not_show_its_url() -> None:
    assert "word" not in repr(Remote("origin", "https://me:word@h/a/b"))


def test_branch_and_commit_are_those_of_git(repository: Path, environ: dict[str, str]) -> None:
    git(repository, environ, "commit", "-q", "--allow-empty", "-m", "x")
    git(repository, environ, "switch", "-q", "-c", "feat/one")
    assert git_context(str(repository)) == GitContext("feat/one", git(repository, environ, "rev-parse", "HEAD")[:12])


def test_before_the_first_commit_there_is_a_branch(repository: Path) -> None:
    assert git_context(str(repository)) == GitContext("main", None)


def test_a_detached_head_has_no_branch(repository: Path, environ: dict[str, str]) -> None:
    git(repository, environ, "commit", "-q", "--allow-empty", "-m", "x")
    git(repository, environ, "checkout", "-q", "--detach")
    assert git_context(str(repository)) == GitContext(None, git(repository, environ, "rev-parse", "HEAD")[:12])


def test_a_packed_branch_is_found(repository: Path, environ: dict[str, str]) -> None:
    git(repository, environ, "commit", "-q", "--allow-empty", "-m", "x")
    git(repository, environ, "tag", "-a", "v1", "-m", "v1")
    git(repository, environ, "pack-refs", "--all")
    assert git_context(str(repository)) == GitContext("main", git(repository, environ, "rev-parse", "HEAD")[:12])


def test_a_working_tree_has_its_own_branch(repository: Path, environ: dict[str, str], tmp_path: Path) -> None:
    git(repository, environ, "commit", "-q", "--allow-empty", "-m", "x")
    git(repository, environ, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    assert git_context(str(tmp_path / "tree")).branch == "other"


def test_a_plain_folder_has_neither(tmp_path: Path) -> None:
    assert git_context(str(tmp_path)) == GitContext()


@pytest.mark.parametrize("head", ["", "ref: ../../../etc/passwd", "ref: refs/heads/../../config", "rubbish", "\xff"])
def test_a_damaged_head_has_no_commit(repository: Path, head: str) -> None:
    (repository / ".git" / "HEAD").write_text(head, encoding="latin-1")
    assert git_context(str(repository)).commit is None


def test_a_repository_with_reftables_is_asked_for(repository: Path, environ: dict[str, str], tmp_path: Path) -> None:
    """Stands in for a newer git: an older one cannot create such a repository."""
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n", encoding="utf-8")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(f"#!/bin/sh\necho {'a' * 40}\necho refs/heads/main\n", encoding="utf-8")
    (tmp_path / "bin" / "git").chmod(0o755)
    assert git_context(str(repository), environ | {"PATH": str(tmp_path / "bin")}) == GitContext("main", "a" * 12)


@pytest.mark.parametrize(
    "pointer", ["", "gitdir:", "gitdir: /no/such", "gitdir: a\0b", "gitdir: .", "x" * 9000, "\xff"]
)
def test_a_damaged_pointer_gives_no_repository(tmp_path: Path, pointer: str) -> None:
    (tmp_path / ".git").write_text(pointer, encoding="latin-1")
    found = find_repository(str(tmp_path))
    assert found is None or found.root != str(tmp_path)


def test_a_damaged_common_folder_gives_no_remote(repository: Path, environ: dict[str, str]) -> None:
    (repository / ".git" / "commondir").write_bytes(b"a\0b")
    found = find_repository(str(repository))
    assert found is not None
    assert remote_of(found, environ) is None


def test_an_empty_git_folder_makes_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    found = find_repository(str(tmp_path))
    assert found is None or found.root != str(tmp_path)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(1, ["new.md"], id="no setting is there"),
        pytest.param(None, None, id="git took too long, and may have been told to ignore the file"),
    ],
)
def test_changed_files_are_unknown_without_the_settings(
    repository: Path, monkeypatch: pytest.MonkeyPatch, status: int | None, expected: list[str] | None
) -> None:
    (repository / "new.md").write_text("x", encoding="utf-8")
    run = git_process.run

    def run_or_fail(arguments: Sequence[str], *rest: Any) -> bytes:
        if arguments[0] == "config":
            raise git_process.GitFailed("for this test", status)
        return run(arguments, *rest)

    monkeypatch.setattr(git_process, "run", run_or_fail)
    assert changed_files(str(repository)) == expected
