"""Bands: whether the memories that a search found answer its query."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from contract.stores import a_memory, wanted
from keepmum.core.memory import Candidate, Legs
from keepmum.core.ranking import rank, terms
from keepmum.core.relevance import Judged, answering, explanation, judge

FEW = 50  # memories


def judged(
    query: str, *found: tuple[str | None, float | None], searched: int = FEW, lexical: float = 1.0
) -> list[Judged]:
    """The judgement of memories with these texts and cosines."""
    facts = Candidate._fields[:-2]
    memories = [a_memory(text or f"unknown {number}", tier="long") for number, (text, _) in enumerate(found)]
    candidates = [
        Candidate._make([*(getattr(memory, name) for name in facts), lexical, cosine])
        for memory, (_, cosine) in zip(memories, found, strict=True)
    ]
    texts = {memory.id: text for memory, (text, _) in zip(memories, found, strict=True)}
    ranked = rank(candidates, wanted())
    return judge(ranked, [texts[each.candidate.id] for each in ranked], terms(query), searched)


def bands(found: Sequence[Judged]) -> list[str]:
    return [each.band for each in found]


@pytest.mark.parametrize(
    ("query", "text", "cosine"),
    [
        pytest.param("which pool gets a deploy first", "Deploys go through the blue pool first", 0.6, id="both agree"),
        pytest.param("how are customers billed", "Invoices are sent monthly", 0.45, id="a near vector alone"),
        pytest.param("ERR_POOL_4091 while shipping to Mars today", "ERR_POOL_4091: no worker", 0.0, id="an error code"),
        pytest.param("what is wrong in retry_policy.toml these days", "see retry_policy.toml", 0.0, id="a file"),
        pytest.param("job 8839201 of the last night shift", "8839201 failed", 0.0, id="a long number"),
        pytest.param("zebra", "the zebra crossing", 0.0, id="every word"),
        pytest.param("user", "call getUserName first", 0.0, id="a part of a camelCase name"),
        pytest.param("数据库", "选择数据库", 0.0, id="a script without spaces"),
        pytest.param("queries", "one query per page", 0.0, id="another form of the word"),
        pytest.param("exponental", "with exponential backoff", 0.0, id="one typo"),
    ],
)
def test_a_match(query: str, text: str, cosine: float) -> None:
    others = [(f"something else, number {number}", 0.0) for number in range(5)]
    best = next(each for each in judged(query, (text, cosine), *others) if each.band == "match")
    assert best.fit >= 0.5


@pytest.mark.parametrize(
    ("query", "text", "cosine"),
    [
        pytest.param("who repairs the violin of the neighbour", "Deploys go through the blue pool", 0.1, id="far away"),
        pytest.param("who repairs the violin of the pool", "Deploys go through the blue pool", 0.15, id="one of many"),
        pytest.param("what did we decide in 2024 about rent", "Since 2024 the blue pool is first", 0.1, id="a year"),
        pytest.param("the art of war", "start the warm pool", 0.1, id="parts of other words"),
    ],
)
def test_a_weak_match(query: str, text: str, cosine: float) -> None:
    assert bands(judged(query, (text, cosine), ("another thing", 0.1))) == ["weak", "weak"]


def test_a_word_that_few_memories_hold_counts_more() -> None:
    query = "why does the parser of the importer drop quotes"
    common = [(f"the parser reads page {number}", 0.2) for number in range(8)]
    found = judged(query, ("the importer has a bug", 0.2), *common)
    assert max(found, key=lambda each: each.evidence).terms == ("importer",)


def test_an_answer_among_many_memories_needs_more_evidence() -> None:
    query, text = "how are customers of the shop billed", ("Invoices are sent monthly", 0.43)
    assert bands(judged(query, text)) == ["match"]
    assert bands(judged(query, text, searched=10_000)) == ["weak"]


def test_without_vectors_the_words_decide() -> None:
    query = "which pool gets a deploy first"
    texts = ("Deploys go through the blue pool first", "Lunch is at noon, always, the first of all")
    assert bands(judged(query, *((text, None) for text in texts))) == ["match", "weak"]


def test_a_text_that_is_not_known_here_is_a_match() -> None:
    assert bands(judged("anything", (None, 0.0))) == ["match"]


def test_the_words_of_a_memory_raise_its_rank() -> None:
    query = "backup of the ledger database"
    found = judged(query, ("restores take an hour", 0.50), ("the ledger database has a backup", 0.49))
    assert found[0].terms == ("backup", "ledger", "database")


def test_of_weak_matches_two_are_returned_at_most() -> None:
    weak = [(f"something else, number {number}", 0.3) for number in range(9)]
    assert len(answering(judged("who repairs the violin", *weak))) == 2


def test_nothing_is_returned_when_nothing_is_near() -> None:
    assert answering(judged("who repairs the violin", ("lunch", 0.02), ("noon", 0.01), lexical=0.0)) == []


def test_what_is_much_weaker_than_a_match_is_left_out() -> None:
    far = [(f"something else, number {number}", 0.05) for number in range(9)]
    found = answering(judged("how are customers billed", ("Invoices are sent monthly", 0.5), *far))
    assert [each.band for each in found] == ["match"]


def test_no_memories_give_no_judgement() -> None:
    assert answering(judged("anything")) == []


def test_a_query_without_words_is_judged_by_its_vector() -> None:
    assert bands(judged("?!", ("punctuation", 0.6), ("lunch", 0.0))) == ["match", "weak"]


def test_the_explanation_names_words_scores_ranks_and_prior() -> None:
    assert explanation(Legs(1.0, 1, 0.5, 2, 1.0, ("blue", "pool")), 0.9) == (
        "fit 0.90, lexical 1.00 (rank 1), vector 0.50 (rank 2), words blue pool, prior 1.00"
    )
    assert explanation(Legs(0.0, 0, 0.7, 1, 0.9), 0.5) == "fit 0.50, vector 0.70 (rank 1), prior 0.90"
