"""Learn how readable text is spelled: writes keepmum_scanner/surprise_table.py.

    python3 scanner/learn_surprise.py [FOLDER]     (default: the standard library of the interpreter that runs this)

The committed table comes from the standard library of CPython 3.12.1 (PSF licence). Only pair costs are kept, no text.
"""

from __future__ import annotations

import math
import os
import re
import sys
import sysconfig
from collections import Counter

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keepmum_scanner", "surprise_table.py")
SKIPPED = {"test", "tests", "site-packages", "idlelib", "lib2to3", "__pycache__", "encodings"}
SYMBOLS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0_"  # 0: any digit, _: anything else
STEPS_PER_BIT = 4  # one character a cost: quarter bits are finer than any decision needs
FIRST = 35  # "#": above the quote, and the backslash is out of reach of a 13-bit cost
DEAREST = 13.0  # bits; a pair never seen costs this at most

HEADER = '''"""Cost of each pair of neighbouring characters; written by scanner/learn_surprise.py, do not edit."""

SYMBOLS = "{symbols}"
STEPS_PER_BIT = {steps}
FIRST = {first}
ROWS = (
'''


def words(folder: str) -> Counter[str]:
    """Every distinct word of the sources under `folder`, with a damped count.

    A word counts with its square root, so that `self` does not drown the rest.
    """
    counts: Counter[str] = Counter()
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted(files):
            if name.endswith(".py"):
                with open(os.path.join(parent, name), encoding="utf-8", errors="replace") as source:
                    counts.update(re.findall(r"[A-Za-z0-9_./-]{3,40}", source.read()))
    return counts


def pair_costs(counts: Counter[str]) -> list[list[float]]:
    """Bits to spell each symbol after each other one, add-one-half smoothed."""
    size = len(SYMBOLS)
    seen = [[0.5] * size for _ in range(size)]
    for word, count in counts.items():
        cells = [_symbol(character) for character in word]
        for left, right in zip(cells, cells[1:]):
            seen[left][right] += math.sqrt(count)
    return [[min(DEAREST, -math.log2(cell / sum(row))) for cell in row] for row in seen]


def _symbol(character: str) -> int:
    if character.isdigit():
        return SYMBOLS.index("0")
    place = SYMBOLS.find(character)
    return place if place >= 0 else SYMBOLS.index("_")


def render(costs: list[list[float]]) -> str:
    """The Python module that holds `costs`, one row a first character."""
    lines = ["".join(chr(FIRST + round(cost * STEPS_PER_BIT)) for cost in row) for row in costs]
    body = "".join(f'    "{line}",\n' for line in lines)
    return HEADER.format(symbols=SYMBOLS, steps=STEPS_PER_BIT, first=FIRST) + body + ")\n"


def main(arguments: list[str]) -> int:
    """Write the table; 0."""
    folder = arguments[0] if arguments else sysconfig.get_path("stdlib")
    with open(TARGET, "w", encoding="utf-8") as table:
        table.write(render(pair_costs(words(folder))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
