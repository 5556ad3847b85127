"""Files and folders that only their owner may read, replaced in one step."""

from __future__ import annotations

import _thread
import contextlib
import os

__all__ = ["make_folder", "replace_file"]


def make_folder(path: str) -> None:
    """Make a folder and its parents, each for its owner alone; folders that exist stay as they are.

    Raises: OSError as `os.mkdir`.
    """
    missing = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)


def replace_file(path: str, text: str) -> None:
    """Put `text` at `path` (0600) so that a reader sees the old file or the new one, never a part.

    Raises: OSError; what was at `path` before is then still there.
    """
    make_folder(os.path.dirname(path))
    unfinished = f"{path}.{os.getpid()}-{_thread.get_ident()}.part"
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise
