"""How a question becomes words, and candidates an order."""

from __future__ import annotations

import pytest

from contract.stores import NOW, a_memory, wanted
from keepmum.ranking import estimate_tokens, identifier_words, rank, terms
from keepmum.retention import DAY_MS


@pytest.mark.parametrize(
    ("question", "words"),
    [
        pytest.param("What database does the project use?", ["database", "project", "use"], id="stop words go"),
        pytest.param("to be or not to be", ["to", "be", "or", "not"], id="unless nothing else was asked"),
        pytest.param("getUserName", ["getusername", "user", "name"], id="camel case"),
        pytest.param("HTTPServer", ["httpserver", "http", "server"], id="capitals together"),
        pytest.param("user_service.py", ["user_service.py", "user", "service", "py"], id="snake case and dots"),
        pytest.param("don't panic", ["don't", "panic"], id="apostrophe"),
        pytest.param("zebra zebra ZEBRA", ["zebra"], id="each once"),
        pytest.param("größe 数据库", ["größe", "数据库"], id="other scripts"),
        pytest.param('"(*:^', [], id="signs alone"),
    ],
)
def test_a_question_becomes_words(question: str, words: list[str]) -> None:
    assert terms(question) == words


def test_a_question_has_no_more_words_than_are_looked_up() -> None:
    question = " ".join(f"word{number}" for number in range(100))
    assert len(terms(question)) == 32
    assert len(terms(question, limit=None)) == 100


def test_plain_words_are_no_identifiers() -> None:
    assert identifier_words("plain words, and a sentence. Then another") == ""


def test_the_parts_of_identifiers_come_each_once() -> None:
    assert identifier_words("user_id userId src/user/main.py") == "user id src main py"


def test_the_most_relevant_comes_first() -> None:
    low, high = a_memory("low"), a_memory("high")
    assert [match.memory.text for match in rank([(low, 1.0), (high, 3.0)], wanted())] == ["high", "low"]


def test_scores_are_relative_to_the_best() -> None:
    best, half = rank([(a_memory("a", tier="long"), 8.0), (a_memory("b", tier="long"), 4.0)], wanted())
    assert best.score == pytest.approx(1.0)
    assert half.score == pytest.approx(0.5)


def test_age_importance_and_nothing_else_break_a_tie() -> None:
    fresh, old = a_memory("fresh"), a_memory("old", at=NOW - 60 * DAY_MS)
    heavy, light = a_memory("heavy", importance=1.0), a_memory("light", importance=0.0)
    assert [match.memory.text for match in rank([(old, 1.0), (fresh, 1.0)], wanted())] == ["fresh", "old"]
    assert [match.memory.text for match in rank([(light, 1.0), (heavy, 1.0)], wanted())] == ["heavy", "light"]


def test_neither_age_nor_importance_hides_what_fits_far_better() -> None:
    faded = a_memory("faded", at=NOW - 900 * DAY_MS, importance=0.0)
    fresh = a_memory("fresh", importance=1.0)
    assert rank([(faded, 1.0), (fresh, 0.75)], wanted())[0].memory.text == "faded"


def test_what_another_project_knows_is_worth_less() -> None:
    other, here = a_memory("other", project="beta"), a_memory("here")
    assert rank([(other, 1.0), (here, 0.7)], wanted(everywhere=True))[0].memory.text == "here"


def test_a_global_memory_belongs_to_every_project() -> None:
    everywhere, here = a_memory("global", scope="global", project=None), a_memory("here")
    assert rank([(everywhere, 1.0), (here, 0.9)], wanted())[0].memory.text == "global"


def test_nothing_ranks_as_nothing() -> None:
    assert rank([], wanted()) == []


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("üü", 1), ("\ud800", 1)])
def test_tokens_are_about_four_bytes(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
