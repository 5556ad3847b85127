"""How unlike readable text a token is spelled.

Words, identifiers and paths follow habits of spelling; a key does not. Unlike Shannon entropy, which counts how varied
the characters are, this asks how likely each one is after the one before, so a long identifier stays cheap.
"""

from __future__ import annotations

from keepmum_scanner.surprise_table import FIRST, ROWS, STEPS_PER_BIT, SYMBOLS

_PLACES = {symbol: place for place, symbol in enumerate(SYMBOLS)}


class _Costs(dict[tuple[str, str], float]):
    """Bits by pair of symbols, each worked out when it is first asked for: a note needs few of three thousand.

    A pair with a letter beyond ASCII has no row and costs what an average word does.
    """

    def __missing__(self, pair: tuple[str, str]) -> float:
        row, column = map(_PLACES.get, pair)
        if row is None or column is None:
            return 4.0
        self[pair] = bits = (ord(ROWS[row][column]) - FIRST) / STEPS_PER_BIT
        return bits


_BITS = _Costs()
_SAMPLE = 48  # characters; of a longer token both ends are looked at
_SYMBOL_OF = {code: chr(code) if chr(code) in SYMBOLS else "_" for code in range(128)}
_SYMBOL_OF.update(dict.fromkeys(range(ord("0"), ord("9") + 1), "0"))


def surprise(token: str) -> float:
    """Mean bits a character of `token` costs after its neighbour: about 4 for words, 7 and more for keys."""
    sample = token if len(token) <= 2 * _SAMPLE else token[:_SAMPLE] + token[-_SAMPLE:]
    if len(sample) < 2:
        return 0.0
    symbols = sample.translate(_SYMBOL_OF)
    return sum(map(_BITS.__getitem__, zip(symbols, symbols[1:]))) / (len(symbols) - 1)
