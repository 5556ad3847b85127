"""The inputs of the command: files, all files of a folder, standard input, and staged files."""

from __future__ import annotations

import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["BINARY", "STDIN", "Input", "Unreadable", "inputs", "staged", "to_text"]

STDIN = "-"
_MAX_BYTES = 64 << 20  # of a file
BINARY = "binary data, not text"  # reported only for a file that was named itself
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # some shells write redirected output in UTF-16
# Files with these suffixes are scanned although they contain nulls: one null must not hide the rest.
_TEXT_SUFFIXES = (".md", ".mdc", ".txt", ".json", ".jsonl", ".toml", ".yaml", ".yml", ".env", ".ini", ".csv")
_SKIPPED = frozenset({".git", ".hg", ".svn"})  # folders of version control


class Unreadable(Exception):
    """An input that cannot be scanned; the message says why."""


class Input:
    """One text to scan."""

    __slots__ = ("lines", "name", "problem", "text")

    def __init__(self, name: str, text: str = "", problem: str = "", lines: tuple[range, ...] | None = None) -> None:
        self.name = name
        self.text = text
        self.problem = problem  # why there is no text, or ""
        self.lines = lines  # line numbers from 1 whose findings are reported, or None for all


def inputs(names: Iterable[str], *, ignored: bool = False) -> Iterator[Input]:
    """One input per file; a folder is replaced by its files, without links, binaries and version control folders.

    Inside a git work tree, files that git ignores are skipped unless `ignored` is set.
    """
    for name in names:
        if name != STDIN and os.path.isdir(name):
            found = map(_input, _files(name) if ignored else _listed(name))
            yield from (one for one in found if one.problem != BINARY)
        else:
            yield _input(name)


def staged() -> Iterator[Input]:
    """Each staged file of the repository around the current folder, with its new lines.

    The whole file is scanned, since the name of a secret may be in an old line.

    Raises: Unreadable outside of a repository, or without git.
    """
    from keepmum_scanner import git_files  # starts programs, unlike everything else here

    try:
        with git_files.staged() as repository:
            for name, blob in repository.files():
                try:
                    text = to_text(repository.content(blob), name)
                except (Unreadable, git_files.GitFailed) as reason:
                    if str(reason) != BINARY:
                        yield Input(name, problem=str(reason))
                    continue
                yield Input(name, text, lines=repository.new_lines(name))
    except git_files.GitFailed as reason:
        raise Unreadable(str(reason)) from None


def _input(name: str) -> Input:
    try:
        return Input(name, to_text(sys.stdin.buffer.read() if name == STDIN else _read(name), name))
    except Unreadable as reason:
        return Input(name, problem=str(reason))


def to_text(data: bytes, name: str = "") -> str:
    """`data`, the content of the file `name`, as text; invalid UTF-8 becomes replacement characters.

    UTF-16 is read as UTF-8 too: the scanner ignores the nulls between its letters.

    Raises: Unreadable for binary data.
    """
    if b"\0" in data and not (data.startswith(_UTF_16) or name.lower().endswith(_TEXT_SUFFIXES)):
        raise Unreadable(BINARY)
    return data.decode("utf-8-sig", "replace")


def _listed(folder: str) -> Iterator[str]:
    """The files of `folder` that git lists; all files outside of a work tree and in a folder that git ignores."""
    from keepmum_scanner import git_files

    paths = git_files.listed(folder)
    if paths is None:
        yield from _files(folder)
        return
    for path in paths:
        if os.path.isdir(path) and not os.path.islink(path):
            yield from _listed(path)
        elif _is_file(path):
            yield path


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False  # it was deleted meanwhile


def _files(folder: str) -> Iterator[str]:
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(names):
            path = os.path.join(top, name)
            if _is_file(path):
                yield path


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", None) or "no such file") from None
    if len(data) > _MAX_BYTES:
        raise Unreadable(f"longer than {_MAX_BYTES >> 20} MiB")
    return data
