"""Import JSON lines, which `keepmum export` writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

from keepmum.core.errors import InvalidInput
from keepmum.service.importers.item import ImportItem

__all__ = ["bounded", "objects", "open_lines", "read_lines"]

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
        with open(path, "rb") as file:
            yield from bounded(file)
    except OSError as error:
        raise InvalidInput("file", f"{path}: {error.strerror}") from None


def bounded(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file; of a line that is too long only the start, so that no file fills the memory."""
    while line := file.readline(_LONGEST + 1):
        yield line
        rest = line
        while len(rest) > _LONGEST and not rest.endswith(b"\n"):
            rest = file.readline(_LONGEST + 1)


def objects(lines: Iterable[bytes]) -> Iterator[tuple[str, dict[str, Any] | None, str]]:  # Any: JSON
    """Place, object and problem of each line that is not blank.

    A byte-order mark, which Windows editors write, is accepted.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        if len(line) > _LONGEST:
            yield place, None, f"has more than {_LONGEST:,} bytes"
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
