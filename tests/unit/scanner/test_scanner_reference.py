"""The fast search for prefixes finds the same as a slow search that tries every rule at every position."""

import random
import re
import runpy
from pathlib import Path

import pytest

from keepmum_scanner.context import Context
from keepmum_scanner.prefixes import ALPHABETS, _is_readable, find
from keepmum_scanner.tokens import tokens
from unit.scanner.key_patterns import assembled

RULES = runpy.run_path(str(Path(__file__).parents[3] / "scanner" / "render_providers.py"))["rules"]()
# The longest prefix first, as it says more: "sk-ant-…" before "sk-…"; equal lengths in the order of the files.
PREFIXES = sorted(((prefix, rule) for rule in RULES for prefix in rule["prefixes"]), key=lambda pair: -len(pair[0]))


def slow(text: str) -> list[tuple[str, int, int]]:
    """Rule, start and end of every key in `text`, by trying every prefix at every start of an alphanumeric run."""
    found = []
    for token in tokens(text):
        done = token.start
        for start in range(token.start, token.end):
            opens = token.text[start - token.start].isalnum()
            inside = start > token.start and token.text[start - token.start - 1].isalnum()
            if start >= done and opens and not inside:
                match = at(text, start)
                if match:
                    found.append(match)
                    done = match[2]
    return found


def at(text: str, start: int) -> tuple[str, int, int] | None:
    for prefix, rule in PREFIXES:
        tail = re.compile(f"{re.escape(prefix)}([{ALPHABETS[rule['alphabet']]}]*)").match(text, start)
        fits = tail and rule["tail"] <= len(tail[1]) <= rule.get("most", len(text))
        if tail and fits and not _is_readable(tail[1], exact=len(tail[1]) == rule["tail"]):
            return (rule["id"], start, tail.end())
    return None


def fast(text: str) -> list[tuple[str, int, int]]:
    return [(rule, start, end) for rule, start, end, _ in find(tokens(text), Context(text))]


def in_bulk(text: str) -> list[tuple[str, int, int, float]]:
    context = Context(text)
    context.bulk_start = 0
    return list(find((), context))


PATTERNS = [pattern for rule in RULES for pattern in (*rule["hits"], *rule["misses"])]


@pytest.mark.parametrize("seed", range(12))
def test_fast_search_agrees_with_the_slow_one(seed: int) -> None:
    rng = random.Random(seed)
    pieces = [assembled(pattern, rng) for pattern in rng.sample(PATTERNS, 40)]
    text = "".join(piece + rng.choice((" ", "\n", "_", "-", "=", ".", '"', "/", "")) for piece in pieces)
    assert fast(text) == slow(text)


def test_both_searches_find_every_hit() -> None:
    for rule in RULES:
        for pattern in rule["hits"]:
            text = assembled(pattern, random.Random(pattern))
            assert fast(text) == slow(text) != []


@pytest.mark.parametrize("seed", range(4))
def test_search_in_bulk_finds_the_same_prefixes(seed: int) -> None:
    rng = random.Random(seed)
    for pattern in PATTERNS:
        text = assembled(pattern, rng)
        found = [one for one in in_bulk(text) if len(text[one[1] : one[2]]) >= 12]
        assert [(rule, start, end) for rule, start, end, _ in found] == fast(text)


def test_search_in_bulk_finds_a_prefix_after_an_escaped_line_break() -> None:
    text = "\\n" + "gh" + "p_" + "a1B2" * 9
    assert [(rule, start, end) for rule, start, end, _ in in_bulk(text)] == fast(text) != []
