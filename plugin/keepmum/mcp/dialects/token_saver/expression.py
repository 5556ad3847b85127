"""A search with operators as a condition on texts: phrases in quotes, AND, OR, NOT, brackets. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Expression", "parse"]

_TOKEN = re.compile(r'"([^"]*)"|([()])|([^\s()"]+)')
_WORD = re.compile(r"[^\W_]+")
_Test = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Expression:
    """What a text must say. `words` are those it may be looked up by; none where it only says what must be absent."""

    words: str
    _test: _Test

    def fits(self, text: str) -> bool:
        """Whether a text says it; a word also stands for longer ones that begin with it, a phrase for itself."""
        return self._test(_spaced(text))


def parse(query: str) -> Expression | None:
    """The condition that a query states; None for a plain question, and for one whose operators make no sense."""
    tokens = [found.group(0) for found in _TOKEN.finditer(query)]
    if not any(token[0] in '"()' or token in {"AND", "OR", "NOT"} for token in tokens):
        return None
    reader = _Reader(tokens)
    try:
        test = reader.either()
    except (IndexError, ValueError, RecursionError):
        return None
    return Expression(" ".join(reader.wanted), test) if reader.at_end else None


class _Reader:
    """Reads tokens from left to right, one method for each level: OR binds least, then AND, then NOT."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._place = 0
        self._denied = False  # whether what is read now must be absent
        self.wanted: list[str] = []

    @property
    def at_end(self) -> bool:
        return self._place == len(self._tokens)

    def either(self) -> _Test:
        tests = [self._both()]
        while self._next("OR"):
            tests.append(self._both())
        return lambda text: any(test(text) for test in tests)

    def _both(self) -> _Test:
        tests = [self._one()]
        while not self.at_end and self._tokens[self._place] not in {"OR", ")"}:
            self._next("AND")
            tests.append(self._one())
        return lambda text: all(test(text) for test in tests)

    def _one(self) -> _Test:
        if self._next("NOT"):
            self._denied = not self._denied
            test = self._one()
            self._denied = not self._denied
            return lambda text: not test(text)
        token = self._tokens[self._place]
        self._place += 1
        if token == "(":  # noqa: S105 - a bracket
            inner = self.either()
            if not self._next(")"):
                raise ValueError
            return inner
        words = _spaced(token).strip()
        if not words or token in {"AND", "OR", ")"}:
            raise ValueError
        if not self._denied:
            self.wanted.append(words)
        sought = f" {words} " if token[0] == '"' else f" {words}"
        return lambda text: sought in text

    def _next(self, token: str) -> bool:
        """Whether `token` comes next; it is then read."""
        if self.at_end or self._tokens[self._place] != token:
            return False
        self._place += 1
        return True


def _spaced(text: str) -> str:
    """The words of a text in lower case, with one blank around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
