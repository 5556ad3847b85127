"""Regular expressions are compiled on first use, or loaded from codes."""

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


def test_an_expression_matches_like_re() -> None:
    text = "Blue pool, blue POOL"
    found = [match.span() for match in compiled(r"(?i)blue (?P<what>pool)").finditer(text)]
    assert found == [match.span() for match in re.finditer(r"blue pool", text, re.IGNORECASE)]


def test_the_same_expression_is_the_same_object() -> None:
    assert compiled(r"compiled (twice)") is compiled(r"compiled (twice)")


def test_an_expression_is_compiled_at_the_first_call() -> None:
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


def test_the_code_of_every_expression_gives_the_same_pattern() -> None:
    codes = codes_of(expressions_of_the_scanner())
    assert sorted(codes) == sorted(expressions_of_the_scanner())
    for expression, code in codes.items():
        assert restored(expression, code) == re.compile(expression)
        assert restored(expression, code).groupindex == re.compile(expression).groupindex


def test_a_code_can_be_marshalled() -> None:
    code = codes_of([r"(?i)\b(?P<word>[a-zäöü]+)-\d{2,4}"])
    (expression, loaded), *_ = marshal.loads(marshal.dumps(code)).items()
    match = restored(expression, loaded).search("see KÖLN-17")
    assert match is not None
    assert match["word"] == "KÖLN"


def test_an_expression_that_does_not_compile_has_no_code() -> None:
    assert codes_of([r"(never closed", r"fine"]).keys() == {r"fine"}


def test_a_loaded_code_is_used_instead_of_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = codes_of([r"loaded [a-z]+"])
    monkeypatch.setattr(expressions, "_codes", {})
    expressions.load_codes(codes)
    monkeypatch.setattr(re, "compile", None)
    assert compiled(r"loaded [a-z]+").search("it was loaded here")


@pytest.mark.parametrize(
    "numbers",
    [pytest.param(b"\xff" * 40, id="no code"), pytest.param(b"\0", id="odd"), pytest.param(b"", id="nothing")],
)
def test_an_expression_with_an_invalid_code_is_compiled(numbers: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expressions, "_codes", {})
    expression = rf"damaged {len(numbers)} [a-z]+"
    expressions.load_codes({expression: (0, numbers, 0, {}, (None,))})
    assert compiled(expression).search(f"damaged {len(numbers)} code")


def test_newly_compiled_lists_the_expressions_that_were_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expressions, "_patterns", {})
    compiled(r"never used")
    compiled(r"used on[c]e").search("")
    assert expressions.newly_compiled() == [r"used on[c]e"]


@pytest.mark.parametrize("name", sorted(set(SOURCES) - {"expressions", "expression_codes", "detect_secrets_opinion"}))
def test_no_other_module_calls_re_compile(name: str) -> None:
    path = SOURCES[name].__file__
    assert path is not None
    with open(path, encoding="utf-8") as file:
        assert "re.compile" not in file.read()
