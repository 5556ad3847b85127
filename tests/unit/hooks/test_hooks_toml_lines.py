"""The subset of TOML that is read line by line, and what is skipped."""

from __future__ import annotations

import pytest

from keepmum_hooks import toml_lines


@pytest.mark.parametrize(
    ("text", "values"),
    [
        pytest.param("", {}, id="empty"),
        pytest.param("enabled = false", {("enabled",): False}, id="a boolean"),
        pytest.param("enabled=true#on", {("enabled",): True}, id="no blanks, a comment"),
        pytest.param("[capture]\nevery = 3\n", {("capture", "every"): 3}, id="a table"),
        pytest.param(" [ capture ] # c\r\n\tevery = +7 # c\r\n", {("capture", "every"): 7}, id="blanks and CRLF"),
        pytest.param("capture.every = -1", {("capture", "every"): -1}, id="a dotted key"),
        pytest.param("capture . every = 0", {("capture", "every"): 0}, id="a dotted key with blanks"),
        pytest.param("[a.b]\nc.d = 1", {("a", "b", "c", "d"): 1}, id="dots in both"),
        pytest.param('project = "a # b" # c', {("project",): "a # b"}, id="a string with a hash"),
        pytest.param("project = 'C:\\a'", {("project",): "C:\\a"}, id="a literal string"),
        pytest.param('a = ""', {("a",): ""}, id="an empty string"),
        pytest.param('a = "C:\\\\x \\"y\\""', {("a",): 'C:\\x "y"'}, id="escaped quotes and backslashes"),
        pytest.param("a = []", {("a",): ()}, id="an empty list"),
        pytest.param("a = ['x', \"y\",]", {("a",): ("x", "y")}, id="a list of strings"),
        pytest.param(
            'a = [ # one\n "x", # ]\n\n "[y"\n] # c\nb = 1', {("a",): ("x", "[y"), ("b",): 1}, id="over several lines"
        ),
    ],
)
def test_a_plain_file_is_read(text: str, values: dict[tuple[str, ...], object]) -> None:
    lines = toml_lines.read(text)
    assert (lines.values, lines.is_plain) == (values, True)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("a", id="no value"),
        pytest.param("a =", id="an empty value"),
        pytest.param("= 1", id="no key"),
        pytest.param('"a" = 1', id="a quoted key"),
        pytest.param("a..b = 1", id="an empty part"),
        pytest.param('a = "b', id="an unclosed string"),
        pytest.param('a = "b" c', id="text after the value"),
        pytest.param("[a", id="an unclosed header"),
        pytest.param("[a] b", id="text after a header"),
        pytest.param("# \x00", id="a control character in a comment"),
        pytest.param("ü = 1", id="a key that is not ASCII"),
    ],
)
def test_any_other_line_is_reported_and_the_rest_is_read(line: str) -> None:
    lines = toml_lines.read(f"enabled = false\n{line}\n")
    assert (lines.values, lines.is_plain) == ({("enabled",): False}, False)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("007", id="leading zeros, which TOML forbids"),
        pytest.param("1_000", id="digits in groups"),
        pytest.param("0x1f", id="hexadecimal"),
        pytest.param("1.5", id="a float"),
        pytest.param("1979-05-27 07:32:00Z # c", id="a date"),
        pytest.param('"\\n"', id="an escape"),
        pytest.param('"""text"""', id="a long string on one line"),
        pytest.param('"""\nb = 1\n\\"""\n""""" # c', id="a long string over several lines, with quotes at its end"),
        pytest.param("'''\nb = 1\n\\'''", id="a long literal string"),
        pytest.param("[1, 2]", id="a list of numbers"),
        pytest.param("['a', ['b', '''\n]''']]", id="a list of lists"),
        pytest.param("{ b = 1, c = [ '}' ] }", id="an inline table"),
        pytest.param('["""a"""]', id="a list with a long string"),
    ],
)
def test_a_value_of_another_kind_is_skipped(value: str) -> None:
    lines = toml_lines.read(f"a = {value}\nenabled = false\n")
    assert (lines.values, lines.is_plain) == ({("enabled",): False}, True)
    assert [lines.knows(path) for path in (("a",), ("a", "b"), ("enabled",), ("b",))] == [False, False, True, True]


def test_a_list_of_tables_is_skipped() -> None:
    lines = toml_lines.read("every = 1\n[[a]]\nb = 1\n[[a]]\nb = 2\n[c]\nd = 3\n")
    assert (lines.values, lines.is_plain) == ({("every",): 1, ("c", "d"): 3}, True)
    assert [lines.knows(path) for path in (("a", "b"), ("c", "d"))] == [False, True]


@pytest.mark.parametrize("opening", ['"""', "'''", "[", "{"])
def test_nothing_is_read_inside_a_multi_line_value(opening: str) -> None:
    lines = toml_lines.read(f"before = 1\nnotes = {opening}\nenabled = false\n")
    assert (lines.values, lines.is_plain) == ({("before",): 1}, False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a = 1\na = 2", id="a key twice"),
        pytest.param("[a]\n[a]", id="a table twice"),
        pytest.param("a = 1\n[a]", id="a table with the name of a value"),
        pytest.param("a = 1\n[a.b]", id="a table below a value"),
        pytest.param("a = 1\na.b = 2", id="a key below a value"),
        pytest.param("a.b = 1\na = 2", id="a value with the name of a table"),
        pytest.param("a.b = 1\n[a]", id="a header for a table implied by dots"),
        pytest.param("[a.b]\n[a]\nb.c = 1", id="dots into a table that has a header"),
    ],
)
def test_invalid_toml_is_not_plain(text: str) -> None:
    assert not toml_lines.read(text).is_plain


def test_the_first_of_two_values_is_used() -> None:
    assert toml_lines.read("a = 1\na = 2").values == {("a",): 1}


def test_keys_after_an_invalid_header_are_skipped() -> None:
    assert toml_lines.read("[a\nenabled = false").values == {}


@pytest.mark.parametrize("enormous", ["capture{} = 1", "[capture{}]", "[[capture{}]]"])
def test_an_enormous_key_takes_no_time_and_hides_no_other(enormous: str) -> None:
    text = f"capture.every = 7\n{enormous.format('.a' * 120_000)}\n"
    assert toml_lines.read(text).values == {("capture", "every"): 7}
