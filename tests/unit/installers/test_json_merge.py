"""Edits have the style of the file and change nothing else."""

from __future__ import annotations

import time

import pytest

from keepmum_installers.errors import UneditableFile
from keepmum_installers.json_edit import merge, parse, strip


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", _lines("{", '  "on": {', '    "k": true', "  }", "}"), id="no text becomes a document"),
        pytest.param("{}", '{\n  "on": {\n    "k": true\n  }\n}', id="an empty object is opened"),
        pytest.param('{"a":1}', '{"a":1, "on": {"k": true}}', id="one line stays one line"),
        pytest.param(
            _lines("{", '    "a": 1', "}"),
            _lines("{", '    "a": 1,', '    "on": {', '        "k": true', "    }", "}"),
            id="the indentation is kept",
        ),
        pytest.param(
            '{\r\n\t"on": {\r\n\t\t"b": 0\r\n\t}\r\n}',
            '{\r\n\t"on": {\r\n\t\t"b": 0,\r\n\t\t"k": true\r\n\t}\r\n}',
            id="tabs and line ends too",
        ),
        pytest.param('\ufeff{"on": {}}', '\ufeff{"on": {"k": true}}', id="a byte order mark stays first"),
        pytest.param('{"on": {"k": false}}', '{"on": {"k": true}}', id="a value is replaced in place"),
        pytest.param('{"k": {"k": 1}, "on": {"z": 2}}', '{"k": {"k": 1}, "on": {"z": 2, "k": true}}', id="by path"),
    ],
)
def test_key_is_set_in_the_style_of_its_surroundings(before: str, after: str) -> None:
    assert merge(before, ("on", "k"), value=True)[0] == after


def test_equal_value_is_not_touched() -> None:
    text = '{ "on" : {"k":true} }'
    assert merge(text, ("on", "k"), value=True) == (text, None)


def test_true_is_not_one() -> None:
    assert merge('{"k": 1}', ("k",), value=True)[0] == '{"k": true}'


def test_the_last_of_duplicate_keys_counts() -> None:
    assert merge('{"k": 1, "k": 2}', ("k",), 3)[0] == '{"k": 1, "k": 3}'


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        pytest.param('{\n  // mine\n  "a": 1\n}', 2, "not plain JSON", id="a comment"),
        pytest.param('{\n  "a": 1,\n}', 3, "not plain JSON", id="a trailing comma"),
        pytest.param("[1]", 1, "not an object", id="a list"),
        pytest.param('{"a": NaN}', 1, "not plain JSON", id="what only Python reads"),
        pytest.param('{"on": []}', 1, "not an object", id="a list along the path"),
        pytest.param('{\n"x": 1,\n"on": "yes"}', 3, "not an object", id="a text along the path, with its line"),
        pytest.param("[" * 100_000, 1, "too deeply", id="a bomb"),
        pytest.param('{"a": 1} {"b": 2}', 1, "not plain JSON", id="two documents"),
    ],
)
def test_uneditable_text_is_refused_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(UneditableFile) as caught:
        merge(text, ("on", "k"), value=True)
    assert caught.value.line == line
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    "text", ['{"a": 1} /*', "/*/ {}", '{"a": 1 /* }', '{"a": "}', "{,}", '{"a": ,}', "[1,]", "// {}\n}"]
)
def test_damaged_text_with_comments_is_refused(text: str) -> None:
    with pytest.raises(UneditableFile):
        merge(text, ("on",), value=True, comments=True)


@pytest.mark.parametrize("part", ["/*", '\\"', '"', "/", ",", "//", "{", '"\\', "/*/"])
def test_a_long_damaged_text_is_refused_in_time_that_grows_with_its_length(part: str) -> None:
    took = []
    for length in (10_000, 40_000):
        start = time.process_time()
        with pytest.raises(UneditableFile):
            merge('{"a": "' + part * length, ("on",), value=True, comments=True)
        took.append(time.process_time() - start)
    assert took[1] < 10 * took[0] + 0.2  # 16 times, if it grew with the square


def test_an_object_created_for_the_key_stays_when_others_use_it() -> None:
    merged, undo = merge("{}", ("on", "k"), value=True)
    touched, _ = merge(merged, ("on", "theirs"), value=True)
    assert parse(strip(touched, undo)) == {"on": {"theirs": True}}


def test_replaced_value_is_restored() -> None:
    merged, undo = merge('{"k":  [1,2] }', ("k",), value=True)
    assert strip(merged, undo) == '{"k":  [1,2] }'


def test_value_that_was_set_later_stays() -> None:
    merged, undo = merge('{"k": 1}', ("k",), 2)
    touched, _ = merge(merged, ("k",), 3)
    assert strip(touched, undo) == touched


def test_missing_key_needs_no_stripping() -> None:
    _, undo = merge('{"a": 1}', ("k",), 2)
    assert strip('{"a": 1}', undo) == '{"a": 1}'


def test_an_empty_path_names_no_key() -> None:
    with pytest.raises(ValueError, match="empty path"):
        merge("{}", (), value=True)
