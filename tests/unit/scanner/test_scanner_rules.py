"""Every provider rule matches its own examples, and the committed table is rendered from the rules."""

import datetime as dt
import random
import runpy
from pathlib import Path

import pytest

from keepmum_scanner import scan
from keepmum_scanner.prefixes import ALPHABETS
from unit.scanner.key_patterns import assembled

SCANNER = Path(__file__).parents[3] / "scanner"
RENDERER = runpy.run_path(str(SCANNER / "render_providers.py"))
RULES = RENDERER["rules"]()


def found(text: str) -> set[str]:
    return {finding.rule for finding in scan(text)}


@pytest.mark.parametrize(("rule", "pattern"), [(rule["id"], hit) for rule in RULES for hit in rule["hits"]])
def test_rule_finds_its_hits(rule: str, pattern: str) -> None:
    rng = random.Random(pattern)
    for _ in range(5):
        assert rule in found(assembled(pattern, rng))


@pytest.mark.parametrize(("rule", "pattern"), [(rule["id"], miss) for rule in RULES for miss in rule["misses"]])
def test_rule_does_not_match_its_misses(rule: str, pattern: str) -> None:
    assert rule not in found(assembled(pattern, random.Random(pattern)))


@pytest.mark.parametrize("rule", RULES, ids=[rule["id"] for rule in RULES])
def test_rule_has_a_source_and_examples(rule: dict[str, object]) -> None:
    assert str(rule["source"]).startswith("https://")
    assert isinstance(rule["read"], dt.date)
    assert rule["hits"]
    assert rule["misses"]
    assert rule["alphabet"] in ALPHABETS
    assert rule.get("checksum", "crc32") == "crc32"


def test_rule_names_are_unique() -> None:
    names = [rule["id"] for rule in RULES]
    assert len(names) == len(set(names))


def test_committed_table_is_up_to_date() -> None:
    assert (SCANNER / "keepmum_scanner" / "prefix_table.py").read_text(encoding="utf-8") == RENDERER["render"]()
