"""How unlike readable text a token is spelled.

Words, identifiers and paths follow habits of spelling; a key does not. Unlike Shannon entropy, which counts how varied
the characters are, this asks how likely each one is after the one before, so a long identifier stays cheap.
"""

from __future__ import annotations

import sys

from keepmum_scanner.surprise_table import FIRST, ROWS, STEPS_PER_BIT, SYMBOLS

_FOREIGN = len(SYMBOLS)  # the place of a byte beyond ASCII


def _places() -> bytes:
    """The place of each byte in the table: a sign is in the last one. Every run of a hook makes it anew."""
    places = bytearray(bytes([_FOREIGN - 1]) * 128 + bytes([_FOREIGN]) * 128)
    for place, letter in enumerate(SYMBOLS.encode()):
        places[letter] = place
    places[ord("1") : ord("9") + 1] = bytes([places[ord("0")]]) * 9
    return bytes(places)


_PLACES = _places()


class _Costs(dict[int, float]):
    """Bits by pair of places, each worked out when it is first asked for: a note needs few of three thousand.

    A pair is two bytes read as one number. One with a letter beyond ASCII costs what an average word does.
    """

    def __missing__(self, pair: int) -> float:
        row, column = pair.to_bytes(2, sys.byteorder)
        if _FOREIGN in {row, column}:
            return 4.0
        self[pair] = bits = (ord(ROWS[row][column]) - FIRST) / STEPS_PER_BIT
        return bits


_cost = _Costs().__getitem__
_SAMPLE = 48  # characters; of a longer token both ends are looked at


def surprise(token: str) -> float:
    """Mean bits a character of `token` costs after its neighbour: about 4 for words, 7 and more for keys."""
    sample = token if len(token) <= 2 * _SAMPLE else token[:_SAMPLE] + token[-_SAMPLE:]
    places = sample.encode("utf-8", "replace").translate(_PLACES)
    size = len(places)
    if size < 2:
        return 0.0
    # Every second pair from the first character on, and from the second: numbers that memory holds already.
    bits = sum(map(_cost, memoryview(places[: size - size % 2]).cast("H")))
    if size > 2:
        bits += sum(map(_cost, memoryview(places[1 : size - (size + 1) % 2]).cast("H")))
    return bits / (size - 1)
