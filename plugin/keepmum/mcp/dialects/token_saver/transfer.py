"""Export to and import from JSON files."""

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
_MAX_BYTES = 64 * 1024 * 1024
_AUTO = "auto"


class Folders:
    """The folders that exports may be written to: the project and Keepmum's own `exports`.

    The agent that names the file may follow instructions in a text it has read, so it must not reach other files of
    the user, or a folder that is synchronised to a cloud.
    """

    def __init__(self, home: str, root: str | None) -> None:
        self.exports = os.path.join(home, "exports")
        self._allowed = [os.path.realpath(folder) for folder in (self.exports, root) if folder]
        self._root = root

    def file(self, output: str, now: int) -> str:
        """The path to write to; for `auto`, a new file in `exports`.

        Raises: InvalidInput when it is in another folder, not a .json file, or an existing file that is no export.
        """
        if output == _AUTO:
            stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now / 1000))
            return os.path.join(self.exports, f"memories-{stamp}-{now % 1000:03}.json")
        path = os.path.realpath(os.path.join(self._root or self.exports, os.path.expanduser(output)))
        if not any(
            os.path.commonpath((path, folder)) == folder for folder in self._allowed if _same_drive(path, folder)
        ):
            raise InvalidInput("output", f"must be in the project or in {self.exports}")
        if os.path.splitext(path)[1] != ".json":
            raise InvalidInput("output", "must be a .json file")
        if os.path.exists(path) and not _is_export(path):
            raise InvalidInput("output", "exists and is not an export; choose another name")
        return path


def write(path: str, rows: Sequence[JsonValue], now: int, *, pretty: bool) -> None:
    """Write an export, mode 0600.

    Raises: InvalidInput when it cannot be written.
    """
    content = {"version": _VERSION, "exported_at": iso(now), "count": len(rows), "memories": list(rows)}
    try:
        replace_file(path, json.dumps(content, ensure_ascii=False, indent=2 if pretty else None) + "\n")
    except OSError as error:
        raise InvalidInput("output", f"cannot be written ({error.strerror}); nothing was exported") from error


def read(path: str) -> list[Mapping[str, Any]]:
    """The memories of an export.

    Raises: InvalidInput when the file is not an export.
    """
    try:
        content = _parsed(path)
    except OSError as error:
        raise InvalidInput("file", f"cannot be read ({error.strerror})") from error
    rows = content.get("memories") if isinstance(content, Mapping) else content
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise InvalidInput("file", "is not an export: it has no list of memories")
    return rows


def newest(folder: str) -> float:
    """The time of the newest export in a folder, in seconds since the epoch; 0 if there is none."""
    try:
        names = [name for name in os.listdir(folder) if name.startswith("memories-") and name.endswith(".json")]
        return max((os.path.getmtime(os.path.join(folder, name)) for name in names), default=0.0)
    except OSError:
        return 0.0


def _is_export(path: str) -> bool:
    try:
        content = _parsed(path)
    except (OSError, InvalidInput):
        return False
    return isinstance(content, Mapping) and {"version", "exported_at", "memories"} <= set(content)


def _parsed(path: str) -> Any:
    if not os.path.isfile(path) or os.path.getsize(path) > _MAX_BYTES:
        raise InvalidInput("file", f"must be a file of at most {_MAX_BYTES // 1024**2} MiB")
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (ValueError, RecursionError):
        raise InvalidInput("file", "is not JSON") from None


def _same_drive(one: str, other: str) -> bool:
    return os.path.splitdrive(one)[0] == os.path.splitdrive(other)[0]
