"""The ids are those of the `tokenizers` library, with which the model was trained."""

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
NO_LIMIT = 10_000


def library_tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(ModelOfLibrary(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


LIBRARY = library_tokenizer(VOCABULARY)
OURS = WordPiece(VOCABULARY)


def expected(text: str) -> list[int]:
    return [VOCABULARY["[CLS]"], *LIBRARY.encode(text).ids, VOCABULARY["[SEP]"]]


def has_not_changed(character: str) -> bool:
    """Whether a character has the same Unicode category as when the library's tables were made."""
    before = unicodedata.ucd_3_2_0.category(character)
    return before == unicodedata.category(character) != "Cn"


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "Z", "S"], max_codepoint=0x3FF), max_size=60))
def test_any_text_has_the_ids_of_the_library(text: str) -> None:
    if all(map(has_not_changed, text)):
        assert OURS.encode(text, NO_LIMIT) == expected(text)


@given(st.text(alphabet="abcd .,-_$'!\t\n\x0b\x85\u00a0\u2003ABÀéßÑİς中한\u0301\u200d\ufffd\0", max_size=40))
def test_accents_spaces_punctuation_and_controls_have_the_ids_of_the_library(text: str) -> None:
    assert OURS.encode(text, NO_LIMIT) == expected(text)


@pytest.mark.heavy
def test_every_character_between_letters_has_the_ids_of_the_library() -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    known = [character for character in characters if has_not_changed(character)]
    texts = [f"ab{character}cd" for character in known]
    spelled = [[2, *found.ids, 3] for found in LIBRARY.encode_batch(texts)]
    assert [
        hex(ord(c)) for c, text, ids in zip(known, texts, spelled, strict=True) if OURS.encode(text, 99) != ids
    ] == []


@pytest.mark.parametrize(
    "name", ["README.md", "docs/reference.md", "plugin/keepmum/core/memory.py", "installers/install.sh"]
)
def test_large_texts_have_the_ids_of_the_library(root: Path, published_model: Path, name: str) -> None:
    library = Tokenizer.from_file(str(published_model / "tokenizer.json"))
    library.no_padding()
    library.no_truncation()
    ours = WordPiece(library.get_vocab())
    text = (root / name).read_text(encoding="utf-8")[:16_000]
    assert ours.encode(text, NO_LIMIT) == library.encode(text).ids


def test_a_text_without_words_has_only_the_special_tokens() -> None:
    assert OURS.encode(" \t\u200b ", NO_LIMIT) == [VOCABULARY["[CLS]"], VOCABULARY["[SEP]"]]


def test_a_long_text_is_cut_before_the_last_special_token() -> None:
    assert OURS.encode("a " * 100, 5) == [VOCABULARY[piece] for piece in ("[CLS]", "a", "a", "a", "[SEP]")]


def test_a_text_cannot_contain_special_tokens() -> None:
    assert VOCABULARY["[SEP]"] not in OURS.encode("a [SEP] b", NO_LIMIT)[:-1]


def test_a_very_long_word_is_unknown_as_a_whole() -> None:
    assert OURS.encode("x" * 1_000_000, NO_LIMIT) == [VOCABULARY[piece] for piece in ("[CLS]", "[UNK]", "[SEP]")]


def test_a_file_without_special_tokens_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("a\nb\n", encoding="utf-8")
    with pytest.raises(ValueError, match="not a vocabulary"):
        WordPiece.read(str(tmp_path / "vocab.txt"))
