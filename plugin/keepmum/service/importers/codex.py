"""Import Codex's memories: the folder `~/.codex/memories`.

`MEMORY.md` and `memory_summary.md` give a memory for each section, recaps in `rollout_summaries` and skills one each;
`raw_memories.md` is what Codex makes `MEMORY.md` from.
Source: https://github.com/openai/codex (codex-rs/core/templates/memories/consolidation.md), read 2026-11-22.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator

from keepmum.core.memory import Kind
from keepmum.service.importers.field_values import parse_time
from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, NotKept, build_item
from keepmum.service.importers.markdown_source import files_below, read_markdown, sections
from keepmum.service.importers.sniff import Sniff

__all__ = ["FORMAT"]

_AUTHOR = "codex"
_RAW = "raw_memories.md"
_WHOLE: tuple[tuple[str, Kind], ...] = (("rollout_summaries", "note"), ("skills", "workflow"))
_BLOCK = re.compile(r"(?m)^---[ \t]*$\n(?P<head>(?:[^\n]+\n)*?)---[ \t]*$\n(?P<body>.*?)(?=^---[ \t]*$|\Z)", re.DOTALL)
_FOLDER = re.compile(r"\bcwd[=:] ?(?P<folder>/[^\s,);]+)")
_UPDATED = re.compile(r"\bupdated_at[=:] ?(?P<time>[0-9TZ:+.-]{10,35})")
_KEYWORDS = re.compile(r"(?m)^keywords:[ \t]*(?P<words>.+)$")


def _matches(sniff: Sniff) -> bool:
    return bool({"memory_summary.md", _RAW, "rollout_summaries"} & sniff.names)


def _read(path: str) -> Iterator[Found]:
    for name in ("MEMORY.md", "memory_summary.md"):
        if os.path.isfile(os.path.join(path, name)):
            yield from _sections(path, name)
    for folder, kind in _WHOLE:
        below = os.path.join(path, folder)
        for name in files_below(below, ".md") if os.path.isdir(below) else ():
            yield _whole(path, os.path.join(folder, name), kind)
    if os.path.isfile(os.path.join(path, _RAW)):
        yield NotKept(f"files that Codex makes its memories from ({_RAW})", 1)


def _sections(path: str, name: str) -> Iterator[Found]:
    try:
        file = read_markdown(os.path.join(path, name))
    except ValueError as error:
        yield ImportItem(name, None, str(error))
        return
    text = file.whole  # a block of MEMORY.md starts with front matter, so a file has several of them
    blocks = list(_BLOCK.finditer(text))
    parts = (
        [(text.count("\n", 0, block.start()) + 1, _described(block["head"]), block[0]) for block in blocks]
        if blocks
        else [(found.line, " / ".join(found.path), found.text) for found in sections(text)]
    )
    seen: Counter[str] = Counter()
    for line, title, whole in parts:
        body = _BLOCK.match(whole)
        content = body["body"].strip() if body else whole
        if not content:
            continue
        seen[title] += 1
        updated, folder, words = _UPDATED.search(whole), _FOLDER.search(whole), _KEYWORDS.search(whole)
        yield build_item(
            f"{name}, line {line}", _AUTHOR, f"{name}\0{title}\0{seen[title]}",
            content, (parse_time(updated["time"]) if updated else None) or file.changed_at, updated=file.changed_at,
            title=title or None, author=_AUTHOR, tags=words["words"].split(",") if words else (),
            project=folder["folder"] if folder else None, kind="fact", source=f"Codex memory: {name}",
        )  # fmt: skip


def _described(head: str) -> str:
    found = re.search(r"(?m)^description:[ \t]*(.+)$", head)
    return found[1].strip() if found else ""


def _whole(path: str, name: str, kind: Kind) -> ImportItem:
    try:
        file = read_markdown(os.path.join(path, name))
    except ValueError as error:
        return ImportItem(name, None, str(error))
    folder, updated = _FOLDER.search(file.body), _UPDATED.search(file.body)
    return build_item(
        name, _AUTHOR, name, file.body, (parse_time(updated["time"]) if updated else None) or file.changed_at,
        updated=file.changed_at, title=file.text("name") or None, why=file.text("description") or None, author=_AUTHOR,
        project=folder["folder"] if folder else None, kind=kind, source=f"Codex memory: {name}"[:200],
    )  # fmt: skip


FORMAT = Format("Codex's memories", _matches, _read)
