"""Import Claude Code's memory: a folder with `MEMORY.md` and the Markdown files that it links to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from keepmum.core import validation
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import LIMITS, Kind, default_tier
from keepmum.service.importers.item import ImportItem, stable_id
from keepmum.stores.markdown import front_matter
from keepmum.stores.markdown.folder import read_regular
from keepmum.stores.markdown.yaml_subset import Node

__all__ = ["read"]

_INDEX = "MEMORY.md"
_POINTER = re.compile(r"^\s*[-*]\s*\[[^\]]*\]\(([^)\s]+\.md)\)")
_KINDS: Mapping[str, Kind] = {
    "user": "preference", "feedback": "instruction", "project": "project", "reference": "fact",
}  # fmt: skip


def read(path: str) -> Iterator[ImportItem]:
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


def _read_file(folder: str, name: str, names: list[str]) -> ImportItem | None:
    try:
        text, changed_at = _content(os.path.join(folder, name))
    except (OSError, ValueError) as error:
        return ImportItem(name, None, str(error.strerror if isinstance(error, OSError) else error))
    head: Mapping[str, Node] = {}
    try:
        document = front_matter.split(text)
        head, text = front_matter.nodes_of(document), document.body
    except ValueError:  # no front matter, or other text between two lines of hyphens: everything is text
        head = {}
    if name == _INDEX:
        text = _without_pointers(text, names)
    if not text.strip():
        return None
    kind = _KINDS.get(str(head.get("type", "")), "note")
    title = str(head.get("name") or "").strip()
    values: dict[str, Any] = {
        "id": stable_id(0, os.path.realpath(folder), name), "text": text.strip(),
        "title": (title or validation.title_of(text))[: LIMITS.title], "kind": kind, "tier": default_tier(kind),
        "created_at": changed_at, "updated_at": changed_at, "agent": "claude-code", "created_by": "claude-code",
        "updated_by": "claude-code", "origin": "import", "source": f"Claude Code memory: {name}",
    }  # fmt: skip
    if about := str(head.get("description") or "").strip():
        values["why"] = about
    return ImportItem(name, values)


def _content(path: str) -> tuple[str, int]:
    """The text of a file, and the time of its last change in milliseconds.

    Raises: OSError; ValueError when it is not UTF-8.
    """
    content, about = read_regular(path)
    try:
        return content.decode("utf-8-sig"), about.st_mtime_ns // 1_000_000
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 at byte {error.start}") from None


def _without_pointers(text: str, names: list[str]) -> str:
    """The index without the lines that only link to a file of the folder; empty when only headings are left."""
    lines = text.splitlines()
    kept = [line for line in lines if not ((found := _POINTER.match(line)) and found[1] in names)]
    has_text = any(line.strip() and not line.lstrip().startswith("#") for line in kept)
    return "\n".join(kept) if has_text else ""
