"""Normalised texts, and positions in the original."""

import pytest

from keepmum_scanner.normalise import _UNCHANGED, _changed, normalise


def test_plain_text_stays_unchanged() -> None:
    view = normalise("a\tb\nc")
    assert view.text == "a\tb\nc"
    assert view.origin_spans([(2, 5)]) == [(2, 5)]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        pytest.param("a\u200bb", "ab", id="zero-width space"),
        pytest.param("a\u00adb", "ab", id="soft hyphen"),
        pytest.param("a\u202eb", "ab", id="bidi override"),
        pytest.param("a\U000e0041b", "ab", id="tag character"),
        pytest.param("a\ufe0fb", "ab", id="variation selector"),
        pytest.param("a\x00\x1bb", "ab", id="control characters"),
        pytest.param("\uff41\uff11", "a1", id="full width"),
        pytest.param("\ufb01x", "fix", id="ligature"),
        pytest.param("caf\u00e9", "caf\u00e9", id="an accent stays"),
    ],
)
def test_text_is_normalised(text: str, plain: str) -> None:
    assert normalise(text).text == plain


def test_positions_are_mapped_across_removed_characters() -> None:
    text = "ab\u200b\u200bcd\u200bef"
    view = normalise(text)
    assert text[slice(*view.origin_spans([(2, 4)])[0])] == "cd"
    assert text[slice(*view.origin_spans([(1, 3)])[0])] == "b\u200b\u200bc"


def test_positions_are_mapped_across_expanded_characters() -> None:
    text = "x\ufb01y"
    view = normalise(text)
    assert view.text == "xfiy"
    assert text[slice(*view.origin_spans([(3, 4)])[0])] == "y"
    assert text[slice(*view.origin_spans([(1, 2)])[0])] == "\ufb01"


def test_skipped_letters_never_change() -> None:
    letters = list(filter(_UNCHANGED.fullmatch, map(chr, range(0x110000))))
    assert len(letters) > 50_000
    assert _changed(set(letters)) == {}
