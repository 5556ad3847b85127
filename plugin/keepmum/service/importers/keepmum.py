"""Import what `keepmum export` writes: JSON lines with every field of a memory."""

from __future__ import annotations

from collections.abc import Iterator

from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.json_lines import open_lines, read_lines
from keepmum.service.importers.sniff import Sniff

__all__ = ["FORMAT"]


def _matches(sniff: Sniff) -> bool:
    return {"id", "text", "created_at"} <= sniff.line.keys()


def _read(path: str) -> Iterator[Found]:
    yield from read_lines(open_lines(path))


FORMAT = Format("an export of Keepmum", _matches, _read)
