"""Reads the values that other tools store: times, lists, numbers and JSON, each in several forms."""

from __future__ import annotations

import json
import math
import os
from datetime import UTC, datetime
from typing import Any

__all__ = ["changed_at", "json_object", "parse_time", "positive", "text_list", "text_or_none"]

_SECONDS_BELOW = 100_000_000_000  # a number of seconds since 1970 is below this, one of milliseconds above
_LATEST = 253_402_300_799_999  # the last millisecond of the year 9999


def json_object(value: object) -> dict[str, Any] | None:
    """The object that a value is, or holds as JSON in a text or in UTF-8; None when it is neither."""
    try:
        text = value.decode("utf-8-sig") if isinstance(value, bytes) else value
        found = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def parse_time(value: object) -> int | None:
    """Milliseconds since 1970 for a time in ISO 8601, in seconds or in milliseconds; None if it is none of these.

    Times without a zone are UTC, as in SQLite's `datetime('now')`.
    """
    if isinstance(value, str):
        text = value.strip()
        try:
            value = float(text) if text[:1].isdigit() and text.replace(".", "", 1).isdigit() else _from_iso(text)
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    found = round(value if abs(value) >= _SECONDS_BELOW else value * 1000)
    return found if 0 < found <= _LATEST else None


def changed_at(path: str) -> int:
    """When a file was last changed, in milliseconds; the time of a memory for which its tool has none.

    Raises: OSError.
    """
    return os.stat(path).st_mtime_ns // 1_000_000


def positive(value: object) -> int | None:
    """A number of uses; None for anything else, and for 0."""
    return value if isinstance(value, int) and value > 0 else None


def text_or_none(value: object) -> str | None:
    """A text that is not empty; None for anything else."""
    return value if isinstance(value, str) and value else None


def _from_iso(text: str) -> float:
    parsed = datetime.fromisoformat(text)
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def text_list(value: object) -> list[str]:
    """The strings of a list that is given as such, as JSON, or with commas between them."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.lstrip().startswith("[") else value.split(",")
        except (ValueError, RecursionError):
            return []
    return [item for item in value if isinstance(item, str)] if isinstance(value, (list, tuple)) else []
