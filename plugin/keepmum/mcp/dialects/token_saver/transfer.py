"""Memories in a JSON file, and back."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from keepmum.core.errors import InvalidInput
from keepmum.core.memory import JsonValue
from keepmum.mcp.dialects.handlers import iso
from keepmum.system.private_files import replace_file

__all__ = ["Folders", "newest", "read", "write"]

_VERSION = 1
_MOST_BYTES = 64 * 1024 * 1024
_AUTO = "auto"


class Folders:
    """Where files may be written: in the project, and in a folder of Keepmum's own.

    An agent names the file, and what tells the agent to may be a text that it has read: it must not reach the rest of
    the user's files, nor a folder that is synchronised to somebody's cloud unless the project lies in one.
    """

    def __init__(self, home: str, root: str | None) -> None:
        self.exports = os.path.join(home, "exports")
        self._allowed = [os.path.realpath(folder) for folder in (self.exports, root) if folder]
        self._root = root

    def file(self, output: str, now: int) -> str:
        """The path of a file to be written: a new one of the exports for `auto`.

        Raises: InvalidInput when it lies elsewhere, is no .json file, or is there and no export.
        """
        if output == _AUTO:
            stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now / 1000))
            return os.path.join(self.exports, f"memories-{stamp}-{now % 1000:03}.json")
        path = os.path.realpath(os.path.join(self._root or self.exports, output))
        if not any(
            os.path.commonpath((path, folder)) == folder for folder in self._allowed if _same_drive(path, folder)
        ):
            raise InvalidInput("output", f"lies neither in the project nor in {self.exports}; name a file there")
        if os.path.splitext(path)[1] != ".json":
            raise InvalidInput("output", "is no .json file")
        if os.path.exists(path) and not _is_export(path):
            raise InvalidInput("output", "is a file that is no export; name another")
        return path


def write(path: str, rows: Sequence[JsonValue], now: int, *, pretty: bool) -> None:
    """Put an export at `path`, readable by its owner alone.

    Raises: InvalidInput when that cannot be done.
    """
    told = {"version": _VERSION, "exported_at": iso(now), "count": len(rows), "memories": list(rows)}
    try:
        replace_file(path, json.dumps(told, ensure_ascii=False, indent=2 if pretty else None) + "\n")
    except OSError as error:
        raise InvalidInput("output", f"cannot be written ({error.strerror}); nothing was exported") from error


def read(path: str) -> list[Mapping[str, Any]]:
    """The memories of an export.

    Raises: InvalidInput when the file is none.
    """
    try:
        told = _parsed(path)
    except OSError as error:
        raise InvalidInput("file", f"cannot be read ({error.strerror})") from error
    rows = told.get("memories") if isinstance(told, Mapping) else told
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise InvalidInput("file", "is no export: it has no list of memories")
    return rows


def newest(folder: str) -> float:
    """When the last export of a folder was written, in seconds since 1970; 0 for none."""
    try:
        names = [name for name in os.listdir(folder) if name.startswith("memories-") and name.endswith(".json")]
        return max((os.path.getmtime(os.path.join(folder, name)) for name in names), default=0.0)
    except OSError:
        return 0.0


def _is_export(path: str) -> bool:
    try:
        told = _parsed(path)
    except (OSError, InvalidInput):
        return False
    return isinstance(told, Mapping) and {"version", "exported_at", "memories"} <= set(told)


def _parsed(path: str) -> Any:
    if not os.path.isfile(path) or os.path.getsize(path) > _MOST_BYTES:
        raise InvalidInput("file", f"is no file of at most {_MOST_BYTES // 1024**2} MiB")
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (ValueError, RecursionError):
        raise InvalidInput("file", "is no JSON") from None


def _same_drive(one: str, other: str) -> bool:
    return os.path.splitdrive(one)[0] == os.path.splitdrive(other)[0]
