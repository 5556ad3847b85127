"""Folders and files that only their owner may read, and atomic replacement of a file."""

from __future__ import annotations

import contextlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

__all__ = ["create_file", "make_folder", "missing_folders", "rename_new", "replace_file", "replacement"]


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


def rename_new(source: str, target: str, folder: int | None = None) -> bool:
    """Give a file another name unless that is taken; False when it is, and the file keeps its name.

    Names are relative to the descriptor `folder`, if there is one. A killed process may leave the file both names; on
    a file system without hard links, an empty file at `target`, which claims the name until the file is moved there.

    Raises: OSError.
    """
    follow = os.link not in os.supports_follow_symlinks  # if there is a choice, a link in the file's place is linked
    try:
        os.link(source, target, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=follow)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        return _claim_and_rename(source, target, folder)
    os.unlink(source, dir_fd=folder)
    return True


def _claim_and_rename(source: str, target: str, folder: int | None) -> bool:
    """As `rename_new`, without hard links."""
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder))
    except FileExistsError:
        return False
    try:
        os.replace(source, target, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(target, dir_fd=folder)
        raise
    return True


def _link_or_rename(source: str, target: str) -> None:
    """Move `source` to `target` unless that exists; on a file system without hard links, even if it exists.

    Not as `rename_new`, which could leave an empty file there: for a key that is worse than the key of one process.
    """
    try:
        os.link(source, target)
    except FileExistsError:
        pass
    except OSError:
        os.replace(source, target)
        return
    os.unlink(source)
