"""Render providers/*.toml into keepmum_scanner/prefix_table.py, which Python 3.9 reads without a parser.

    python3.11 scanner/render_providers.py

A rule of the TOML files states what a provider's key looks like, where that is written, and its own proof:

    id        "provider.kind", the name that a finding carries
    prefixes  what a key starts with
    tail      fewest characters that follow
    most      most characters that follow; unlimited where it is left out, since keys grow
    alphabet  what the tail is spelled with: a name of keepmum_scanner.prefixes.ALPHABETS
    checksum  how the tail proves itself: a name of keepmum_scanner.checksum.CHECKS
    source    the public page that says so, and `read`, the day it was read
    hits      texts in which the rule is found; {ghp_} stands for itself and {36*w} for 36 random characters, so that
              no key-shaped text lies in the repository; letters: see tests/unit/scanner/test_scanner_rules.py
    misses    texts in which it is not
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import tomllib

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keepmum_scanner")
PROVIDERS = os.path.join(HERE, "providers")
TARGET = os.path.join(HERE, "prefix_table.py")

HEADER = '''"""What the keys of known providers start with; written by scanner/render_providers.py, do not edit."""

# First two characters of a prefix -> lines of "prefix fewest most alphabet rule checksum", longest prefix first. Lines
# and not tuples, since a text meets few of them, and a process that scans one text has to load them all.
# fmt: off
FACTS = {
'''

STARTS = """
# A key begins where a stretch of characters does.
STARTS = (
    r"(?<![A-Za-z0-9])(?:{}"
)
"""
_WIDTH = 110  # characters of an expression on one line


def rules() -> list[dict[str, object]]:
    """Every rule of the TOML files, in the order of file names."""
    found: list[dict[str, object]] = []
    for name in sorted(os.listdir(PROVIDERS)):
        if name.endswith(".toml"):
            with open(os.path.join(PROVIDERS, name), "rb") as source:
                found += tomllib.load(source)["rule"]
    return found


def render() -> str:
    """The Python module that holds the facts of every rule, and the expression for the starts of their prefixes."""
    groups: dict[str, list[str]] = {}
    pairs = [(prefix, rule) for rule in rules() for prefix in rule["prefixes"]]  # type: ignore[attr-defined] # TOML
    for prefix, rule in sorted(pairs, key=lambda pair: (pair[0][:2], -len(pair[0]), pair[0])):
        row = (prefix, rule["tail"], rule.get("most", 0), rule["alphabet"], rule["id"], rule.get("checksum", ""))
        groups.setdefault(prefix[:2], []).append(" ".join(map(str, row)))
    lines = [HEADER]
    for start, rows in groups.items():
        lines += [f'    "{start}": (\n', *(f'        "{row}\\n"\n' for row in rows), "    ),\n"]
    return "".join([*lines, "}\n", STARTS.format(_starts(groups))])


def _starts(groups: Iterable[str]) -> str:
    """An expression for the first two characters of every prefix."""
    seconds: dict[str, str] = {}
    for first, second in map(tuple, groups):
        seconds[first] = seconds.get(first, "") + re.escape(second)
    expression = "|".join(f"{first}[{second}]" for first, second in sorted(seconds.items())) + ")"
    pieces = [expression[start : start + _WIDTH] for start in range(0, len(expression), _WIDTH)]
    return '"\n    r"'.join(pieces)


def main() -> int:
    """Write the table; 0."""
    with open(TARGET, "w", encoding="utf-8") as table:
        table.write(render())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
