"""Import JSON lines, which `keepmum export` writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from keepmum.core.errors import InvalidInput
from keepmum.service.importers.item import ImportItem

__all__ = ["objects", "open_lines", "read_lines"]

_LONGEST = 1 << 20  # bytes of one memory


def read_lines(lines: Iterable[bytes]) -> Iterator[ImportItem]:
    """One memory for each line."""
    for place, value, problem in objects(lines):
        yield ImportItem(place, value, problem)


def open_lines(path: str) -> Iterator[bytes]:
    """The lines of a file, as bytes.

    Raises: InvalidInput when it cannot be opened.
    """
    try:
        with open(path, "rb") as lines:
            yield from lines
    except OSError as error:
        raise InvalidInput("file", f"{path}: {error.strerror}") from None


def objects(lines: Iterable[bytes]) -> Iterator[tuple[str, dict[str, Any] | None, str]]:  # Any: JSON
    """Place, object and problem of each line that is not blank.

    A byte-order mark, which Windows editors write, is accepted.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        if len(line) > _LONGEST:
            yield place, None, f"has {len(line):,} bytes, the limit is {_LONGEST:,}"
            continue
        try:
            value = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            yield place, None, "is not JSON in UTF-8"
            continue
        if isinstance(value, dict):
            yield place, value, ""
        else:
            yield place, None, "is not a JSON object"
