"""The one door to expressions: nothing is compiled before it is used."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import keepmum_scanner
from keepmum_scanner import expressions
from keepmum_scanner.expressions import compiled

SOURCES = {
    module.name: importlib.import_module(f"keepmum_scanner.{module.name}")
    for module in pkgutil.iter_modules(keepmum_scanner.__path__)
}


def test_an_expression_finds_what_re_finds() -> None:
    text = "Blue pool, blue POOL"
    found = [match.span() for match in compiled(r"(?i)blue (?P<what>pool)").finditer(text)]
    assert found == [match.span() for match in re.finditer(r"blue pool", text, re.IGNORECASE)]


def test_an_expression_is_one_object_however_often_it_is_asked_for() -> None:
    assert compiled(r"asked for (twice)") is compiled(r"asked for (twice)")


def test_an_expression_is_compiled_by_its_first_call_and_not_before() -> None:
    broken = compiled(r"(never closed")
    with pytest.raises(re.error):
        broken.search("anything")
    del expressions._known[r"(never closed"]


def test_every_expression_of_the_scanner_compiles() -> None:
    assert "structure" in SOURCES
    rules = [expression for _, _, expression in SOURCES["structure"].RULES]
    known = [expression for expression in expressions._known if expression != r"(never closed"]
    assert len({*known, *rules}) > 50
    for expression in {*known, *rules}:
        re.compile(expression)


@pytest.mark.parametrize("name", sorted(set(SOURCES) - {"expressions", "detect_secrets_opinion"}))
def test_no_module_compiles_past_the_door(name: str) -> None:
    path = SOURCES[name].__file__
    assert path is not None
    with open(path, encoding="utf-8") as file:
        assert "re.compile" not in file.read()
