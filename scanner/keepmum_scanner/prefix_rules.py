"""Looks up the rules of `prefix_table` by the first two characters of a key; a row is parsed when first needed."""

from __future__ import annotations

from keepmum_scanner.prefix_table import RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    Rule = tuple[str, int, int, str, str, str]  # prefix, fewest and most characters after it, alphabet, id, checksum

_rules: dict[str, tuple[Rule, ...]] = {}  # by pair, or by a longer prefix that `rules_of` was asked for
_prefixes: dict[str, tuple[str, ...]] = {}


def prefixes_of(pair: str) -> tuple[str, ...]:
    """The prefixes that begin with these two characters, longest first.

    Raises: KeyError when no prefix does.
    """
    if pair not in _prefixes:
        rows = [line.split(" ") for line in RULES[pair].splitlines()]
        _rules[pair] = tuple((row[0], int(row[1]), int(row[2]), row[3], row[4], row[5]) for row in rows)
        _prefixes[pair] = tuple(row[0] for row in rows)
    return _prefixes[pair]


def rules_of(prefix: str) -> tuple[Rule, ...]:
    """The rules that may apply to a key that begins with `prefix`, longest prefix first."""
    if prefix not in _rules:
        prefixes_of(prefix[:2])
        if len(prefix) > 2:
            _rules[prefix] = tuple(rule for rule in _rules[prefix[:2]] if prefix.startswith(rule[0]))
    return _rules[prefix]


def begins_key(text: str, start: int) -> bool:
    """Whether `text` continues with a provider's prefix at `start`."""
    pair = text[start : start + 2]
    return pair in RULES and text.startswith(prefixes_of(pair), start)
