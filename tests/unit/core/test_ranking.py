"""Search terms of a query, and the ranking of candidates."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.stores import NOW, a_memory, wanted
from keepmum.core.memory import Candidate, Memory
from keepmum.core.ranking import Ranked, embedding_text, estimate_tokens, rank, stem, subwords, terms
from keepmum.core.retention import DAY_MS


@pytest.mark.parametrize(
    ("question", "words"),
    [
        pytest.param(
            "What database does the project use?", ["database", "project", "use"], id="stop words are dropped"
        ),
        pytest.param("to be or not to be", ["to", "be", "or", "not"], id="only stop words"),
        pytest.param("getUserName", ["getusername", "user", "name"], id="camel case"),
        pytest.param("HTTPServer", ["httpserver", "http", "server"], id="capitals together"),
        pytest.param("user_service.py", ["user_service.py", "user", "service", "py"], id="snake case and dots"),
        pytest.param("don't panic", ["don't", "panic"], id="apostrophe"),
        pytest.param("zebra zebra ZEBRA", ["zebra"], id="each once"),
        pytest.param("größe 数据库", ["größe", "数据", "据库"], id="pairs of a script without spaces"),
        pytest.param('"(*:^', [], id="only punctuation"),
    ],
)
def test_terms_of_a_query(question: str, words: list[str]) -> None:
    assert terms(question) == words


def test_terms_are_limited() -> None:
    question = " ".join(f"word{number}" for number in range(100))
    assert len(terms(question)) == 32
    assert len(terms(question, limit=None)) == 100


def test_plain_words_have_no_subwords() -> None:
    assert subwords("plain words, and a sentence. Then another") == ""


def test_the_parts_of_identifiers_are_subwords_without_duplicates() -> None:
    assert subwords("user_id userId src/user/main.py") == "user id src main py"


def candidate(memory: Memory, lexical: float = 0.0, cosine: float | None = None) -> Candidate:
    facts = {name: getattr(memory, name) for name in Candidate._fields[:-2]}
    return Candidate(**facts, lexical=lexical, cosine=cosine)


def ranked(*candidates: Candidate, **asked: Any) -> list[str]:
    return [place.candidate.id for place in rank(candidates, wanted(**asked))]


def lexical_only(*relevances: float) -> list[Ranked]:
    memories = [a_memory(str(number), tier="long") for number in range(len(relevances))]
    return rank([candidate(memory, words) for memory, words in zip(memories, relevances, strict=True)], wanted())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("数据库选择", "数据 据库 库选 选择", id="Chinese"),
        pytest.param("データベース", "デー ータ タベ ベー ース", id="Japanese"),
        pytest.param("데이터베이스를", "데이 이터 터베 베이 이스 스를", id="Korean"),
        pytest.param("ฐานข้อมูล", "ฐา าน นข ขอ อม มล", id="Thai, without the marks that the index drops"),
        pytest.param("用 Postgres 库", "用 库", id="lone characters"),
        pytest.param("größe naïve", "", id="not in a script with spaces"),
    ],
)
def test_the_subwords_of_a_script_without_spaces_are_pairs(text: str, expected: str) -> None:
    assert subwords(text) == expected


def test_the_most_relevant_comes_first() -> None:
    low, high = a_memory("low"), a_memory("high")
    assert ranked(candidate(low, 1.0), candidate(high, 3.0)) == [high.id, low.id]


def test_lexical_scores_are_relative_to_the_best() -> None:
    best, half = lexical_only(8.0, 4.0)
    assert best.score == pytest.approx(1.0)
    assert half.score == pytest.approx(0.5)


def test_age_and_importance_break_a_tie() -> None:
    fresh, old = a_memory("fresh"), a_memory("old", at=NOW - 60 * DAY_MS)
    heavy, light = a_memory("heavy", importance=1.0), a_memory("light", importance=0.0)
    assert ranked(candidate(old, 1.0), candidate(fresh, 1.0)) == [fresh.id, old.id]
    assert ranked(candidate(light, 1.0), candidate(heavy, 1.0)) == [heavy.id, light.id]


def test_relevance_outweighs_age_and_importance() -> None:
    faded = a_memory("faded", at=NOW - 900 * DAY_MS, importance=0.0)
    fresh = a_memory("fresh", importance=1.0)
    assert ranked(candidate(faded, 1.0), candidate(fresh, 0.75))[0] == faded.id


def test_memories_of_other_projects_score_less() -> None:
    other, here = a_memory("other", project="beta"), a_memory("here")
    assert ranked(candidate(other, 1.0), candidate(here, 0.7), everywhere=True)[0] == here.id


def test_without_a_project_all_projects_score_the_same() -> None:
    other, here = a_memory("other", project="beta"), a_memory("here")
    assert ranked(candidate(here, 0.9), candidate(other, 1.0), project=None, everywhere=True)[0] == other.id


def test_global_memories_score_as_those_of_the_project() -> None:
    everywhere, here = a_memory("global", scope="global", project=None), a_memory("here")
    assert ranked(candidate(everywhere, 1.0), candidate(here, 0.9))[0] == everywhere.id


def test_the_cosine_decides_when_no_term_matches() -> None:
    near, far = a_memory("near"), a_memory("far")
    assert ranked(candidate(far, 0.0, 0.2), candidate(near, 0.0, 0.7)) == [near.id, far.id]


def test_a_rare_term_outweighs_the_cosine() -> None:
    holder, near = a_memory("holder"), a_memory("near")
    assert ranked(candidate(holder, 9.0, 0.4), candidate(near, 0.0, 0.7))[0] == holder.id


def test_the_cosine_decides_when_every_memory_contains_the_terms() -> None:
    crowd = [candidate(a_memory(str(number)), 8.9 - number / 100, 0.3) for number in range(20)]
    first, near = a_memory("first"), a_memory("near")
    assert ranked(candidate(first, 9.0, 0.4), candidate(near, 8.5, 0.6), *crowd)[0] == near.id


def test_a_memory_without_a_vector_gets_the_mean_cosine() -> None:
    unknown, better, worse = a_memory("unknown"), a_memory("better"), a_memory("worse")
    order = ranked(candidate(unknown), candidate(better, 0.0, 0.6), candidate(worse, 0.0, 0.2))
    assert order == [better.id, unknown.id, worse.id]


def test_no_candidates_give_no_result() -> None:
    assert rank([], wanted()) == []


@pytest.mark.parametrize(
    ("title", "text", "embedded"),
    [
        pytest.param("Use tabs", "Use tabs\neverywhere", "Use tabs\neverywhere", id="a title that is the first line"),
        pytest.param("Indentation", "Use tabs", "Indentation\nUse tabs", id="another title"),
        pytest.param("call getUserName", "call getUserName", "call get User Name", id="camel case is split"),
    ],
)
def test_embedding_text_joins_title_and_text(title: str, text: str, embedded: str) -> None:
    assert embedding_text(a_memory(text, title=title)) == embedded


def test_embedding_text_contains_the_tags() -> None:
    assert embedding_text(a_memory("Use tabs", tags=("style", "go"))) == "Use tabs\nstyle go"


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("üü", 1), ("\ud800", 1)])
def test_a_token_is_estimated_as_four_bytes(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(
    st.lists(
        st.tuples(st.floats(0, 9), st.none() | st.floats(-1, 1), st.floats(0, 1), st.integers(0, 400)), max_size=40
    ),
    st.integers(0, 12),
)
def test_a_limit_returns_the_first_of_the_full_ranking(
    drawn: list[tuple[float, float | None, float, int]], limit: int
) -> None:
    candidates = [
        candidate(a_memory(str(number), importance=importance, updated_at=NOW - days * DAY_MS), words, meaning)
        for number, (words, meaning, importance, days) in enumerate(drawn)
    ]
    assert rank(candidates, wanted(), limit) == rank(candidates, wanted())[:limit]


def test_memories_without_a_term_or_a_similar_vector_are_dropped() -> None:
    near, far, said, new = (a_memory(text) for text in ("near", "far", "said", "new"))
    assert set(
        ranked(candidate(near, 0.0, 0.2), candidate(far, 0.0, 0.05), candidate(said, 1.0, 0.05), candidate(new))
    ) == {near.id, said.id, new.id}


def test_equal_scores_share_a_rank() -> None:
    assert sorted(place.ranks[0] for place in lexical_only(3.0, 2.0, 2.0, 1.0)) == [1, 2, 2, 4]


@pytest.mark.parametrize(
    "forms",
    ["location locations located locate locates locating", "deploy deploys deployed deploying", "cache caches cached",
     "preference preferences", "class classes", "process processes", "move moved moves moving"],
)  # fmt: skip
def test_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len(set(map(stem, forms.split()))) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("mission", "missed"), ("station", "stated"), ("pass", "pas"), ("red", "r"), ("is", "i"), ("ring", "r")],
)
def test_different_words_have_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)
