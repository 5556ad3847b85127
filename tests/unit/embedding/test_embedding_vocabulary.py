"""A vocabulary gives the ids that a dict would."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepmum.embedding.local_model import VOCABULARY
from keepmum.embedding.wordpiece import Vocabulary

PIECE = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\n"), max_size=6)


def vocabulary_of(pieces: list[str]) -> Vocabulary:
    return Vocabulary("".join(f"{piece}\n" for piece in pieces).encode())


@given(st.lists(PIECE, max_size=60), st.lists(PIECE, max_size=20))
def test_ids_are_those_of_a_dict(pieces: list[str], others: list[str]) -> None:
    numbers = {piece: number for number, piece in enumerate(pieces)}
    vocabulary = vocabulary_of(pieces)
    assert {piece: vocabulary.get(piece) for piece in pieces + others} == {
        piece: numbers.get(piece) for piece in pieces + others
    }


def test_every_piece_of_the_real_model_has_the_number_of_its_line(installed_model: Path) -> None:
    content = (installed_model / VOCABULARY).read_bytes()
    vocabulary = Vocabulary(content)
    pieces = content.decode().split("\n")[:-1]
    assert [vocabulary.get(piece) for piece in pieces] == list(range(len(pieces)))


@pytest.mark.parametrize("piece", ["", "\n", "a\nb", "b", "\ud800"])
def test_other_texts_have_no_id(piece: str) -> None:
    assert vocabulary_of(["a", "bc"]).get(piece) is None


def test_the_last_line_needs_no_line_feed() -> None:
    assert Vocabulary(b"a\nb").get("b") == 1


def test_an_empty_vocabulary_has_no_pieces() -> None:
    assert Vocabulary(b"").get("a") is None
