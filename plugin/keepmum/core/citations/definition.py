"""The values that the parsers return."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Definition", "Lines", "Parsed"]


class Definition(NamedTuple):
    """One definition; `start` and `end` are offsets in the text, lines count from 1."""

    symbol: str  # qualified by its classes and functions: "Store.get"
    line: int  # of its name
    start: int  # with decorators
    end: int
    first: int  # line of `start`
    last: int  # line of `end`
    is_value: bool = False  # a constant, variable or field


class Parsed(NamedTuple):
    """The definitions of a text, and the text with comments blanked; both with the offsets of the original."""

    definitions: Sequence[Definition]
    uncommented: str
    blanked: str  # also without the content of strings
    unused: re.Pattern[str] | None = None  # lines of `blanked` that are not code, such as docstrings

    def code(self, definition: Definition) -> str:
        """The code of a definition without comments."""
        code = self.uncommented[definition.start : definition.end]
        if self.unused is None:
            return code
        kept, position = [], 0
        for match in self.unused.finditer(self.blanked[definition.start : definition.end]):
            kept.append(code[position : match.start()])
            position = match.end()
        return "".join([*kept, code[position:]])


class Lines:
    """The line number of an offset."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def at(self, offset: int) -> int:
        """The line of an offset, counted from 1."""
        return bisect.bisect_left(self._ends, offset) + 1
