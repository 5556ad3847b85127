"""Secrets of every kind are found when another field of the record names them, and honest records are not refused."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from keepmum_scanner import scan
from keepmum_scanner.record_names import may_name
from keepmum_scanner.records import _decode, _Search, find_related
from related_fields import HALVES, VALUES, honest, leaks, strings

ROUNDS = 6
LEAST_FOUND, MOST_REFUSED = 0.98, 0.005


def is_refused(record: dict[str, object]) -> bool:
    return bool(find_related(record)) or any(map(scan, strings(record)))


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("kind", VALUES)
def test_a_named_secret_is_found(kind: str, half: str) -> None:
    cases = list(leaks(HALVES[half], kind, ROUNDS, "named"))
    missed = [(carrier, number) for number, (carrier, record, _) in enumerate(cases) if not is_refused(record)]
    assert len(missed) <= (1 - LEAST_FOUND) * len(cases), missed


@pytest.mark.parametrize("half", HALVES)
def test_an_honest_record_is_not_refused(half: str) -> None:
    cases = [record for _, record in honest(HALVES[half], 8 * ROUNDS, "honest")]
    refused = [record for record in cases if find_related(record)]
    assert len(refused) <= MOST_REFUSED * len(cases), refused


TOPICS = (
    "How login works",
    "Token handling in the API",
    "Password policy",
    "Auth decisions",
    "API keys",
    "Admin password",
)
TAGS = (["auth", "login"], ["token", "api"], ["password"], ["security", "secrets"])


def test_an_ordinary_paragraph_under_a_title_about_logins_is_not_refused(root: Path) -> None:
    rng = random.Random("paragraphs")
    pages = [*root.glob("*.md"), *root.glob("docs/*.md")]
    paragraphs = [
        one for page in sorted(pages) for one in page.read_text(encoding="utf-8").split("\n\n") if one.strip()
    ]
    records: list[dict[str, object]] = [{"title": rng.choice(TOPICS), "text": one} for one in paragraphs]
    records += [{"title": one[:80], "text": one, "tags": rng.choice(TAGS)} for one in paragraphs]
    refused = [record for record in records if find_related(record)]
    assert len(refused) <= MOST_REFUSED * len(records), refused


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("kind", VALUES)
def test_no_record_with_a_finding_is_left_out_before_the_search(kind: str, half: str) -> None:
    records = [record for _, record, _ in leaks(HALVES[half], kind, 2, "shortcut")]
    records += [{"password": {"value": value}} for *_, value in leaks(HALVES[half], kind, 1, "single value")]
    assert [one for one in records if any(_Search(_decode, ()).findings(one)) and not may_name(one)] == []
