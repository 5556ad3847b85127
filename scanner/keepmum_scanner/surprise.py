"""How unlike readable text a token is spelled.

Words, identifiers and paths follow habits of spelling; a key does not. Unlike Shannon entropy, which counts how varied
the characters are, this asks how likely each one is after the one before, so a long identifier stays cheap.
"""

from __future__ import annotations

from keepmum_scanner.surprise_table import FIRST, ROWS, STEPS_PER_BIT, SYMBOLS


class _Costs(dict[tuple[str, str], float]):
    """Bits by pair of symbols; a pair with a letter beyond ASCII has no row and costs what an average word does."""

    def __missing__(self, pair: tuple[str, str]) -> float:
        return 4.0


_BITS = _Costs(
    ((left, right), (ord(cell) - FIRST) / STEPS_PER_BIT)
    for left, row in zip(SYMBOLS, ROWS)
    for right, cell in zip(SYMBOLS, row)
)
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
