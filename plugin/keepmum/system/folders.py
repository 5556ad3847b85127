"""Paths of folders, and tests on them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping

__all__ = ["is_inside", "is_world_writable", "real_folder", "upward", "user_home"]


def real_folder(path: str) -> str:
    """`path` without symbolic links, whether or not it exists; the file system's root when it cannot be resolved.

    A relative path cannot be resolved after the working folder was deleted.
    """
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return os.path.abspath(os.sep)


def upward(folder: str) -> Iterator[str]:
    """`folder`, its parent, and so on up to the file system's root."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def is_inside(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it; both without symbolic links."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def is_world_writable(folder: str) -> bool:
    """Whether everyone may create files in `folder` but remove only their own, as in `/tmp`."""
    mode = os.stat(folder).st_mode
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)


def user_home(environ: Mapping[str, str]) -> str:
    """The user's home folder; empty when no variable names it."""
    return environ.get("HOME") or environ.get("USERPROFILE") or ""
