"""The one door to expressions: nothing is compiled before it is used."""

from __future__ import annotations

import importlib
import marshal
import pkgutil
import re

import pytest

import keepmum_scanner
from keepmum_scanner import expressions
from keepmum_scanner.expression_codes import codes_of
from keepmum_scanner.expressions import compiled, restored

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
    del expressions._patterns[r"(never closed"]


def test_every_expression_of_the_scanner_compiles() -> None:
    assert len(expressions_of_the_scanner()) > 50
    for expression in expressions_of_the_scanner():
        re.compile(expression)


def expressions_of_the_scanner() -> list[str]:
    rules = [rule[-1] for rule in SOURCES["structure"].RULES]
    return [*{*expressions._patterns, *rules} - {r"(never closed"}]


def test_every_expression_of_the_scanner_has_a_code_that_makes_the_same_pattern() -> None:
    codes = codes_of(expressions_of_the_scanner())
    assert sorted(codes) == sorted(expressions_of_the_scanner())
    for expression, code in codes.items():
        assert restored(expression, code) == re.compile(expression)
        assert restored(expression, code).groupindex == re.compile(expression).groupindex


def test_a_code_survives_its_way_to_another_process() -> None:
    code = codes_of([r"(?i)\b(?P<word>[a-zäöü]+)-\d{2,4}"])
    (expression, again), *_ = marshal.loads(marshal.dumps(code)).items()
    match = restored(expression, again).search("see KÖLN-17")
    assert match is not None
    assert match["word"] == "KÖLN"


def test_an_expression_that_does_not_compile_has_no_code() -> None:
    assert codes_of([r"(never closed", r"fine"]).keys() == {r"fine"}


def test_a_recalled_code_is_used_instead_of_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = codes_of([r"recalled [a-z]+"])
    monkeypatch.setattr(expressions, "_codes", {})
    expressions.load_codes(codes)
    monkeypatch.setattr(re, "compile", None)
    assert compiled(r"recalled [a-z]+").search("it was recalled here")


@pytest.mark.parametrize(
    "numbers",
    [pytest.param(b"\xff" * 40, id="no code"), pytest.param(b"\0", id="odd"), pytest.param(b"", id="nothing")],
)
def test_a_code_that_the_interpreter_does_not_take_is_compiled_instead(
    numbers: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expressions, "_codes", {})
    expression = rf"damaged {len(numbers)} [a-z]+"
    expressions.load_codes({expression: (0, numbers, 0, {}, (None,))})
    assert compiled(expression).search(f"damaged {len(numbers)} code")


def test_expressions_that_a_process_compiled_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expressions, "_patterns", {})
    compiled(r"never used")
    compiled(r"used on[c]e").search("")
    assert expressions.newly_compiled() == [r"used on[c]e"]


@pytest.mark.parametrize("name", sorted(set(SOURCES) - {"expressions", "expression_codes", "detect_secrets_opinion"}))
def test_no_module_compiles_past_the_door(name: str) -> None:
    path = SOURCES[name].__file__
    assert path is not None
    with open(path, encoding="utf-8") as file:
        assert "re.compile" not in file.read()
