"""A model's files somewhere below a folder, or in an archive."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Mapping

from keepmum.embedding.local_model import is_right

__all__ = ["find", "is_archive", "unpack"]

_DEEPEST = 5  # folders below the one that was named
_ARCHIVES = (".whl", ".zip")


def find(path: str, wanted: Mapping[str, str]) -> str | None:
    """The folder at or below `path` that holds every wanted file, whole; None where there is none."""
    depth = path.rstrip(os.sep).count(os.sep)
    for folder, below, names in os.walk(path):
        if folder.count(os.sep) - depth >= _DEEPEST:
            below.clear()
        below.sort()
        if wanted.keys() <= set(names) and all(is_right(os.path.join(folder, n), h) for n, h in wanted.items()):
            return folder
    return None


def unpack(archive: str, wanted: Mapping[str, str], into: str) -> None:
    """Put the wanted files of a wheel or zip file into a folder; whatever else it holds stays in it.

    Raises: OSError, or ValueError when it is no archive.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            for member in opened.infolist():
                name = os.path.basename(member.filename)
                if name in wanted:
                    with opened.open(member) as source, open(os.path.join(into, name), "wb") as target:
                        shutil.copyfileobj(source, target, 1 << 20)
    except zipfile.BadZipFile:
        raise ValueError("is no wheel or zip file, or not all of one") from None


def is_archive(path: str) -> bool:
    """Whether a path names what `unpack` reads."""
    return path.endswith(_ARCHIVES) and os.path.isfile(path)
