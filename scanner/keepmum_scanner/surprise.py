"""Measures how much the spelling of a token differs from readable text.

Shannon entropy counts how varied characters are. This measures how likely each character is after the one before, in
words, identifiers and paths, so a long identifier scores low and a random key high.
"""

from __future__ import annotations

import sys

from keepmum_scanner.surprise_table import FIRST, ROWS, STEPS_PER_BIT, SYMBOLS

_NON_ASCII = len(SYMBOLS)  # the index of a byte beyond ASCII


def _index_table() -> bytes:
    """The index of each byte in SYMBOLS; punctuation has the last one. Computed at every start of a hook."""
    indices = bytearray(bytes([_NON_ASCII - 1]) * 128 + bytes([_NON_ASCII]) * 128)
    for index, letter in enumerate(SYMBOLS.encode()):
        indices[letter] = index
    indices[ord("1") : ord("9") + 1] = bytes([indices[ord("0")]]) * 9
    return bytes(indices)


_INDICES = _index_table()


class _Costs(dict[int, float]):
    """Bits by pair of indices, computed on first use, since a note needs few of three thousand.

    A pair is two bytes read as one number. A pair with a letter beyond ASCII costs as much as in an average word.
    """

    def __missing__(self, pair: int) -> float:
        row, column = pair.to_bytes(2, sys.byteorder)
        if _NON_ASCII in {row, column}:
            return 4.0
        self[pair] = bits = (ord(ROWS[row][column]) - FIRST) / STEPS_PER_BIT
        return bits


_cost = _Costs().__getitem__
_SAMPLE = 48  # characters from each end of a longer token


def surprise(token: str) -> float:
    """Mean bits per character of `token`, given the one before: about 4 for words, 7 and more for keys."""
    sample = token if len(token) <= 2 * _SAMPLE else token[:_SAMPLE] + token[-_SAMPLE:]
    indices = sample.encode("utf-8", "replace").translate(_INDICES)
    size = len(indices)
    if size < 2:
        return 0.0
    # Read as 16-bit numbers, the bytes are every second pair; the other pairs begin at the second byte.
    bits = sum(map(_cost, memoryview(indices[: size - size % 2]).cast("H")))
    if size > 2:
        bits += sum(map(_cost, memoryview(indices[1 : size - (size + 1) % 2]).cast("H")))
    return bits / (size - 1)
