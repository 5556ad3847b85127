"""Searches with operators: phrases in quotes, AND, OR, NOT and parentheses. Pure."""

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
    """A condition on texts. `words` are its search terms; empty if it only excludes words."""

    words: str
    _test: _Test

    def matches(self, text: str) -> bool:
        """Whether a text satisfies the condition; words match as prefixes, phrases exactly."""
        return self._test(_spaced(text))


def parse(query: str) -> Expression | None:
    """The condition in a query; None if it has no operators or they are malformed."""
    tokens = [found.group(0) for found in _TOKEN.finditer(query)]
    if not any(token[0] in '"()' or token in {"AND", "OR", "NOT"} for token in tokens):
        return None
    parser = _Parser(tokens)
    try:
        test = parser.disjunction()
    except (IndexError, ValueError, RecursionError):
        return None
    return Expression(" ".join(parser.wanted), test) if parser.at_end else None


class _Parser:
    """A recursive-descent parser: OR binds weakest, then AND, then NOT."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._position = 0
        self._negated = False  # whether the current term is negated
        self.wanted: list[str] = []

    @property
    def at_end(self) -> bool:
        return self._position == len(self._tokens)

    def disjunction(self) -> _Test:
        tests = [self._conjunction()]
        while self._accept("OR"):
            tests.append(self._conjunction())
        return lambda text: any(test(text) for test in tests)

    def _conjunction(self) -> _Test:
        tests = [self._term()]
        while not self.at_end and self._tokens[self._position] not in {"OR", ")"}:
            self._accept("AND")
            tests.append(self._term())
        return lambda text: all(test(text) for test in tests)

    def _term(self) -> _Test:
        if self._accept("NOT"):
            self._negated = not self._negated
            test = self._term()
            self._negated = not self._negated
            return lambda text: not test(text)
        token = self._tokens[self._position]
        self._position += 1
        if token == "(":  # noqa: S105 - a parenthesis
            inner = self.disjunction()
            if not self._accept(")"):
                raise ValueError
            return inner
        words = _spaced(token).strip()
        if not words or token in {"AND", "OR", ")"}:
            raise ValueError
        if not self._negated:
            self.wanted.append(words)
        sought = f" {words} " if token[0] == '"' else f" {words}"
        return lambda text: sought in text

    def _accept(self, token: str) -> bool:
        """Consume `token` if it is next; whether it was."""
        if self.at_end or self._tokens[self._position] != token:
            return False
        self._position += 1
        return True


def _spaced(text: str) -> str:
    """The words of a text in lower case, separated and surrounded by single spaces."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
