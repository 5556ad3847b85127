"""A vocabulary gives each piece its number, as a dict of its lines would."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepmum.embedding.local_model import VOCABULARY
from keepmum.embedding.vocabulary import Vocabulary

PIECE = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\n"), max_size=6)


def held(pieces: list[str]) -> Vocabulary:
    return Vocabulary("".join(f"{piece}\n" for piece in pieces).encode())


@given(st.lists(PIECE, max_size=60), st.lists(PIECE, max_size=20))
def test_any_piece_has_the_number_that_a_dict_gives_it(pieces: list[str], others: list[str]) -> None:
    numbers = {piece: number for number, piece in enumerate(pieces)}
    vocabulary = held(pieces)
    assert {piece: vocabulary.get(piece) for piece in pieces + others} == {
        piece: numbers.get(piece) for piece in pieces + others
    }


def test_every_piece_of_the_real_model_has_the_number_of_its_line(installed_model: Path) -> None:
    content = (installed_model / VOCABULARY).read_bytes()
    vocabulary = Vocabulary(content)
    pieces = content.decode().split("\n")[:-1]
    assert [vocabulary.get(piece) for piece in pieces] == list(range(len(pieces)))


@pytest.mark.parametrize("piece", ["", "\n", "a\nb", "b", "\ud800"])
def test_what_is_no_line_has_no_number(piece: str) -> None:
    assert held(["a", "bc"]).get(piece) is None


def test_the_last_line_may_end_without_a_break() -> None:
    assert Vocabulary(b"a\nb").get("b") == 1


def test_nothing_holds_nothing() -> None:
    assert Vocabulary(b"").get("a") is None
