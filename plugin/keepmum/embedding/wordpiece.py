"""Texts as the numbers of word pieces that BERT models read.

The library for this is `tokenizers`. It brings nine packages and 33 MiB, and 28 ms and 5 MiB more to the start of each
process, for what these lines do; a test holds them against it on every character and on large texts.
Two differences are meant: a text that spells "[SEP]" or another mark of the model's own is read as the words it is, and
what lies past the first thousands of characters is not looked at, since the model reads 256 pieces.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Protocol

from keepmum.embedding.vocabulary import Vocabulary

__all__ = ["Numbers", "WordPiece"]

_UNKNOWN, _FIRST, _LAST = "[UNK]", "[CLS]", "[SEP]"
_INSIDE = "##"  # before a piece that does not begin its word
_LONGEST_WORD = 100  # characters; a longer one is unknown as a whole. Source: the model's tokenizer.json
_LOOKED_AT = 16_384  # characters
# Characters that are words by themselves: the blocks of Chinese characters.
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

_SPACES = frozenset(map(ord, "\t\n\r"))  # the other controls are nothing
_NOTHING = frozenset((0, 0xFFFD))
_INVISIBLE = frozenset(("Cc", "Cf", "Co", "Cs"))  # not "Cn": a later Unicode may know it


class _Cleaned(dict[int, str]):
    """What a character becomes at first, for `str.translate`: itself, a space, a word by itself, or nothing."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if code not in _SPACES and (code in _NOTHING or category in _INVISIBLE):
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
    """What a decomposed character becomes: small, without its accents, and a word by itself if it is punctuation."""

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


class Numbers(Protocol):
    """What gives a piece its number: a `Vocabulary`, or a dict."""

    def get(self, piece: str, /) -> int | None:
        """The number of a piece; None where it has none."""


class WordPiece:
    """A vocabulary, and how texts are spelled in it."""

    def __init__(self, vocabulary: Numbers) -> None:
        """Give a vocabulary with the pieces that every text needs.

        Raises: ValueError when one of them is missing.
        """
        self._vocabulary = vocabulary
        unknown, first, last = (vocabulary.get(piece) for piece in (_UNKNOWN, _FIRST, _LAST))
        if unknown is None or first is None or last is None:
            raise ValueError("not a vocabulary: a piece that every text needs is missing")
        self._unknown, self._first, self._last = [unknown], first, last

    @classmethod
    def read(cls, path: str) -> WordPiece:
        """The vocabulary in a file with a piece a line, whose number is that of its line.

        Raises: OSError, ValueError when it is none.
        """
        with open(path, "rb") as file:
            return cls(Vocabulary(file.read()))

    def spell(self, text: str, most: int) -> list[int]:
        """The numbers of a text's pieces, between those of its first and last mark; at most `most` in all."""
        found = [self._first]
        for word in words(text):
            found += self._pieces(word)
            if len(found) >= most - 1:
                break
        return [*found[: most - 1], self._last]

    def _pieces(self, word: str) -> list[int]:
        """The longest pieces from the left; one unknown for the whole word where they do not cover it."""
        whole = self._vocabulary.get(word)
        if whole is not None:
            return [whole]
        if len(word) > _LONGEST_WORD:
            return self._unknown
        found: list[int] = []
        start, before = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._vocabulary.get(before + word[start:end])
                if number is not None:
                    found.append(number)
                    start, before = end, _INSIDE
                    break
            else:
                return self._unknown
        return found


def words(text: str) -> Iterator[str]:
    """The words and marks of punctuation of a text, small and without accents."""
    clean = text[:_LOOKED_AT].translate(_CLEANED)
    if not clean.isascii():
        clean = unicodedata.normalize("NFD", clean)
    yield from clean.translate(_FOLDED).split()
