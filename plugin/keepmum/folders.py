"""Folders and the way up from them."""

from __future__ import annotations

import os
from collections.abc import Iterator

__all__ = ["real_folder", "upward"]


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
