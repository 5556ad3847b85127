"""Definitions in Python files: functions, classes, and names that a module or class assigns."""

from __future__ import annotations

import re
from typing import NamedTuple

from keepmum.core.citations.definition import Definition, Lines, Parsed

__all__ = ["SUFFIXES", "parse"]

SUFFIXES = frozenset({"py", "pyi"})
_TOKEN = re.compile(
    r'''(?P<string>"""(?:[^"\\]|\\.|"(?!""))*+"""|\'\'\'(?:[^'\\]|\\.|'(?!\'\'))*+\'\'\''''
    r"""|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+')"""
    r"""|(?P<comment>\#[^\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<newline>\\?\n)""",
    re.DOTALL,
)
_LINE = re.compile(r"^([ \t]*)(\S[^\n]*)", re.MULTILINE)
_HEAD = re.compile(r"(?:async\s+)?(def|class)\s+(\w+)")
_ASSIGNED = re.compile(r"([^\W\d]\w*)\s*(?::[^=]*)?=(?!=)|type\s+(\w+)\s*(?:\[[^=]*)?=")
_STATEMENT = re.compile(r"(?:@|async\s+def\s|def\s|class\s)")
_DOCSTRING = re.compile(r'^[ \t]*[rRuUbB]?"+[ \t]*$', re.MULTILINE)


class _Open(NamedTuple):
    symbol: str
    indent: int
    is_class: bool
    line: int
    start: int


def parse(text: str) -> Parsed:
    """The definitions of a Python file."""
    blanked, uncommented = _blank(text)
    lines = Lines(text)
    done: list[Definition] = []
    stack: list[_Open] = []
    end, decorated = 0, -1

    def close(indent: int) -> None:
        while stack and indent <= stack[-1].indent:
            each = stack.pop()
            done.append(
                Definition(each.symbol, each.line, each.start, end, lines.at(each.start), lines.at(max(end - 1, 0)))
            )

    for match in _LINE.finditer(blanked):
        indent, statement = match.end(1) - match.start(1), match[2]
        close(indent)
        head = _HEAD.match(statement)
        start = decorated if decorated >= 0 else match.start()
        prefix = f"{stack[-1].symbol}." if stack else ""
        if head is not None:
            line = lines.at(match.start(2) + head.start(2))
            stack.append(_Open(prefix + head[2], indent, head[1] == "class", line, start))
        elif not stack or stack[-1].is_class:
            assigned = _ASSIGNED.match(statement)
            if assigned is not None:
                name, number = assigned[1] or assigned[2], lines.at(match.start(2))
                last = lines.at(match.end())
                done.append(Definition(prefix + name, number, match.start(), match.end(), number, last, is_value=True))
        decorated = start if statement.startswith("@") else -1
        end = match.end()
    close(-1)
    done.sort(key=lambda each: each.start)
    return Parsed(done, uncommented, blanked, _DOCSTRING)


def _blank(text: str) -> tuple[str, str]:
    """The text with comments and strings blanked and one line for each statement, and with comments blanked only."""
    blanked: list[str] = []
    uncommented: list[str] = []
    position = depth = 0
    for token in _TOKEN.finditer(text):
        kind, start, end = token.lastgroup, token.start(), token.end()
        if kind == "newline":
            # An unbalanced bracket must not hide the rest of the file.
            if depth and _STATEMENT.match(text, end):
                depth = 0
            if not depth and end - start == 1:
                continue
            plain = shown = " " * (end - start)
            shown = " " * (end - start - 1) + "\n"
        elif kind == "string":
            plain, shown = '"' * (end - start), token[0]
        elif kind == "comment":
            plain = shown = " " * (end - start)
        else:
            depth = depth + 1 if kind == "open" else max(0, depth - 1)
            continue
        between = text[position:start]
        blanked += (between, plain)
        uncommented += (between, shown)
        position = end
    rest = text[position:]
    return "".join([*blanked, rest]), "".join([*uncommented, rest])
