from __future__ import annotations

import sys
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepmum.workspace import toml_edit, toml_file

STRINGS = st.text(st.characters(exclude_categories=["Cs"]))
TABLES = st.dictionaries(STRINGS, st.dictionaries(STRINGS, STRINGS, min_size=1), max_size=3)


@pytest.fixture(params=["tomli-w", "no package"])
def writer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a test with and without tomli-w."""
    if request.param == "no package":
        monkeypatch.setitem(sys.modules, "tomli_w", None)


@pytest.mark.usefixtures("writer")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TABLES)
def test_a_rendered_file_is_read_back(tables: dict[str, dict[str, str]]) -> None:
    assert tomllib.loads(toml_file.render(tables)) == tables


@pytest.mark.usefixtures("writer")
def test_a_file_of_keys_has_one_table_per_server() -> None:
    text = toml_file.render({"https://a.example": {"key": "k"}, "b": {"key": "l"}})
    assert text == '["https://a.example"]\nkey = "k"\n\n[b]\nkey = "l"\n'


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param("a = 1\r\n[t]\r\nb = 2\r\n", {"a": 1, "t.b": 3}, id="Windows line ends"),
        pytest.param('a = """\nb = 1\n"""\nc = 2\n', {"a": 1, "c": 4}, id="a line inside a string is no key"),
        pytest.param("t = { a = 1 }\nb = [\n 1,\n]\nc = 1", {"t.a": 1, "b": 2, "c": 5}),
        pytest.param("[[x]]\na = 1\n[[x]]\n", {"x": 1}, id="array of tables"),
    ],
)
def test_line_numbers(text: str, lines: dict[str, int]) -> None:
    assert toml_file.parse("p", text).lines == lines


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("a.b = 1\n", "a.b = 1\nx = 2\n", id="below the last value above the tables"),
        pytest.param("# c\n[t]\n", "x = 2\n# c\n[t]\n", id="no value above the tables"),
        pytest.param("[t]\nx = 1", "x = 2\n[t]\nx = 1", id="no final line end"),
    ],
)
def test_a_new_value_outside_tables(before: str, after: str) -> None:
    assert toml_edit.set_value(before, ("x",), 2) == after


@pytest.mark.parametrize(
    "text", ["t = { x = 1 }\n", "[[t]]\nx = 1\n", "[t.x]\na = 1\n"], ids=["inline table", "array", "table"]
)
def test_a_value_that_cannot_be_set_safely_is_refused(text: str) -> None:
    with pytest.raises(toml_edit.NotEditable):
        toml_edit.set_value(text, ("t", "x"), 2)
