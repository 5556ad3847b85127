"""The definitions in a source file: qualified name, extent and a digest of the code, without comments and layout.

An extent follows from indentation (Python) or brackets (JavaScript, TypeScript, Go, Rust, Java). No file is compiled:
a file with errors has the definitions that can be recognised.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from keepmum.core.citations import bracketed, indented
from keepmum.core.citations.definition import Definition, Parsed

__all__ = ["SUFFIXES", "Outline", "likeness", "outline"]

SUFFIXES = indented.SUFFIXES | bracketed.LANGUAGES.keys()  # of the files whose definitions are recognised

_DIGEST = 16  # hexadecimal digits
_OPTIONAL_COMMA = re.compile(r",(?=\s*\n\s*[)\]}])")  # formatters add one when they break a list into lines


class Outline:
    """The definitions of one file, in order; several may have the same name, such as overloads."""

    def __init__(self, parsed: Parsed) -> None:
        self._parsed = parsed
        self.definitions: Sequence[Definition] = parsed.definitions
        self._digests: dict[str, str | None] = {}

    def named(self, symbol: str) -> list[str]:
        """The qualified names that `symbol` may stand for: itself, or those that end with it."""
        names = dict.fromkeys(each.symbol for each in self.definitions)
        return [symbol] if symbol in names else [name for name in names if name.endswith(f".{symbol}")]

    def is_field(self, symbol: str) -> bool:
        """Whether this is a value in a class, whose name many classes may have."""
        return "." in symbol and any(each.is_value for each in self.definitions if each.symbol == symbol)

    def around(self, line: int) -> Definition | None:
        """The innermost definition that contains a line, counted from 1."""
        inside = [each for each in self.definitions if each.first <= line <= each.last]
        return min(inside, key=lambda each: each.last - each.first, default=None)

    def line_of(self, symbol: str) -> int | None:
        """The line of the first definition with this qualified name."""
        return next((each.line for each in self.definitions if each.symbol == symbol), None)

    def digest(self, symbol: str) -> str | None:
        """A digest of all definitions with this qualified name; None when there is none."""
        if symbol not in self._digests:
            code = "".join(line for line in self._raw_lines(symbol))
            normal = "".join(code.split()).replace("'", '"')
            self._digests[symbol] = hashlib.sha256(normal.encode("utf-8", "replace")).hexdigest()[:_DIGEST]
            if self.line_of(symbol) is None:
                self._digests[symbol] = None
        return self._digests[symbol]

    def lines(self, symbol: str) -> list[str]:
        """The lines of code of all definitions with this qualified name, without indentation, comments and blanks."""
        lines = (line.strip() for code in self._raw_lines(symbol) for line in code.split("\n"))
        return [line for line in lines if line]

    def _raw_lines(self, symbol: str) -> Iterable[str]:
        for each in self.definitions:
            if each.symbol == symbol:
                yield _OPTIONAL_COMMA.sub("", self._parsed.code(each))


def outline(path: str, text: str) -> Outline | None:
    """The outline of a source file; None for a language that is not known."""
    suffix = path.rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""
    if suffix in indented.SUFFIXES:
        return Outline(indented.parse(text))
    language = bracketed.LANGUAGES.get(suffix)
    return None if language is None else Outline(bracketed.parse(text, language))


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of lines that two definitions have in common, 0 to 1."""
    if not one or not other:
        return 0.0
    common = (Counter(one) & Counter(other)).total()
    return 2 * common / (len(one) + len(other))
