"""Whether one memory changes what another says, and the advice for two similar memories."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from contract.stores import a_memory
from keepmum.core.similarity import are_near, compare, may_be_near, pairs_to_compare


@pytest.mark.parametrize(
    ("new", "old", "cosine", "advice"),
    [
        pytest.param("use the pool that is blue", "use the blue pool", 0.9, "skip", id="the same in other words"),
        pytest.param("use blue pool", "use the blue pool first", 0.9, "merge", id="the old one says more"),
        pytest.param("use the blue pool first", "use blue pool", 0.9, "supersede", id="the new one contains the old"),
        pytest.param(
            "deploys use the blue pool, ask Ann Lee Kim Joe", "deploys use the blue pool, page Tom Max Ada Eve", 0.9,
            "merge", id="each says more",
        ),
        pytest.param("use blue pool", "use the blue pool first", 0.82, "keep both", id="only close"),
        pytest.param("never use the blue pool", "use the blue pool", 0.82, "supersede", id="the opposite"),
        pytest.param("use the pool before lunch", "use the pool after lunch", 0.99, "supersede", id="another order"),
    ],
)  # fmt: skip
def test_advice(new: str, old: str, cosine: float, advice: str) -> None:
    assert compare(a_memory(new), a_memory(old), cosine).advice == advice


CHANGES = [
    pytest.param(
        "notes are generated, never written by hand",
        "notes are written by hand, never generated",
        id="the other one denied",
    ),
    pytest.param("the limit is 30 requests", "the limit is 50 requests", id="another number"),
    pytest.param("retry 5 times, wait 30 s, then 60 s", "retry 5 times, wait 30 s, then 90 s", id="one of the numbers"),
    pytest.param("retry three times", "retry five times", id="a number as a word"),
    pytest.param("Python is pinned to 3.12.4", "Python is pinned to 3.12.5", id="a version"),
    pytest.param("the report runs at 02:30", "the report runs at 04:00", id="a time"),
    pytest.param("keys expire after 30 days", "keys expire after 30 hours", id="a unit"),
    pytest.param("the cache holds rows for 30s", "the cache holds rows for 60s", id="a number with its unit"),
    pytest.param("we don't use tabs", "we use tabs", id="a contraction"),
    pytest.param("we use tabs", "we don\u2019t use tabs", id="a negation that was removed"),
    pytest.param("the API no longer returns null", "the API returns null", id="no longer"),
    pytest.param("it is not cached; never retry it", "it is not cached; retry it", id="one negation more"),
    pytest.param("avoid force pushes to main", "force pushes to main", id="avoid"),
    pytest.param("the flag is disabled by default", "the flag is enabled by default", id="an opposite"),
    pytest.param("ask before a deploy", "ask after a deploy", id="before and after"),
    pytest.param("the build runs on Postgres", "the build runs on Oracle", id="one thing replaced"),
    pytest.param("see jobs/consumer.go of the consumer", "see jobs/reader.go of the reader", id="in a path too"),
    pytest.param("call pytest.raises, not pytest.warns", "call nose.raises, not nose.warns", id="in identifiers"),
    pytest.param("we prefer tabs over spaces", "we prefer spaces over tabs", id="two things exchanged"),
    pytest.param("Alice reviews the code of Bob", "Bob reviews the code of Alice", id="two people exchanged"),
    pytest.param("The spare key is with aunt Ruth.", "The spare key is with the neighbour.", id="two words for one"),
    pytest.param("Our tax adviser is Mr Haas.", "Our tax adviser is Mrs Klein.", id="a name with its title"),
    pytest.param("The bus runs from Ulm to Gera.", "The bus runs from Kiel to Bonn.", id="two objects"),
    pytest.param("Copy it from the phone to the NAS", "Copy it from the camera to the laptop", id="with articles"),
    pytest.param("wir nutzen keine Tabs", "wir nutzen Tabs", id="German"),
    pytest.param("我们不使用缓存", "我们使用缓存", id="Chinese"),
]


@pytest.mark.parametrize(("new", "old"), CHANGES)
def test_a_change_is_recognised_in_both_directions(new: str, old: str) -> None:
    assert compare(a_memory(new), a_memory(old), 0.9).contradicts
    assert compare(a_memory(old), a_memory(new), 0.9).contradicts


@pytest.mark.parametrize(("new", "old"), CHANGES)
def test_a_change_is_never_skipped(new: str, old: str) -> None:
    assert compare(a_memory(new), a_memory(old), 1.0).advice == "supersede"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        pytest.param("the build runs on Postgres 16", "the build runs on Postgres 16", id="the same"),
        pytest.param("the build runs on Postgres", "lunch is not at noon", id="another subject"),
        pytest.param("we use tabs in Go", "we use tabs", id="more detail"),
        pytest.param("we use tabs. Spaces are not for us", "we use tabs", id="a sentence with a negation more"),
        pytest.param("we use tabs; avoid it elsewhere", "we use tabs", id="a clause with a negation more"),
        pytest.param("we use tabs, not spaces", "we use tabs", id="a contrast"),
        pytest.param("retry 5 times. It took 3 days", "retry 5 times", id="a sentence with a number more"),
        pytest.param("retry 5 times, wait 1000 s", "retry five times, wait 1,000 seconds", id="other spellings"),
        pytest.param("it isn't cached", "it is not cached", id="a contraction"),
        pytest.param("use Redis instead of Valkey", "use Redis, not Valkey", id="another negation"),
        pytest.param("the job verifies each row", "the job checks every row", id="words of the same meaning"),
        pytest.param("Since it is slow, cache the page.", "Cache the page since it is slow.", id="turned round"),
        pytest.param("releases are signed, not hashed", "not hashed but signed are releases", id="a denial moved"),
        pytest.param("use nginx and redis", "use redis and nginx", id="an enumeration in another order"),
        pytest.param("Ludwig owns the van.", "The owner of the van is Ludwig.", id="the subject as the object"),
        pytest.param("Keys are stored as text in Redis.", "All keys are kept in Redis, as text.", id="reordered"),
        pytest.param("Flye assembles the genomes.", "Genomes are assembled with Flye.", id="passive"),
        pytest.param("Pull requests are reviewed by Dana", "Pull requests are merged by squash", id="two statements"),
        pytest.param("host web-17 listens on port 8017", "host web-18 listens on port 8018", id="another thing"),
        pytest.param("", "we use tabs", id="nothing"),
    ],
)
def test_a_rewording_and_an_addition_are_not_changes(new: str, old: str) -> None:
    assert not compare(a_memory(new), a_memory(old), 0.9).contradicts
    assert not compare(a_memory(old), a_memory(new), 0.9).contradicts


def test_texts_that_differ_in_one_name_are_near_by_their_words() -> None:
    assert are_near(a_memory("The cat is called Pixel."), a_memory("The cat is called Biscuit."))
    assert not are_near(a_memory("The cat is called Pixel."), a_memory("The roof was repaired by Biscuit."))


def test_near_texts_pass_the_fast_test() -> None:
    for new, old in (pair.values for pair in CHANGES):
        one, other = a_memory(str(new)), a_memory(str(old))
        assert may_be_near(one, other) or not are_near(one, other)


def test_the_fast_test_counts_the_words_that_two_texts_share() -> None:
    chance = random.Random(2)
    known = [f"word{number}" for number in range(3_000)]  # of which many have the same mark
    memories = [a_memory(" ".join(chance.choices(known, k=chance.choice([1, 4, 60, 2_500])))) for _ in range(40)]
    memories += [a_memory(memory.text[: 2 * len(memory.text) // 3]) for memory in memories]
    for one, other in combinations(memories, 2):
        ours, theirs = frozenset(one.text.split()), frozenset(other.text.split())
        share = len(ours & theirs) / max(len(ours), len(theirs))
        assert may_be_near(one, other) == (share >= 0.4), share


def test_all_near_pairs_are_found_among_many_texts() -> None:
    chance = random.Random(1)
    memories = [a_memory(" ".join(chance.choices("abcdefghijklmnop", k=chance.randint(1, 9)))) for _ in range(120)]
    expected = {(one.id, other.id) for one, other in combinations(memories, 2) if may_be_near(one, other)}
    assert {(one.id, other.id) for one, other in pairs_to_compare(memories)} == expected


def test_long_texts_are_compared_where_they_differ() -> None:
    text = " ".join(f"rule {number} holds for table{number}." for number in range(5_000))
    assert compare(a_memory(text.replace("rule 77 ", "rule 78 ")), a_memory(text), 1.0).contradicts


def test_long_texts_without_a_common_word_take_no_time_to_compare() -> None:
    one, two = (" ".join(f"{letter}{number}" for number in range(5_000)) for letter in "xy")
    assert not compare(a_memory(one), a_memory(two), 1.0).contradicts
