"""Import a `.memories` folder: of a repository, of Koi, or written by `keepmum export --markdown`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from keepmum.core import serialization
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Memory
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem
from keepmum.service.importers.sniff import Sniff
from keepmum.stores.markdown import FOLDER, mapping
from keepmum.stores.markdown.folder import Folder, UnreadableFile

__all__ = ["FORMAT", "write_file"]


def _matches(sniff: Sniff) -> bool:
    return sniff.is_folder and _days_of(sniff.path) is not None


def _days_of(path: str) -> Folder | None:
    """The folder with day folders at `path`, or its `.memories`; None when there is neither."""
    for folder in (Folder(path), Folder(os.path.join(path, FOLDER))):
        if folder.days(time.time_ns()):
            return folder
    return None


def write_file(folder: str, memory: Memory) -> str:
    """Write a memory with all its fields to a new file below `folder`; returns the path.

    Raises: InvalidInput when the file cannot be created.
    """
    content = mapping.new_text(memory, None).encode()
    for path in mapping.file_names(memory):
        try:
            if Folder(folder).create(path, content):
                return path
        except (OSError, UnreadableFile) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise InvalidInput("file", f"{folder} cannot be written: {reason}") from None
    raise InvalidInput("file", f"{folder} has no free name for a memory of that second")


def _read(path: str) -> Iterator[Found]:
    """The memories in a folder, one file each; nothing is written there."""
    folder = _days_of(path)
    if folder is None:
        raise InvalidInput("file", f"{path} holds no folders such as 2026-01-31")
    now = time.time_ns()
    for day in folder.days(now):
        for name in sorted(folder.files(day, now)):
            yield _read_file(folder, name)


def _read_file(folder: Folder, name: str) -> ImportItem:
    try:
        return ImportItem(name, serialization.to_json(mapping.parse_file(folder.read(name), None).memory))
    except (UnreadableFile, ValueError, InvalidInput) as reason:  # also NotMemoryFile and InvalidYaml
        return ImportItem(name, None, str(reason))


FORMAT = Format("a `.memories` folder", _matches, _read)
