"""For every text: keys are found anywhere, no part of them leaks, positions are valid, and the scan never fails."""

import itertools
import random
import runpy
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepmum_scanner import redact, scan
from keepmum_scanner.cli import main
from keepmum_scanner.normalise import normalise
from unit.scanner.key_patterns import assembled

RULES = runpy.run_path(str(Path(__file__).parents[2] / "scanner" / "render_providers.py"))["rules"]()
KEYS = [(rule["id"], rule["hits"][0]) for rule in RULES]
PIECE = 5  # characters; shorter pieces occur by chance

# Text around a key; the border characters between them cannot be part of a key.
SURROUNDINGS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=60)
BORDERS = st.sampled_from(
    [" ", "\n", "\t", '"', "'", "`", "(", ")", "=", ":", ",", ";", "<", ">", "[", "]", "{", "}", "|"]
)


def pieces(secret: str) -> set[str]:
    return {secret[start : start + PIECE] for start in range(len(secret) - PIECE + 1)}


@pytest.mark.parametrize(("rule", "pattern"), KEYS, ids=[rule for rule, _ in KEYS])
@settings(max_examples=12, deadline=None)
@given(before=SURROUNDINGS, after=SURROUNDINGS, left=BORDERS, right=BORDERS, seed=st.integers(0, 2**32))
def test_key_is_found_anywhere(  # noqa: PLR0917 - each varying value is an argument
    rule: str, pattern: str, before: str, after: str, left: str, right: str, seed: int
) -> None:
    key = assembled(pattern, random.Random(seed))
    text = before + left + key + right + after
    start = len(before) + 1
    assert any(found.start <= start and start + len(key) <= found.end for found in scan(text)), rule


@settings(max_examples=150, deadline=None)
@given(key=st.sampled_from(KEYS), before=SURROUNDINGS, after=SURROUNDINGS, seed=st.integers(0, 2**32))
def test_no_part_of_a_key_is_shown(key: tuple[str, str], before: str, after: str, seed: int) -> None:
    secret = assembled(key[1], random.Random(seed))
    text = f"{before} {secret} {after}"
    findings = scan(text, key=b"k")
    shown = repr(findings) + redact(text, findings).replace(before, "").replace(after, "")
    assert not {piece for piece in pieces(secret) if piece in shown} - pieces(repr(findings[0].rule))


@pytest.mark.parametrize(("rule", "pattern"), KEYS[::8])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_command_shows_no_part_of_a_key(
    rule: str, pattern: str, options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = assembled(pattern, random.Random(rule))
    note = tmp_path / "n"
    note.write_text(f"it is {secret} now")
    assert main([*options, str(note)]) == 1
    assert main([secret]) == 2
    assert main([f"--{secret}"]) == 2
    shown = "".join(capsys.readouterr()).replace(str(note), "")
    assert not {piece for piece in pieces(secret) if piece in shown} - pieces(rule)


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(), max_size=200))
def test_any_text_can_be_scanned(text: str) -> None:
    last = 0
    for found in scan(text):
        assert last <= found.start < found.end <= len(text)
        assert 0.5 <= found.confidence <= 1
        last = found.end


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "password",
                "token",
                "=",
                ": ",
                "is ",
                "key",
                " ",
                "\n",
                "a1B2c3D4e5",
                "://",
                "@",
                "-----BEGIN ",
                "PRIVATE KEY-----",
                "'",
                '"',
                "${X}",
                "ghp" + "_",
                "eyJ",
                ".",
                "\u200b",
                "\uff41",
                "%41",
                "/",
                "x" * 20,
            ]
        ),
        max_size=40,
    ).map("".join)
)
def test_any_text_of_scanner_words_can_be_scanned(text: str) -> None:
    findings = scan(text)
    assert all(one.end <= two.start for one, two in itertools.pairwise(findings))
    assert len(redact(text, findings)) > 0 or not text


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80))
def test_each_normalised_character_maps_to_its_origin(text: str) -> None:
    view = normalise(text)
    origins = [start for start, _ in view.origin_spans([(start, start + 1) for start in range(len(view.text))])]
    assert origins == sorted(origins)
    for position, origin in enumerate(origins):
        assert view.text[position] in normalise(text[origin]).text


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_normalised_text_stays_unchanged(text: str) -> None:
    plain = normalise(text).text
    assert normalise(plain).text == plain
