"""Our word pieces are those of the library that the model was trained with."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece as ModelOfLibrary
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from keepmum.embedding.wordpiece import WordPiece

PIECES = "[PAD] [UNK] [CLS] [SEP] the quick ##er ##est un ##able deploy ##ment s ##taging a b c d ##a ##b ##c ##d . , -"
VOCABULARY = {piece: number for number, piece in enumerate([*PIECES.split(), "中", "ß", "ㄱ", "!", "'", "_", "$"])}
MOST = 10_000


def of_library(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(ModelOfLibrary(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


LIBRARY = of_library(VOCABULARY)
OURS = WordPiece(VOCABULARY)


def library_spells(text: str) -> list[int]:
    return [VOCABULARY["[CLS]"], *LIBRARY.encode(text).ids, VOCABULARY["[SEP]"]]


def has_not_changed(character: str) -> bool:
    """Whether Unicode says of a character what it said when the library's tables were made, or before."""
    before = unicodedata.ucd_3_2_0.category(character)
    return before == unicodedata.category(character) != "Cn"


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "Z", "S"], max_codepoint=0x3FF), max_size=60))
def test_any_text_is_spelled_as_the_library_spells_it(text: str) -> None:
    if all(map(has_not_changed, text)):
        assert OURS.spell(text, MOST) == library_spells(text)


@given(st.text(alphabet="abcd .,-_$'!\t\n\x0b\x85\u00a0\u2003ABÀéßÑİς中한\u0301\u200d\ufffd\0", max_size=40))
def test_accents_spaces_marks_and_controls_are_treated_as_the_library_treats_them(text: str) -> None:
    assert OURS.spell(text, MOST) == library_spells(text)


def test_every_character_between_letters_is_spelled_as_the_library_spells_it() -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    known = [character for character in characters if has_not_changed(character)]
    texts = [f"ab{character}cd" for character in known]
    spelled = [[2, *found.ids, 3] for found in LIBRARY.encode_batch(texts)]
    assert [
        hex(ord(c)) for c, text, ids in zip(known, texts, spelled, strict=True) if OURS.spell(text, 99) != ids
    ] == []


@pytest.mark.parametrize(
    "name", ["README.md", "docs/reference.md", "plugin/keepmum/service.py", "installers/install.sh"]
)
def test_large_texts_are_spelled_as_the_library_spells_them(root: Path, published_model: Path, name: str) -> None:
    library = Tokenizer.from_file(str(published_model / "tokenizer.json"))
    library.no_padding()
    library.no_truncation()
    ours = WordPiece(library.get_vocab())
    path = root / name
    text = (path if path.exists() else root / "AGENTS.md").read_text(encoding="utf-8")[:16_000]
    assert ours.spell(text, MOST) == library.encode(text).ids


def test_a_text_of_no_words_is_its_two_marks() -> None:
    assert OURS.spell(" \t\u200b ", MOST) == [VOCABULARY["[CLS]"], VOCABULARY["[SEP]"]]


def test_what_the_model_does_not_read_is_cut_and_the_last_mark_stays() -> None:
    assert OURS.spell("a " * 100, 5) == [VOCABULARY[piece] for piece in ("[CLS]", "a", "a", "a", "[SEP]")]


def test_a_text_cannot_spell_the_marks_of_the_model() -> None:
    assert VOCABULARY["[SEP]"] not in OURS.spell("a [SEP] b", MOST)[:-1]


def test_a_very_long_word_costs_no_more_than_a_glance() -> None:
    assert OURS.spell("x" * 1_000_000, MOST) == [VOCABULARY[piece] for piece in ("[CLS]", "[UNK]", "[SEP]")]


def test_a_file_that_is_no_vocabulary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("a\nb\n", encoding="utf-8")
    with pytest.raises(ValueError, match="not a vocabulary"):
        WordPiece.read(str(tmp_path / "vocab.txt"))
