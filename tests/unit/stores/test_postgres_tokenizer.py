"""The words of query words, which the PostgreSQL store remembers between searches."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from keepmum.stores.postgres import tokenizer
from keepmum.stores.postgres.tokenizer import Tokenizer

EXPECTED = {"foo-bar": ("foo", "bar"), "deploys": ("deploi",), "!!": ()}


@pytest.fixture
def words() -> Iterator[Tokenizer]:
    with contextlib.closing(Tokenizer()) as opened:
        yield opened


def test_known_and_new_words_keep_the_order_in_which_they_are_asked(words: Tokenizer) -> None:
    assert words.phrases(["foo-bar", "!!"]) == [EXPECTED["foo-bar"], EXPECTED["!!"]]
    asked = ["deploys", "foo-bar", "!!", "deploys"]
    assert words.phrases(asked) == [EXPECTED[word] for word in asked]


def test_a_word_is_split_once(words: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    first = words.phrases(list(EXPECTED))
    monkeypatch.setattr(words, "_tokens", None)
    assert words.phrases(list(EXPECTED)) == first


def test_more_words_than_are_remembered_are_split_alike(words: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer, "_MOST_KNOWN", 2)
    for _ in range(2):
        assert words.phrases(list(EXPECTED)) == list(EXPECTED.values())
        assert words.phrases(["foo-bar"]) == [EXPECTED["foo-bar"]]
