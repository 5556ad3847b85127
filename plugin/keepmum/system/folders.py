"""Folders and the way up from them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping

__all__ = ["is_world_writable", "real_folder", "upward", "user_home"]


def real_folder(path: str) -> str:
    """`path` without symbolic links, whether or not it exists; the top of the file system where it can be no path.

    A relative path is none when the working folder is gone.
    """
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return os.path.abspath(os.sep)


def upward(folder: str) -> Iterator[str]:
    """`folder`, its parent, and so on to the top of the file system."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def is_world_writable(folder: str) -> bool:
    """Whether everyone may leave files in `folder`, as in `/tmp`."""
    mode = os.stat(folder).st_mode
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)


def user_home(environ: Mapping[str, str]) -> str:
    """The user's own folder; empty where the variables name none."""
    return environ.get("HOME") or environ.get("USERPROFILE") or ""
