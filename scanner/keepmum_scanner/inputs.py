"""What is to be scanned: files, all files of a folder, standard input; each a name and a text."""

from __future__ import annotations

import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Lines = range  # of a file, from 1

__all__ = ["BINARY", "STDIN", "Input", "Unreadable", "decoded", "inputs"]

STDIN = "-"
LONGEST = 64 << 20  # bytes of a file
BINARY = "binary data, not text"  # and nobody who names a whole folder asked for it
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # as some shells write what they print to a file
# Named a text it is one: a null in it would hide the rest.
_TEXTS = (".md", ".mdc", ".txt", ".json", ".jsonl", ".toml", ".yaml", ".yml", ".env", ".ini", ".csv")
_PASSED_OVER = frozenset({".git", ".hg", ".svn"})  # what version control keeps for itself


class Unreadable(Exception):
    """An input that cannot be scanned; the message says why."""


class Input:
    """One text to scan; a value."""

    __slots__ = ("lines", "name", "problem", "text")

    def __init__(self, name: str, text: str = "", problem: str = "", lines: tuple[Lines, ...] | None = None) -> None:
        self.name = name
        self.text = text
        self.problem = problem  # why there is no text, or ""
        self.lines = lines  # those that count, or None for all


def inputs(names: Iterable[str], *, ignored: bool = False) -> Iterator[Input]:
    """What each name stands for; a folder for its files, without links, binaries and what version control keeps.

    Inside a git work tree files that git ignores are passed over, unless `ignored` is asked for too.
    """
    for name in names:
        if name != STDIN and os.path.isdir(name):
            found = map(_input, _files(name) if ignored else _listed(name))
            yield from (one for one in found if one.problem != BINARY)
        else:
            yield _input(name)


def _input(name: str) -> Input:
    try:
        return Input(name, decoded(sys.stdin.buffer.read() if name == STDIN else _read(name), name))
    except Unreadable as reason:
        return Input(name, problem=str(reason))


def decoded(data: bytes, name: str = "") -> str:
    """`data`, the content of the file `name`, as text; bytes that are no UTF-8 become replacement characters.

    The letters of UTF-16 have nulls between them, which a scan passes over as it does whatever is not shown.

    Raises: Unreadable for binary data.
    """
    if b"\0" in data and not (data.startswith(_UTF_16) or name.lower().endswith(_TEXTS)):
        raise Unreadable(BINARY)
    return data.decode("utf-8-sig", "replace")


def _listed(folder: str) -> Iterator[str]:
    """Files of `folder` as git lists them, where it does; all of them elsewhere, and in a folder that git ignores."""
    from keepmum_scanner import worktree  # starts programs, which nothing else here does

    paths = worktree.files(folder)
    if paths is None:
        yield from _files(folder)
        return
    for path in paths:
        if _is_folder(path):
            yield from _listed(path)
        elif _is_file(path):
            yield path


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False  # it went away meanwhile


def _files(folder: str) -> Iterator[str]:
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER)
        for name in sorted(names):
            path = os.path.join(top, name)
            if _is_file(path):
                yield path


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", None) or "no such file") from None
    if len(data) > LONGEST:
        raise Unreadable(f"longer than {LONGEST >> 20} MiB")
    return data
