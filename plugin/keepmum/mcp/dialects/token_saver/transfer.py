"""Export to and import from JSON files."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from keepmum.core.errors import InvalidInput
from keepmum.core.memory import JsonValue
from keepmum.mcp.dialects.handlers import iso
from keepmum.system.private_files import replace_file

__all__ = ["ATTRIBUTES", "Folders", "Row", "newest", "parse", "read", "write"]

_VERSION = 1
_KEPT = frozenset({"key", "value", "scope", "importance", "verbosity", "tags", "ttl", "trust"})
# Stored with a memory of others, and not when an import replaces a value, which is a write of today. Of other fields
# only the number is reported: a name may be a secret.
ATTRIBUTES = frozenset(
    {"id", "created_at", "updated_at", "accessed_at", "access_count", "created_by", "updated_by", "project_path",
     "session_id"}
)  # fmt: skip
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

        Raises: InvalidInput when it is in another folder, not a .json file, or an existing file that is not an export.
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


class Row(NamedTuple):
    """A memory of an export; 0 for a level that it does not have."""

    key: str
    value: Any
    scope: str
    importance: int
    verbosity: int
    tags: list[str]
    ttl: float | None
    updated_at: str
    not_kept: list[str]  # names of fields that have no place here
    is_outside: bool = False  # whether the export marks it as text from outside


def parse(row: Mapping[str, Any]) -> Row:
    """A memory of an export: of ours, with `metadata`, or of the original server, where all fields are in one object.

    Raises: InvalidInput for a field of a wrong type or out of its range: nothing is dropped without a word.
    """
    meta = row.get("metadata") or {}
    if not isinstance(meta, Mapping):
        raise InvalidInput("metadata", "must be an object")
    found = {**{name: value for name, value in row.items() if name != "metadata"}, **meta}
    key, scope = found.get("key"), found.get("scope") or "project"
    if not isinstance(key, str) or not key:
        raise InvalidInput("key", "is missing")
    if not isinstance(scope, str):
        raise InvalidInput("scope", "must be a string")
    if "value" not in found:
        raise InvalidInput("value", "is missing")
    given = [name for name, value in found.items() if name not in _KEPT and value not in (None, "", [], 0)]
    return Row(
        key=key,
        value=found["value"],
        scope=scope.lower(),
        importance=_level("importance", found.get("importance"), 5),
        verbosity=_level("verbosity", found.get("verbosity"), 4),
        tags=_tags(found.get("tags")),
        ttl=_seconds(found.get("ttl")),
        updated_at=str(found.get("updated_at") or found.get("created_at") or ""),
        not_kept=[name if name in ATTRIBUTES else "other fields" for name in given],
        is_outside=found.get("trust") == "outside",
    )


def _level(name: str, value: object, most: int) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value not in range(1, most + 1):
        raise InvalidInput(name, f"must be a whole number from 1 to {most}")
    return int(value)


def _tags(value: object) -> list[str]:
    if isinstance(value, str):  # the original's database has them as JSON
        try:
            value = json.loads(value) if value.lstrip().startswith("[") else value.split(",")
        except ValueError:
            raise InvalidInput("tags", "must be a list of strings") from None
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise InvalidInput("tags", "must be a list of strings")
    return value


def _seconds(value: object) -> float | None:
    if value is None or value == 0:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise InvalidInput("ttl", "must be a number of seconds")
    return float(value)


def _is_export(path: str) -> bool:
    try:
        content = _parsed(path)
    except (OSError, InvalidInput):
        return False
    return isinstance(content, Mapping) and {"version", "exported_at", "memories"} <= set(content)


def _parsed(path: str) -> Any:
    if not os.path.exists(path):
        raise InvalidInput("file", "does not exist; give the path of a file that export_memories wrote")
    if not os.path.isfile(path) or os.path.getsize(path) > _MAX_BYTES:
        raise InvalidInput("file", f"must be a file of at most {_MAX_BYTES // 1024**2} MiB")
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (ValueError, RecursionError):
        raise InvalidInput("file", "is not JSON") from None


def _same_drive(one: str, other: str) -> bool:
    return os.path.splitdrive(one)[0] == os.path.splitdrive(other)[0]
