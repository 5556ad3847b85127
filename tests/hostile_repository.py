"""A git repository in which everything that can name a program names a trap."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["PLACES", "HostileRepository", "harmful_settings"]

LIMIT = 60  # seconds
_DRIVER = "evil"
_HOOKS = (
    "fsmonitor-watchman post-checkout post-commit post-index-change post-merge pre-auto-gc pre-commit"
    " pre-merge-commit prepare-commit-msg reference-transaction sendemail-validate update"
).split()


class HostileRepository:
    """A work tree with a modified, a staged and a new file, a submodule and a nested repository, all with traps."""

    def __init__(self, folder: Path, traps: Path) -> None:
        self.root = folder
        self._sprung = traps / "sprung"
        self.trap = traps / "trap"
        traps.mkdir()
        self.trap.write_text(f'#!/bin/sh\necho "$0 $*" >> "{self._sprung}"\nexit 1\n')
        self.trap.chmod(0o755)
        self._create(folder)
        (folder / "note.md").write_text("one\n")
        (folder / ".gitattributes").write_text(f"* filter={_DRIVER} diff={_DRIVER} merge={_DRIVER}\n")
        (folder / ".gitmodules").write_text(f'[submodule "sub"]\n\tpath = sub\n\turl = ext::{self.trap}\n')
        self._create(folder / "sub")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        self._create(folder / "nested")
        for path in ("note.md", "new.md", "sub/a", "nested/a"):
            (folder / path).write_text("two two\n")
        (folder / "staged.md").write_text("three\n")
        self.git("add", "staged.md")

    def git(self, *words: str, cwd: Path | None = None) -> str:
        """The output of git, run before the traps are set."""
        name = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        command = ["git", *name, *words]
        done = subprocess.run(command, cwd=cwd or self.root, check=True, capture_output=True, timeout=LIMIT, text=True)
        return done.stdout

    def set_traps(self, settings: Mapping[str, str], place: str) -> None:
        """Set the settings of this repository, its submodule and its nested one, and create all hooks."""
        for folder in (self.root, self.root / "sub", self.root / "nested"):
            git_dir = folder / ".git"
            (git_dir / "info").mkdir(exist_ok=True)
            shutil.copyfile(self.root / ".gitattributes", git_dir / "info" / "attributes")
            for hook in _HOOKS:
                shutil.copy(self.trap, git_dir / "hooks" / hook)
            PLACES[place](git_dir, "".join(_lines(settings)))
        # No stored time may agree with a file, or git would not look at its content.
        for path in self.root.iterdir():
            os.utime(path, (1, 1))

    def sprung(self) -> str:
        """What ran since the last call."""
        try:
            text = self._sprung.read_text()
        except FileNotFoundError:
            return ""
        self._sprung.unlink()
        return text

    def _create(self, folder: Path) -> None:
        folder.mkdir()
        self.git("init", "-q", "-b", "main", "--template=", cwd=folder)
        (folder / ".git" / "hooks").mkdir()
        (folder / "a").write_text("a\n")
        self.git("add", ".", cwd=folder)
        self.git("commit", "-qm", "a", cwd=folder)


def harmful_settings(trap: Path, scratch: Path) -> dict[str, str]:
    """Every setting that git documents, with the trap as its value, without those with which git does not work."""
    listed = subprocess.run(["git", "help", "--config"], check=True, capture_output=True, timeout=LIMIT, text=True)
    names = {re.sub(r"<[^>]+>|\*", _DRIVER, name) for name in listed.stdout.split()}
    names |= {f"filter.{_DRIVER}.{key}" for key in ("clean", "smudge", "process")}
    names |= {f"diff.{_DRIVER}.{key}" for key in ("textconv", "command")}
    names |= {"core.fsmonitor", "core.hooksPath", "alias.status", "alias.diff", "alias.config", "alias.rev-parse"}
    # Set by `PLACES`, or not a valid name in a file of settings.
    names -= {"core.worktree", "core.repositoryFormatVersion", "extensions.worktreeConfig", "include.path"}
    values = {
        name: str(trap.parent if name == "core.hooksPath" else trap)
        for name in sorted(names)
        if re.fullmatch(r"[a-z]+\.(.+\.)?[a-z0-9-]+", name, re.IGNORECASE)
    }
    values[f"filter.{_DRIVER}.required"] = "true"
    for words in (["init", "-q", str(scratch)], ["-C", str(scratch), "add", "."]):
        subprocess.run(["git", *words], check=True, capture_output=True, timeout=LIMIT)
        (scratch / "a").write_text(words[0])
    for words in (["status"], ["diff", "--cached"], ["ls-files", "-o"], ["rev-parse", "--show-toplevel"]):
        while error := _error(values, words, scratch):
            del values[_refused(values, words, scratch, error.lower())]
    return values


def _refused(values: Mapping[str, str], words: list[str], scratch: Path, error: str) -> str:
    """The setting that causes the error; most errors name it."""
    names = list(values)
    quoted = set(re.findall(r"'([^']+)'", error))
    for name in names:
        if name.lower() in quoted:
            return name
    while len(names) > 1:
        half = names[: len(names) // 2]
        names = half if _error({name: values[name] for name in half}, words, scratch) else names[len(half) :]
    return names[0]


def _error(values: Mapping[str, str], words: list[str], scratch: Path) -> str:
    (scratch / ".git" / "config").write_text("".join(_lines(values)))
    done = subprocess.run(["git", *words], cwd=scratch, capture_output=True, timeout=LIMIT, text=True, check=False)
    return done.stderr or "?" if done.returncode else ""


def _lines(settings: Mapping[str, str]) -> list[str]:
    """Two lines of a configuration file for each setting."""
    lines = []
    for name, value in settings.items():
        section, _, rest = name.partition(".")
        middle, _, key = rest.rpartition(".")
        lines.append(f'[{section} "{middle}"]\n' if middle else f"[{section}]\n")
        lines.append(f"\t{key} = {value}\n")
    return lines


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def _in_worktree_config(git_dir: Path, text: str) -> None:
    _append(git_dir / "config", "[extensions]\n\tworktreeConfig = true\n")
    _append(git_dir / "config.worktree", text)


def _in_include(condition: str) -> Callable[[Path, str], None]:
    def write(git_dir: Path, text: str) -> None:
        _append(git_dir / "more", text)
        _append(git_dir / "config", f"[{condition}]\n\tpath = more\n")

    return write


PLACES: Mapping[str, Callable[[Path, str], None]] = {
    "config": lambda git_dir, text: _append(git_dir / "config", text),
    "config.worktree": _in_worktree_config,
    "include": _in_include("include"),
    "includeIf": _in_include('includeIf "gitdir:/**"'),
}
