"""Reads a large JSON document in parts: the items of its lists one at a time, never the whole document."""

from __future__ import annotations

import codecs
import itertools
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

from keepmum.core.errors import InvalidInput
from keepmum.service.importers.json_lines import objects, open_lines

__all__ = ["Part", "parts", "records"]

Part = tuple[tuple[str, ...], Any]  # Any: JSON. The names that lead to a value, and the value
_CHUNK = 1 << 16
_LARGEST = 4 << 20  # characters of one item
_DEEPER = frozenset({"result", "results", "data", "points", "memories", "items"})  # objects whose members are parts
_WORDS = 20  # lines
_WHITE = " \t\r\n"
_decode = json.JSONDecoder().raw_decode


def parts(path: str) -> Iterator[Part]:
    """The items of each list at the top of a document, or one step below, and its other values.

    Raises: InvalidInput when the file cannot be opened, is not JSON, or has an item of more than 4 MiB.
    """
    try:
        with open(path, "rb") as file:
            yield from _Reader(file, path).document()
    except OSError as error:
        raise InvalidInput("file", f"{path}: {error.strerror}") from None


def records(path: str) -> Iterator[tuple[str, str, Any]]:  # Any: JSON
    """Place, name and value of what a file holds: each line of JSON lines, or each part of one document.

    The name is that of the list or field that has the value; empty in a list at the top, and for lines.
    A line that is not a JSON object has an `InvalidInput` as its value.

    Raises: InvalidInput as `parts`.
    """
    if _is_lines(path):
        for place, value, problem in objects(open_lines(path)):
            yield place, "", value if value is not None else InvalidInput(place, problem)
        return
    counts: Counter[str] = Counter()
    for names, value in parts(path):
        name = names[-1] if names else ""
        counts[name] += 1
        yield f"{name or 'item'} {counts[name]}", name, value


def _is_lines(path: str) -> bool:
    """Whether the first two lines of a file are JSON objects."""
    return [value is not None for _, value, _ in itertools.islice(objects(open_lines(path)), 2)] == [True, True]


class _Reader:
    """A position in a file; what was read is dropped."""

    def __init__(self, file: BinaryIO, path: str) -> None:
        self._file = file
        self._path = path
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("strict")
        self._text = ""
        self._at = 0
        self._ended = False

    def document(self) -> Iterator[Part]:
        """The parts of each value in the file, of which there is usually one; words above the first are left out."""
        self._skip_words()
        while self._peek():
            yield from self._value((), is_open=True)

    def _skip_words(self) -> None:
        """Skip lines that a tool puts above its JSON, such as the number of memories."""
        self._peek()
        for _ in range(_WORDS):
            end = self._text.find("\n", self._at)
            if self._text[self._at : self._at + 1] in {"{", "["} or end < 0:
                return
            self._at = end + 1
            self._peek()

    def _value(self, names: tuple[str, ...], *, is_open: bool) -> Iterator[Part]:
        first = self._peek()
        if first == "[" and is_open:
            yield from self._list(names)
        elif first == "{" and is_open:
            yield from self._object(names)
        else:
            yield names, self._whole()

    def _list(self, names: tuple[str, ...]) -> Iterator[Part]:
        self._take("[")
        if self._peek() == "]":
            self._take("]")
            return
        while True:
            yield names, self._whole()
            if self._peek() != ",":
                break
            self._take(",")
        self._take("]")

    def _object(self, names: tuple[str, ...]) -> Iterator[Part]:
        self._take("{")
        if self._peek() == "}":
            self._take("}")
            return
        while True:
            name = self._whole()
            if not isinstance(name, str):
                raise self._invalid()
            self._take(":")
            is_list = self._peek() == "["
            yield from self._value((*names, name), is_open=is_list or (name in _DEEPER and len(names) < 2))
            if self._peek() != ",":
                break
            self._take(",")
        self._take("}")

    def _whole(self) -> Any:  # Any: JSON
        """The next value, complete."""
        self._peek()
        size = _CHUNK
        while True:
            try:
                value, end = _decode(self._text, self._at)
            except (ValueError, RecursionError):
                if self._ended or len(self._text) - self._at > _LARGEST:
                    raise self._invalid() from None
            else:
                if end < len(self._text) or self._ended:  # a number could go on
                    self._at = end
                    return value
            size *= 2
            self._read(size)

    def _peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _WHITE:
                self._at += 1
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._read(_CHUNK)

    def _take(self, expected: str) -> None:
        if self._peek() != expected:
            raise self._invalid()
        self._at += 1

    def _read(self, size: int) -> None:
        raw = self._file.read(size)
        self._ended = not raw
        try:
            more = self._decoder.decode(raw, final=self._ended)
        except UnicodeDecodeError:
            raise self._invalid() from None
        self._text = self._text[self._at :] + more
        self._at = 0

    def _invalid(self) -> InvalidInput:
        if len(self._text) - self._at > _LARGEST:
            return InvalidInput("file", f"{self._path} has an item of more than {_LARGEST >> 20} MiB, or is not JSON")
        return InvalidInput("file", f"{self._path} is not JSON in UTF-8, or ends too early")
