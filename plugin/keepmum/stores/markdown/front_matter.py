"""Front matter whose lines are kept as they are, so that a change touches only the entries that it is about.

A file is `---`, entries, `---` and a body. Unknown entries, comments, order, line ends and a byte-order mark are kept:
`text_of` returns exactly the text that `split` was given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from keepmum.core.memory import JsonValue
from keepmum.stores.markdown.yaml_subset import (
    BeyondSubset,
    InvalidYaml,
    Node,
    parse_entry,
    render_entry,
    to_json,
)

__all__ = ["Document", "Entry", "NotMemoryFile", "edit", "new_text", "nodes_of", "split", "text_of"]

_MAX_LENGTH = 256 * 1024  # characters; `data` may be 64 KiB and is escaped
_FENCE = re.compile(r"---[ \t]*\r?\n")
_END = re.compile(r"(?m)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")  # `splitlines` knows more line ends than YAML does
# Most entries: a name, and below it lines that are indented or begin a list item.
_COMMON_ENTRY = re.compile(r"(?m)^(([A-Za-z_][A-Za-z0-9_-]*):(?: [^\n]*)?\n(?:(?: +[^\s][^\n]*|-[^\n]*)\n)*)")
_NAME = re.compile(r"""(?:"([^"\\]*)"|'([^']*)'|([^\s"'#\[\]{}&*!|>%@`,?:-][^:#]*?))[ \t]*:(?=\s|\Z)""")


class NotMemoryFile(ValueError):
    """The file is not a memory. The message continues a sentence that begins with its path."""


class Entry(NamedTuple):
    """The lines of one entry, with their line ends. Comments and blank lines have no name."""

    name: str
    raw: str


@dataclass(frozen=True, slots=True)
class Document:
    """The parts of a memory file."""

    opening: str
    entries: tuple[Entry, ...]
    closing: str
    body: str

    @property
    def newline(self) -> str:
        """The line end of this file."""
        return "\r\n" if self.opening.endswith("\r\n") else "\n"


def split(text: str) -> Document:
    """The parts of a file.

    Raises: NotMemoryFile when it has no front matter.
    """
    start = 1 if text.startswith("\ufeff") else 0
    fence = _FENCE.match(text, start)
    if fence is None:
        raise NotMemoryFile("has no front matter")
    end = _END.search(text, fence.end())
    if end is None:
        raise NotMemoryFile("has front matter that does not end")
    if end.start() - fence.end() > _MAX_LENGTH:
        raise NotMemoryFile(f"has front matter of more than {_MAX_LENGTH:,} characters")
    head = text[fence.end() : end.start()]
    return Document(text[: fence.end()], tuple(_entries(head)), end.group(), text[end.end() :])


def text_of(document: Document) -> str:
    """The text of the file."""
    return document.opening + "".join(entry.raw for entry in document.entries) + document.closing + document.body


def new_text(values: Mapping[str, JsonValue], body: str) -> str:
    """The text of a new file with these entries and this body."""
    entries = "".join(render_entry(name, value, "\n") for name, value in values.items())
    return f"---\n{entries}---\n\n{body}\n"


def nodes_of(document: Document) -> dict[str, Node]:
    """The entries by name, read by our own parser where it can, otherwise by PyYAML.

    Raises: InvalidYaml with the line.
    """
    try:
        return _parse_entries(document.entries)
    except BeyondSubset:
        from keepmum.stores.markdown import full_yaml  # its import takes 20 ms, and few files need it

        return full_yaml.parse("".join(entry.raw for entry in document.entries))


def edit(document: Document, changes: Mapping[str, JsonValue], body: str | None = None) -> Document:
    """The document with these entries replaced (None: removed), and with another body unless it is None.

    Raises: NotMemoryFile when the change would affect other entries as well.
    """
    kept = [entry for entry in document.entries if changes.get(entry.name, "") is not None]
    new = {name: render_entry(name, value, document.newline) for name, value in changes.items() if value is not None}
    entries = [Entry(entry.name, new.pop(entry.name, entry.raw)) for entry in kept]
    if entries and not entries[-1].raw.endswith("\n"):
        entries[-1] = Entry(entries[-1].name, entries[-1].raw + document.newline)
    entries += [Entry(name, raw) for name, raw in new.items()]
    after = replace(document, entries=tuple(entries), body=document.body if body is None else body)
    _verify(document, after, changes)
    return after


def _verify(before: Document, after: Document, changes: Mapping[str, JsonValue]) -> None:
    """Parse the edited front matter: every entry that is not in `changes` must have kept its value."""
    expected = {name: to_json(node) for name, node in nodes_of(before).items() if name not in changes}
    expected |= {name: value for name, value in changes.items() if value is not None}
    try:
        actual = {name: to_json(node) for name, node in nodes_of(split(text_of(after))).items()}
    except (InvalidYaml, NotMemoryFile):
        actual = {}
    if actual != expected:
        raise NotMemoryFile("has front matter that only a person can change safely")


def _entries(head: str) -> list[Entry]:
    """The front matter cut into entries; blank lines and comments between two are entries without a name."""
    common = _COMMON_ENTRY.findall(head)
    is_complete = sum(len(raw) for raw, _ in common) == len(head)
    return [Entry(name, raw) for raw, name in common] if is_complete else _entries_by_line(head)


def _entries_by_line(head: str) -> list[Entry]:
    """The same as `_entries`, for every input."""
    pieces: list[tuple[str, list[str]]] = []
    gap: list[str] = []  # blank lines and comments: the next line decides whether they are part of a value
    for line in _LINE.findall(head):
        name = _name_of(line)
        if name or not pieces:
            pieces += [*(("", [one]) for one in gap), (name, [line])]
            gap = []
        elif not line.strip() or line.startswith("#"):
            gap.append(line)
        else:
            pieces[-1][1].extend((*gap, line))
            gap = []
    pieces += [("", [one]) for one in gap]
    return [Entry(name, "".join(lines)) for name, lines in pieces]


def _name_of(line: str) -> str:
    if line[0] in " -#\t\r\n":  # most lines that begin no entry
        return ""
    match = _NAME.match(line)
    return next((group for group in match.groups() if group), "") if match else ""


def _parse_entries(entries: Sequence[Entry]) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    for entry in entries:
        if entry.name:
            if entry.name in nodes:
                raise InvalidYaml("names an entry twice in its front matter")
            nodes[entry.name] = parse_entry(entry.raw)
        elif entry.raw.strip() and not entry.raw.startswith("#"):
            raise BeyondSubset
    return nodes
