"""Import files with instructions for agents: each section of CLAUDE.md, AGENTS.md, GEMINI.md and the like."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator

from keepmum.service.importers.format import Format, Found
from keepmum.service.importers.item import ImportItem, NotKept, build_item
from keepmum.service.importers.markdown_source import read_markdown, sections
from keepmum.service.importers.sniff import Sniff

__all__ = ["FORMAT"]

_AUTHORS = {"claude.md": "claude-code", "claude.local.md": "claude-code", "agents.md": "codex", "gemini.md": "gemini"}
_NAMES = frozenset({*_AUTHORS, "copilot-instructions.md", ".windsurfrules", ".clinerules", "conventions.md"})
_INCLUDE = re.compile(r"^@[^\s@]+$", re.MULTILINE)  # a line that names another file to be read
_OURS = re.compile(r"<!-- keepmum:start.*?keepmum:end -->", re.DOTALL)


def _matches(sniff: Sniff) -> bool:
    return not sniff.is_folder and sniff.name.lower() in _NAMES


def _read(path: str) -> Iterator[Found]:
    name = os.path.basename(path)
    try:
        file = read_markdown(os.path.realpath(path))  # CLAUDE.md is often a link to AGENTS.md
    except ValueError as error:
        yield ImportItem(name, None, str(error))
        return
    author, seen = _AUTHORS.get(name.lower(), "rules"), Counter[str]()
    for section in sections(_OURS.sub("", file.body)):
        includes = len(_INCLUDE.findall(section.text))
        text = _INCLUDE.sub("", section.text).strip()
        if includes:
            yield NotKept("lines that include another file; import that file as well", includes)
        if not text:
            continue
        heading = " / ".join(section.path)
        seen[heading] += 1
        yield build_item(
            f"{name}, line {section.line}", "instructions", f"{os.path.realpath(path)}\0{heading}\0{seen[heading]}",
            text, file.changed_at, title=heading or None, author=author, kind="instruction",
            source=f"{name}{': ' if heading else ''}{heading}"[:200],
        )  # fmt: skip


FORMAT = Format("instructions for agents", _matches, _read)
