"""Folders and files that only their owner may read, and atomic replacement of a file."""

from __future__ import annotations

import contextlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

__all__ = ["create_file", "make_folder", "missing_folders", "replace_file", "replacement"]


def make_folder(path: str) -> None:
    """Create the folder and its missing parents, mode 0700; existing folders stay as they are.

    Raises: OSError as `os.mkdir`.
    """
    for folder in missing_folders(path):
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)


def missing_folders(path: str) -> list[str]:
    """The folders that have to be created before `path` is one, outermost first."""
    missing: list[str] = []
    while path and not os.path.isdir(path) and path != os.path.dirname(path):
        missing.insert(0, path)
        path = os.path.dirname(path)
    return missing


def replace_file(path: str, text: str) -> None:
    """Write `text` to `path` (0600) atomically: a reader sees the old file or the new one, never a part.

    Raises: OSError; the file at `path` is then unchanged.
    """
    make_folder(os.path.dirname(path))
    with replacement(path) as file:
        file.write(text.encode())


def create_file(path: str, content: bytes) -> None:
    """Write a new file (0600) atomically; an existing file stays as it is.

    Raises: OSError.
    """
    make_folder(os.path.dirname(path))
    with replacement(path, keep_existing=True) as file:
        file.write(content)


@contextlib.contextmanager
def replacement(path: str, mode: int = 0o600, *, keep_existing: bool = False) -> Iterator[BinaryIO]:
    """A new file that replaces the one at `path` when the block ends; an exception discards it.

    With `keep_existing` it is discarded also when there is a file at `path` by then.

    Raises: OSError; the file at `path` is then unchanged.
    """
    # The number of the process lets a SessionStart hook recognise a file of a process that died.
    unfinished = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.part"
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with open(descriptor, "wb") as file:
            yield file
        if keep_existing:
            _link_or_rename(unfinished, path)
        else:
            os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise


def _link_or_rename(source: str, target: str) -> None:
    """Move `source` to `target` unless that exists; on a file system without hard links, even if it exists."""
    try:
        os.link(source, target)
    except FileExistsError:
        pass
    except OSError:
        os.replace(source, target)
        return
    os.unlink(source)
