"""The head of a memory file: front matter whose lines are kept, so that a change touches the lines it is about.

A file is `---`, entries, `---` and a body. Everything is kept as it stands: unknown entries, comments, order, line
ends, a byte-order mark. `text_of` gives back what `split` was given, character for character.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from keepmum.core.memory import JsonValue
from keepmum.stores.markdown import plain_yaml
from keepmum.stores.markdown.nodes import NotYaml, Unusual, resolved
from keepmum.stores.markdown.scalars import rendered

__all__ = ["Document", "Entry", "NotOurs", "edited", "made", "nodes_of", "split", "text_of"]

_LONGEST_HEAD = 256 * 1024  # characters; `data` may be 64 KiB and is escaped
_FENCE = re.compile(r"---[ \t]*\r?\n")
_END = re.compile(r"(?m)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")  # `splitlines` knows more kinds of line end than YAML does
# An entry as nearly all are written: its name, and below it lines that are indented or begin an item.
_USUAL = re.compile(r"(?m)^(([A-Za-z_][A-Za-z0-9_-]*):(?: [^\n]*)?\n(?:(?: +[^\s][^\n]*|-[^\n]*)\n)*)")
_NAME = re.compile(r"""(?:"([^"\\]*)"|'([^']*)'|([^\s"'#\[\]{}&*!|>%@`,?:-][^:#]*?))[ \t]*:(?=\s|\Z)""")


class NotOurs(ValueError):
    """The file is no memory; the words say what it lacks."""


class Entry(NamedTuple):
    """The lines of one entry, with their ends; nameless for comments and blank lines."""

    name: str
    raw: str


@dataclass(frozen=True, slots=True)
class Document:
    """A memory file in its parts."""

    opening: str
    entries: tuple[Entry, ...]
    closing: str
    body: str

    @property
    def newline(self) -> str:
        """How lines end here."""
        return "\r\n" if self.opening.endswith("\r\n") else "\n"


def split(text: str) -> Document:
    """The parts of a file.

    Raises: NotOurs when it has no front matter.
    """
    start = 1 if text.startswith("\ufeff") else 0
    fence = _FENCE.match(text, start)
    if fence is None:
        raise NotOurs("has no front matter")
    end = _END.search(text, fence.end())
    if end is None:
        raise NotOurs("has front matter that does not end")
    if end.start() - fence.end() > _LONGEST_HEAD:
        raise NotOurs(f"has front matter of more than {_LONGEST_HEAD:,} characters")
    head = text[fence.end() : end.start()]
    return Document(text[: fence.end()], tuple(_entries(head)), end.group(), text[end.end() :])


def text_of(document: Document) -> str:
    """The file as it is written."""
    return document.opening + "".join(entry.raw for entry in document.entries) + document.closing + document.body


def made(values: Mapping[str, JsonValue], text: str) -> str:
    """A new file with these entries and this body."""
    entries = "".join(rendered(name, value, "\n") for name, value in values.items())
    return f"---\n{entries}---\n\n{text}\n"


def nodes_of(document: Document) -> dict[str, plain_yaml.Node]:
    """The entries by name, read by the few rules that most files keep to, else by PyYAML.

    Raises: NotYaml saying in which line.
    """
    try:
        return _simple(document.entries)
    except Unusual:
        from keepmum.stores.markdown import full_yaml  # costs 20 ms to import, and few files need it

        return full_yaml.parse("".join(entry.raw for entry in document.entries))


def edited(document: Document, changes: Mapping[str, JsonValue], body: str | None = None) -> Document:
    """The document with these entries set (None: taken out), and another body where one is given.

    Raises: NotOurs when the front matter is written in a way that cannot be changed without touching more than that.
    """
    kept = [entry for entry in document.entries if changes.get(entry.name, "") is not None]
    fresh = {name: rendered(name, value, document.newline) for name, value in changes.items() if value is not None}
    entries = [Entry(entry.name, fresh.pop(entry.name, entry.raw)) for entry in kept]
    if entries and not entries[-1].raw.endswith("\n"):
        entries[-1] = Entry(entries[-1].name, entries[-1].raw + document.newline)
    entries += [Entry(name, raw) for name, raw in fresh.items()]
    after = replace(document, entries=tuple(entries), body=document.body if body is None else body)
    _verify(document, after, changes)
    return after


def _verify(before: Document, after: Document, changes: Mapping[str, JsonValue]) -> None:
    """Read the edited head anew: it must say just what it said before, but for the changes."""
    wanted = {name: resolved(node) for name, node in nodes_of(before).items() if name not in changes}
    wanted |= {name: value for name, value in changes.items() if value is not None}
    try:
        found = {name: resolved(node) for name, node in nodes_of(split(text_of(after))).items()}
    except (NotYaml, NotOurs):
        found = {}
    if found != wanted:
        raise NotOurs("has front matter that only a hand can change safely")


def _entries(head: str) -> list[Entry]:
    """The head cut before each line that begins an entry; blank lines and comments between two stand alone."""
    usual = _USUAL.findall(head)
    is_usual = sum(len(raw) for raw, _ in usual) == len(head)
    return [Entry(name, raw) for raw, name in usual] if is_usual else _cut(head)


def _cut(head: str) -> list[Entry]:
    """What `_entries` gives, line by line."""
    pieces: list[tuple[str, list[str]]] = []
    between: list[str] = []  # blank lines and comments, of which only the next line tells whether they lie in a value
    for line in _LINE.findall(head):
        name = _name_of(line)
        if name or not pieces:
            pieces += [*(("", [gap]) for gap in between), (name, [line])]
            between = []
        elif not line.strip() or line.startswith("#"):
            between.append(line)
        else:
            pieces[-1][1].extend((*between, line))
            between = []
    pieces += [("", [gap]) for gap in between]
    return [Entry(name, "".join(lines)) for name, lines in pieces]


def _name_of(line: str) -> str:
    if line[0] in " -#\t\r\n":  # most lines that begin no entry
        return ""
    found = _NAME.match(line)
    return next((group for group in found.groups() if group), "") if found else ""


def _simple(entries: Sequence[Entry]) -> dict[str, plain_yaml.Node]:
    nodes: dict[str, plain_yaml.Node] = {}
    for entry in entries:
        if entry.name:
            if entry.name in nodes:
                raise NotYaml("names an entry twice in its front matter")
            nodes[entry.name] = plain_yaml.parse_entry(entry.raw)
        elif entry.raw.strip() and not entry.raw.startswith("#"):
            raise Unusual
    return nodes
