"""Import a folder of notes: basic-memory's, Obsidian's, or any Markdown files.

A note becomes a memory with its text as it is. Its links to other notes of the folder are kept as data.
Source: https://github.com/basicmachines-co/basic-memory (src/basic_memory/markdown/), read 2026-11-22.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from keepmum.core.memory import JsonValue, Kind
from keepmum.service.importers.field_values import parse_time
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, NotKept, build_item, stable_id
from keepmum.service.importers.markdown_source import MarkdownFile, files_below, read_markdown
from keepmum.service.importers.sniff import Sniff
from keepmum.stores.markdown.yaml_subset import to_json

__all__ = ["FORMAT"]

_TOOL = "vault"
# `type [[Target]]` at the start of a list item is a relation of that type; other links have none.
_LINK = re.compile(
    r"(?:^[ \t]*[-*][ \t]+(?P<how>[\w-]+|\"[^\"\n]+\")[ \t]+)?!?\[\[(?P<to>[^\]|#\n]+)[^\]\n]*\]\]", re.MULTILINE
)
_CREATED = ("created", "created_at", "date", "date created")
_CHANGED = ("updated", "modified", "updated_at")
_MAPPED = frozenset({"title", "tags", "tag", "importance", "author", *_CREATED, *_CHANGED})
_KINDS: Mapping[str, Kind] = {
    "decision": "decision", "preference": "preference", "task": "task", "project": "project", "snippet": "snippet",
    "workflow": "workflow", "instruction": "instruction", "person": "relationship", "fact": "fact",
}  # fmt: skip
_MOST_LINKS = 100
_ATTACHMENTS = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf", ".canvas", ".base", ".mp3", ".mp4", ".docx")


def _matches(sniff: Sniff) -> bool:
    if not sniff.is_folder:
        return sniff.name.lower().endswith((".md", ".markdown"))
    is_vault = ".obsidian" in sniff.names or ".basic-memory" in sniff.names
    return is_vault or next(files_below(sniff.path, ".md"), None) is not None


def _read(path: str) -> Iterator[Found]:
    if not os.path.isdir(path):
        yield _item(*os.path.split(os.path.realpath(path)), {})
        return
    ids = _ids(path)
    for name in files_below(path, ".md"):
        yield _item(path, name, ids)
    others = sum(1 for _ in files_below(path, *_ATTACHMENTS))
    if others:
        yield NotKept("pictures, documents and canvases", others)


def _ids(path: str) -> dict[str, str]:
    """The id of each note by the names that links have for it: its path, and the last part of that."""
    found: dict[str, str] = {}
    for name in files_below(path, ".md"):
        stem = os.path.splitext(name)[0].replace(os.sep, "/")
        own = _id(path, name)
        found[_folded(stem)] = own
        found.setdefault(_folded(stem.rpartition("/")[2]), own)
    return found


def _id(folder: str, name: str) -> str:
    return stable_id(_TOOL, f"{os.path.realpath(folder)}\0{name}")


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip().casefold())


def _item(folder: str, name: str, ids: Mapping[str, str]) -> ImportItem:
    try:
        file = read_markdown(os.path.join(folder, name))
    except ValueError as error:
        return ImportItem(name, None, str(error))
    if not file.body.strip():
        return ImportItem(name, None, "has no text")
    data = _data(file)
    if related := _related(file.body, ids):
        data["related"] = related
    importance = _share(file.text("importance"))
    return build_item(
        name, _TOOL, f"{os.path.realpath(folder)}\0{name}", file.body,
        _time(file, _CREATED) or file.changed_at, updated=_time(file, _CHANGED) or file.changed_at,
        tags=[
            tag.strip().lstrip("#")
            for listed in (*file.texts("tags"), *file.texts("tag"))
            for tag in listed.split(",")
        ],
        title=file.text("title") or os.path.splitext(os.path.basename(name))[0], author=file.text("author") or None,
        kind=_KINDS.get(file.text("type").lower(), "note"), data=data or None, importance=importance,
        source=f"note {name}"[:500],
        not_kept=["front matter that is not understood: kept in the text"] if file.has_lost_head else (),
    )  # fmt: skip


def _data(file: MarkdownFile) -> dict[str, JsonValue]:
    kept: dict[str, JsonValue] = {name: to_json(node) for name, node in file.head.items() if name not in _MAPPED}
    return {name: value for name, value in kept.items() if value not in (None, "", [], {})}


def _related(text: str, ids: Mapping[str, str]) -> list[dict[str, str]]:
    found: dict[tuple[str, str], None] = {}
    for link in _LINK.finditer(text):
        target = link["to"].strip()
        how = (link["how"] or "links to").strip('"').replace("_", " ")
        found[ids.get(_folded(target)) or target, how] = None
    return [{"to": target, "how": how} for target, how in list(found)[:_MOST_LINKS]]


def _time(file: MarkdownFile, names: tuple[str, ...]) -> int | None:
    return next((found for name in names if (found := parse_time(file.text(name)))), None)


def _share(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


FORMAT = Format("a folder of notes", _matches, _read)
