"""BERT's WordPiece tokenizer: text to token ids.

The package `tokenizers` does the same, but installs nine packages (33 MiB) and adds 28 ms and 5 MiB to each process.
A test compares the results on every character and on large texts. Two differences are intended: "[SEP]" and other
special tokens in a text are tokenised as plain words, and only the first 16,384 characters are read, since the model
takes 256 pieces.
"""

from __future__ import annotations

import unicodedata
import zlib
from array import array
from collections.abc import Iterator
from typing import Protocol

__all__ = ["Ids", "Vocabulary", "WordPiece"]

_UNKNOWN, _FIRST, _LAST = "[UNK]", "[CLS]", "[SEP]"
_CONTINUATION = "##"  # the prefix of a piece that does not start a word
_MAX_WORD = 100  # characters; a longer word is unknown as a whole. Source: the model's tokenizer.json
_MAX_TEXT = 16_384  # characters
# Chinese characters, each of which is a word.
# Source: https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/normalizers/bert.rs, read 2026-11-21
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_SPACES = frozenset(map(ord, "\t\n\r"))  # the other control characters are removed
_REMOVED = frozenset((0, 0xFFFD))
_INVISIBLE = frozenset(("Cc", "Cf", "Co", "Cs"))  # not "Cn": a later Unicode version may assign it
_NEWLINE = b"\n"
_EMPTY = 0  # an unused slot of the hash table; the slot of piece `n` holds `n + 1`
_SLOTS_PER_PIECE = 2  # at least; most lookups need one comparison


class _Cleaned(dict[int, str]):
    """First pass of `str.translate`, filled on demand: keep, drop, turn into a space, or isolate a character."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if code not in _SPACES and (code in _REMOVED or category in _INVISIBLE):
            cleaned = ""
        elif character.isspace():
            cleaned = " "
        elif any(first <= code <= last for first, last in _IDEOGRAPHS):
            cleaned = f" {character} "
        else:
            cleaned = character
        self[code] = cleaned
        return cleaned


class _Folded(dict[int, str]):
    """Second pass, on decomposed text: lower case, without accents, punctuation isolated."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category == "Mn":
            folded = ""
        elif category[0] == "P" or (code < 0x80 and category[0] == "S"):
            folded = f" {character} "
        else:
            folded = character.lower()
        self[code] = folded
        return folded


_CLEANED = _Cleaned()
_FOLDED = _Folded()


class Ids(Protocol):
    """Maps pieces to ids: a `Vocabulary` or a dict."""

    def get(self, piece: str, /) -> int | None:
        """The id of a piece; None when the piece is unknown."""


class Vocabulary:
    """The ids of some 30,000 pieces as a hash table in arrays: 0.5 MB, where a dict takes 4 MB; a lookup takes 1 µs."""

    def __init__(self, content: bytes) -> None:
        """`content` has one piece per line; a piece's id is the number of its line."""
        self._content = content if content.endswith(_NEWLINE) or not content else content + _NEWLINE
        count = self._content.count(_NEWLINE)
        self._starts = array("I", [0])  # of the lines, and the end of the last one
        self._mask = (1 << (count * _SLOTS_PER_PIECE).bit_length()) - 1
        self._table = array("I", bytes(4 * (self._mask + 1)))
        for number in range(count):
            start = self._starts[number]
            end = self._content.index(_NEWLINE, start)
            self._starts.append(end + 1)
            self._table[self._slot(self._content[start:end])] = number + 1

    def get(self, piece: str, /) -> int | None:
        """The id of a piece, or None; the last of equal lines counts."""
        entry = self._table[self._slot(piece.encode("utf-8", "replace"))]
        return None if entry == _EMPTY else entry - 1

    def _slot(self, piece: bytes) -> int:
        """The slot that holds the piece, or the empty one where it would be inserted."""
        slot = zlib.crc32(piece) & self._mask
        while (entry := self._table[slot]) != _EMPTY:
            if self._content[self._starts[entry - 1] : self._starts[entry] - 1] == piece:
                break
            slot = (slot + 1) & self._mask
        return slot


class WordPiece:
    """A tokenizer with its vocabulary."""

    def __init__(self, vocabulary: Ids) -> None:
        """Use a vocabulary that has the special tokens.

        Raises: ValueError when one of them is missing.
        """
        self._vocabulary = vocabulary
        unknown, first, last = (vocabulary.get(piece) for piece in (_UNKNOWN, _FIRST, _LAST))
        if unknown is None or first is None or last is None:
            raise ValueError("not a vocabulary: a special token is missing")
        self._unknown, self._first, self._last = [unknown], first, last

    @classmethod
    def read(cls, path: str) -> WordPiece:
        """The tokenizer for a vocabulary file with one piece per line.

        Raises: OSError; ValueError when a special token is missing.
        """
        with open(path, "rb") as file:
            return cls(Vocabulary(file.read()))

    def encode(self, text: str, limit: int) -> list[int]:
        """The ids of the pieces between [CLS] and [SEP], at most `limit` in total."""
        ids = [self._first]
        for word in _words(text):
            ids += self._pieces(word)
            if len(ids) >= limit - 1:
                break
        return [*ids[: limit - 1], self._last]

    def _pieces(self, word: str) -> list[int]:
        """The longest matching pieces from the left; [UNK] for the whole word when they do not cover it."""
        whole = self._vocabulary.get(word)
        if whole is not None:
            return [whole]
        if len(word) > _MAX_WORD:
            return self._unknown
        ids: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._vocabulary.get(prefix + word[start:end])
                if number is not None:
                    ids.append(number)
                    start, prefix = end, _CONTINUATION
                    break
            else:
                return self._unknown
        return ids


def _words(text: str) -> Iterator[str]:
    """The words and punctuation marks of a text, in lower case and without accents."""
    clean = text[:_MAX_TEXT].translate(_CLEANED)
    if not clean.isascii():
        clean = unicodedata.normalize("NFD", clean)
    yield from clean.translate(_FOLDED).split()
