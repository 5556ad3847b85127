"""The table of prefixes finds what a slow scanner finds that tries every rule at every place."""

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
# Longest first, as the more telling one: "sk-ant-…" before "sk-…"; among equals the order of the files.
FACTS = sorted(((prefix, rule) for rule in RULES for prefix in rule["prefixes"]), key=lambda fact: -len(fact[0]))


def slow(text: str) -> list[tuple[str, int, int]]:
    """Rule, start and end of every key in `text`, by trying every fact wherever a stretch of characters begins."""
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
    for prefix, rule in FACTS:
        tail = re.compile(f"{re.escape(prefix)}([{ALPHABETS[rule['alphabet']]}]*)").match(text, start)
        fits = tail and rule["tail"] <= len(tail[1]) <= rule.get("most", len(text))
        if tail and fits and not _is_readable(tail[1], exact=len(tail[1]) == rule["tail"]):
            return (rule["id"], start, tail.end())
    return None


def fast(text: str) -> list[tuple[str, int, int]]:
    return [(rule, start, end) for rule, start, end, _ in find(tokens(text), Context(text))]


def in_crowd(text: str) -> list[tuple[str, int, int, float]]:
    context = Context(text)
    context.bulk_start = 0
    return list(find((), context))


PATTERNS = [pattern for rule in RULES for pattern in (*rule["hits"], *rule["misses"])]


@pytest.mark.parametrize("seed", range(12))
def test_table_agrees_with_every_rule_tried_at_every_place(seed: int) -> None:
    chance = random.Random(seed)
    pieces = [assembled(pattern, chance) for pattern in chance.sample(PATTERNS, 40)]
    text = "".join(piece + chance.choice((" ", "\n", "_", "-", "=", ".", '"', "/", "")) for piece in pieces)
    assert fast(text) == slow(text)


def test_every_hit_is_found_by_both() -> None:
    for rule in RULES:
        for pattern in rule["hits"]:
            text = assembled(pattern, random.Random(pattern))
            assert fast(text) == slow(text) != []


@pytest.mark.parametrize("seed", range(4))
def test_a_text_without_tokens_is_searched_for_the_same_prefixes(seed: int) -> None:
    chance = random.Random(seed)
    for pattern in PATTERNS:
        text = assembled(pattern, chance)
        begun = [place for place in in_crowd(text) if len(text[place[1] : place[2]]) >= 12]
        assert [(rule, start, end) for rule, start, end, _ in begun] == fast(text)


def test_prefixes_behind_an_escaped_break_are_found_without_tokens() -> None:
    text = "\\n" + "gh" + "p_" + "a1B2" * 9
    assert [(rule, start, end) for rule, start, end, _ in in_crowd(text)] == fast(text) != []
