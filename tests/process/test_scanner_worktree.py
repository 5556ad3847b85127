"""In a folder inside a git work tree only ignored files are skipped."""

from __future__ import annotations

import os
import random
import string
import subprocess
import sys
from pathlib import Path

import pytest

from hidden import assert_hidden

LIMIT = 60  # seconds
TOKEN = "gh" + "p_" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=36))


def git(folder: Path, *words: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, timeout=LIMIT, env=environment)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A work tree with a tracked, a new and two ignored files; each contains a key."""
    top = tmp_path / "tree"
    (top / "build").mkdir(parents=True)
    git(top, "init", "--quiet")
    (top / ".gitignore").write_text("build/\n.env\n", encoding="utf-8")
    for name in ("tracked.md", "new.md", ".env", "build/out.md"):
        (top / name).write_text(f"use {TOKEN}\n", encoding="utf-8")
    git(top, "add", "tracked.md")
    return top


def found(root: Path, tree: Path, *words: str, **extra: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(root / "scanner"), *words],
        cwd=tree, capture_output=True, text=True, timeout=LIMIT, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, **extra},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert_hidden(TOKEN, done.stdout + done.stderr)
    return {line.split(":")[0].replace("\\", "/").removeprefix("./") for line in done.stdout.splitlines()}


def test_ignored_files_are_skipped(root: Path, tree: Path) -> None:
    assert found(root, tree, ".") == {"tracked.md", "new.md"}


def test_no_ignore_scans_all_files(root: Path, tree: Path) -> None:
    assert found(root, tree, "--no-ignore", ".") == {"tracked.md", "new.md", ".env", "build/out.md"}


def test_a_named_file_is_scanned_though_it_is_ignored(root: Path, tree: Path) -> None:
    assert found(root, tree, ".env") == {".env"}


def test_a_named_folder_is_scanned_though_it_is_ignored(root: Path, tree: Path) -> None:
    assert found(root, tree, "build") == {"build/out.md"}


def test_a_tracked_file_is_scanned_though_a_pattern_ignores_it(root: Path, tree: Path) -> None:
    git(tree, "add", "--force", ".env")
    assert found(root, tree, ".") == {"tracked.md", "new.md", ".env"}


def test_a_repository_inside_the_tree_is_scanned(root: Path, tree: Path) -> None:
    inner = tree / "vendored"
    inner.mkdir()
    git(inner, "init", "--quiet")
    (inner / "a.md").write_text(f"use {TOKEN}\n", encoding="utf-8")
    assert found(root, tree, ".") == {"tracked.md", "new.md", "vendored/a.md"}


def test_a_deleted_tracked_file_is_not_an_error(root: Path, tree: Path) -> None:
    (tree / "tracked.md").unlink()
    assert found(root, tree, ".") == {"new.md"}


def test_git_variables_of_a_hook_are_ignored(root: Path, tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    assert found(root, tree, ".", GIT_DIR=str(other / ".git")) == {"tracked.md", "new.md"}


def test_every_file_is_scanned_outside_of_a_work_tree(root: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / ".gitignore").write_text("*\n", encoding="utf-8")
    (plain / "a.md").write_text(f"use {TOKEN}\n", encoding="utf-8")
    assert found(root, plain, ".") == {"a.md"}


def test_no_program_that_the_repository_configures_is_started(root: Path, tree: Path, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    git(tree, "config", "core.fsmonitor", f"touch {marker}; false")
    found(root, tree, ".")
    assert not marker.exists()
