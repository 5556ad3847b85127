"""Reads Markdown files of other tools: front matter, body, sections, and the time of the last change."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from keepmum.stores.markdown import front_matter
from keepmum.stores.markdown.folder import read_regular
from keepmum.stores.markdown.yaml_subset import Node, to_json

__all__ = ["MarkdownFile", "Section", "files_below", "read_markdown", "sections"]

_LARGEST = 4 << 20  # bytes of a file, of which each section can become a memory
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*$")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")


class MarkdownFile(NamedTuple):
    """The content of a file."""

    head: Mapping[str, Node]
    body: str
    changed_at: int  # milliseconds
    whole: str  # front matter and body
    has_lost_head: bool = False  # the front matter is beyond the YAML that is understood here; it is part of the body

    def text(self, name: str) -> str:
        """A text of the front matter; empty when there is none."""
        value = self.head.get(name)
        return str(value).strip() if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        """The texts of a list in the front matter, or of a text with commas."""
        value = to_json(self.head[name]) if name in self.head else None
        listed = value if isinstance(value, (list, tuple)) else str(value or "").split(",")
        return [str(one).strip() for one in listed if isinstance(one, (str, int, float)) and str(one).strip()]


class Section(NamedTuple):
    """A heading with the text up to the next one of its level or above."""

    line: int
    path: tuple[str, ...]  # of headings, the outermost first; empty for the text above the first one
    text: str


def read_markdown(path: str) -> MarkdownFile:
    """The content of a regular file.

    Raises: ValueError with what is wrong with the file, to follow its name.
    """
    try:
        content, about = read_regular(path, largest=_LARGEST)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise ValueError(error.strerror) from None
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 at byte {error.start}") from None
    changed_at = about.st_mtime_ns // 1_000_000
    try:
        document = front_matter.split(text)
    except ValueError:  # no front matter: everything is text
        return MarkdownFile({}, text, changed_at, text)
    try:
        return MarkdownFile(front_matter.nodes_of(document), document.body, changed_at, text)
    except ValueError:
        return MarkdownFile({}, text, changed_at, text, has_lost_head=True)


def sections(text: str, deepest: int = 2) -> Iterator[Section]:
    """The sections of a text by its headings down to a level; headings in code blocks are text."""
    path: list[tuple[int, str]] = []
    start, lines, fence = 1, list[str](), ""
    for number, line in enumerate(text.splitlines(), start=1):
        marker = _FENCE.match(line)
        if marker and (not fence or marker[1].startswith(fence)):
            fence = "" if fence else marker[1]
        heading = None if fence else _HEADING.match(line)
        if heading is None or len(heading[1]) > deepest:
            lines.append(line)
            continue
        yield Section(start, tuple(name for _, name in path), "\n".join(lines).strip())
        path = [each for each in path if each[0] < len(heading[1])] + [(len(heading[1]), heading[2].strip())]
        start, lines = number, []
    yield Section(start, tuple(name for _, name in path), "\n".join(lines).strip())


def files_below(folder: str, *endings: str) -> Iterator[str]:
    """The paths of the files with these endings below a folder, relative to it and sorted; links are not followed."""
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        for name in sorted(names):
            if name.endswith(endings) and not name.startswith("."):
                yield os.path.relpath(os.path.join(top, name), folder)
