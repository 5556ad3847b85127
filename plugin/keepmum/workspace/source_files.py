"""Reads files of a project's working tree, and none outside it: the paths come from memories, so from anyone."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from keepmum.system.folders import is_inside, real_folder

__all__ = ["MAX_BYTES", "SourceFiles", "Stamp", "Unreadable"]

MAX_BYTES = 1 << 20  # a larger file is data or generated


class Unreadable(Exception):
    """The path is outside the project, or names something other than a source file."""


class Stamp(NamedTuple):
    """Differs after a file was changed."""

    changed_at: int  # nanoseconds since 1970
    size: int
    inode: int


class SourceFiles:
    """The files below a folder of a working tree, by their path from the top of that tree."""

    def __init__(self, top: str, root: str) -> None:
        self._top, self._root = real_folder(top), real_folder(root)

    def stamp(self, path: str) -> Stamp | None:
        """The stamp of a file; None when there is nothing at its path.

        Raises: Unreadable for a path that leads outside the folder, into `.git` or through a symbolic link, and for
        anything but a regular file of at most `MAX_BYTES`.
        """
        try:
            return _stamp(os.lstat(self._checked(path)))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError):
            raise Unreadable(path) from None

    def text(self, path: str) -> str:
        """The content of a file.

        Raises: Unreadable as `stamp`, and when the file is missing.
        """
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            with open(os.open(self._checked(path), flags), "rb") as file:
                _stamp(os.fstat(file.fileno()))  # it may have been replaced
                return file.read(MAX_BYTES).decode("utf-8", "replace")
        except (OSError, ValueError):
            raise Unreadable(path) from None

    def _checked(self, path: str) -> str:
        """The place of a file in the file system.

        Raises: Unreadable, ValueError for a path with a null byte.
        """
        parts = path.split("/")
        if any(part in {"", ".", ".."} or part.casefold() == ".git" or "\\" in part for part in parts):
            raise Unreadable(path)
        place = os.path.join(self._top, *parts)
        real = os.path.realpath(place)
        if os.path.normcase(real) != os.path.normcase(place) or not is_inside(real, self._root):
            raise Unreadable(path)
        return place


def _stamp(found: os.stat_result) -> Stamp:
    """The stamp of a regular file of acceptable size.

    Raises: Unreadable.
    """
    if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
        raise Unreadable
    return Stamp(found.st_mtime_ns, found.st_size, found.st_ino)
