"""Import Claude Code's memory: a folder with `MEMORY.md` and the Markdown files that it links to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Kind
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, build_item
from keepmum.service.importers.markdown_source import read_markdown
from keepmum.service.importers.sniff import Sniff

__all__ = ["FORMAT"]

_INDEX = "MEMORY.md"
_POINTER = re.compile(r"^\s*[-*]\s*\[[^\]]*\]\(([^)\s]+\.md)\)")
_KINDS: Mapping[str, Kind] = {
    "user": "preference", "feedback": "instruction", "project": "project", "reference": "fact",
}  # fmt: skip


def _matches(sniff: Sniff) -> bool:
    return _INDEX in sniff.names or (not sniff.is_folder and sniff.name == _INDEX)


def _read(path: str) -> Iterator[Found]:
    """The memories in a folder, or in the folder of a `MEMORY.md`; links to files in it are not read twice.

    Raises: InvalidInput when the folder cannot be read.
    """
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".md") and not name.startswith("."))
    except OSError as error:
        raise InvalidInput("file", f"{folder}: {error.strerror}") from None
    for name in names:
        found = _read_file(folder, name, names)
        if found is not None:
            yield found


def _read_file(folder: str, name: str, names: Sequence[str]) -> ImportItem | None:
    try:
        file = read_markdown(os.path.join(folder, name))
    except ValueError as error:
        return ImportItem(name, None, str(error))
    text = _without_pointers(file.body, names) if name == _INDEX else file.body
    if not text.strip():
        return None
    return build_item(
        name, "claude-code", f"{os.path.realpath(folder)}\0{name}", text, file.changed_at, title=file.text("name"),
        author="claude-code", kind=_KINDS.get(file.text("type"), "note"), why=file.text("description") or None,
        source=f"Claude Code memory: {name}"[:500],
    )  # fmt: skip


def _without_pointers(text: str, names: Sequence[str]) -> str:
    """The index without the lines that only link to a file of the folder; empty when only headings are left."""
    lines = text.splitlines()
    kept = [line for line in lines if not ((found := _POINTER.match(line)) and found[1] in names)]
    has_text = any(line.strip() and not line.lstrip().startswith("#") for line in kept)
    return "\n".join(kept) if has_text else ""


FORMAT = Format("Claude Code's memory", _matches, _read)
