"""JSON by the private module, and by the json package when the private one is missing."""

from __future__ import annotations

import json
import sys

import pytest

from keepmum_hooks import payload

OBJECTS = [
    pytest.param(b"{}", {}, id="empty"),
    pytest.param(b' {"a": [1, -2.5e3, true, null, "\\u00e9"]} \r\n', {"a": [1, -2500.0, True, None, "é"]}, id="all"),
    pytest.param(b'\xef\xbb\xbf{"a": 1}', {"a": 1}, id="byte order mark"),
    pytest.param('{"ключ": "значение"}'.encode(), {"ключ": "значение"}, id="not ASCII"),
    pytest.param(b'{"a": "\\ud800"}', {"a": "\ud800"}, id="lone surrogate"),
]
OTHERS = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"  ", id="blank"),
    pytest.param(b"[]", id="a list"),
    pytest.param(b'"text"', id="a text"),
    pytest.param(b"{", id="truncated"),
    pytest.param(b'{"a": 1} {"b": 2}', id="two objects"),
    pytest.param(b"\xff\xfe{}", id="not UTF-8"),
    pytest.param(b'{"a":' * 100_000, id="too deeply nested"),
    pytest.param(b'{"a": ' + b"9" * 5000 + b"x}", id="invalid number"),
]


@pytest.fixture(params=["private module", "json"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both parsers: CPython's private module, and the json package."""
    if request.param == "json":
        monkeypatch.setitem(sys.modules, "_json", None)


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(("raw", "content"), OBJECTS)
def test_an_object_is_parsed(raw: bytes, content: dict[str, object]) -> None:
    assert payload.parse(raw) == content


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("raw", OTHERS)
def test_anything_else_is_none(raw: bytes) -> None:
    assert payload.parse(raw) is None


def test_the_private_module_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(_: str) -> object:
        pytest.fail("the json package was used")

    monkeypatch.setattr(payload, "_parse_slowly", unwanted)
    assert payload.parse(b'{"a": 1}') == {"a": 1}


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("text", ["", "plain", 'quote " and \\', "line\nend", "é \U0001f600", "\ud800", "\0"])
def test_a_quoted_text_round_trips(text: str) -> None:
    assert json.loads(payload.quote(text)) == text
