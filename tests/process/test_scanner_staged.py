"""`--staged` scans what the next commit adds; and the hook that pre-commit runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCANNER = Path(__file__).parents[2] / "scanner"
LIMIT = 60  # seconds
GITHUB = "gh" + "p_" + "a1B2" * 9


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def git(folder: Path, *words: str) -> None:
    name = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True, timeout=LIMIT)


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def scan(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-S", str(SCANNER), "--staged", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=LIMIT, check=False)


def test_a_new_line_with_a_secret_is_found(repository: Path) -> None:
    write(repository, "note.md", f"one\nkey {GITHUB}\n")
    git(repository, "add", ".")
    done = scan(repository)
    assert (done.returncode, done.stdout) == (1, b"note.md:2:5: github.token\n")


def test_an_old_line_is_not_reported(repository: Path) -> None:
    write(repository, "note.md", f"key {GITHUB}\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "old")
    write(repository, "note.md", f"new\nkey {GITHUB}\nnew\n")
    git(repository, "add", ".")
    assert scan(repository).returncode == 0


def test_unstaged_changes_are_not_scanned(repository: Path) -> None:
    write(repository, "note.md", "clean\n")
    git(repository, "add", ".")
    write(repository, "note.md", f"{GITHUB}\n")
    write(repository, "other.md", f"{GITHUB}\n")
    assert scan(repository).returncode == 0


def test_staged_content_is_scanned_even_if_the_file_changed_since(repository: Path) -> None:
    write(repository, "note.md", f"{GITHUB}\n")
    git(repository, "add", ".")
    write(repository, "note.md", "clean\n")
    assert scan(repository).returncode == 1


@pytest.mark.parametrize(
    "name", ["sp ace.md", "naïve.md", '"quoted".md', "-dash.md", "deep/er.md", ":(top)x.md", "*.md"]
)
def test_files_with_unusual_names_are_scanned(repository: Path, name: str) -> None:
    write(repository, name, f"one\n{GITHUB}\n")
    write(repository, "x.md", "clean\n")
    git(repository, "add", ".")
    done = scan(repository)
    assert (done.returncode, done.stdout.decode()) == (1, f"{name}:2:1: github.token\n")


def test_all_staged_files_are_scanned_from_a_subfolder(repository: Path) -> None:
    write(repository, "note.md", GITHUB)
    write(repository, "deep/clean.md", "clean")
    git(repository, "add", ".")
    assert scan(repository / "deep").stdout == b"note.md:1:1: github.token\n"


def test_a_binary_and_a_submodule_are_skipped(repository: Path) -> None:
    (repository / "image").write_bytes(b"\0" + GITHUB.encode())
    git(repository, "add", ".")
    git(repository, "update-index", "--add", "--cacheinfo", "160000," + "1234567890" * 4 + ",sub")
    assert scan(repository).returncode == 0


def test_a_removed_secret_is_not_reported(repository: Path) -> None:
    write(repository, "note.md", f"{GITHUB}\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "old")
    git(repository, "rm", "-q", "note.md")
    assert scan(repository).returncode == 0


def test_a_folder_outside_of_a_repository_is_an_error(tmp_path: Path) -> None:
    done = scan(tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"scanner: git failed: not a repository, or a damaged one\n"


def test_no_program_that_the_repository_configures_is_started(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    for setting in ("core.fsmonitor", "diff.external", "diff.t.textconv", "diff.t.command", "core.pager"):
        git(repository, "config", setting, str(trap))
    write(repository, ".gitattributes", "* diff=t\n")
    write(repository, "note.md", GITHUB)
    git(repository, "-c", "core.fsmonitor=false", "add", ".")
    (tmp_path / "sprung").unlink(missing_ok=True)
    assert scan(repository).returncode == 1
    assert not (tmp_path / "sprung").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ignores the shebang line")
def test_the_hook_of_pre_commit_runs(repository: Path, root: Path) -> None:
    hooks = (root / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entry = root / hooks.partition("entry: ")[2].partition("\n")[0]
    write(repository, "note.md", GITHUB)
    environ = {"PATH": os.environ["PATH"]}
    done = subprocess.run(
        [entry, "note.md"], cwd=repository, capture_output=True, timeout=LIMIT, env=environ, check=False
    )
    assert (done.returncode, done.stdout) == (1, b"note.md:1:1: github.token\n")
