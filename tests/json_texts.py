"""Hypothesis strategies for JSON settings files in every layout."""

from __future__ import annotations

import json

from hypothesis import strategies as st

__all__ = ["documents"]

SPACE = st.text(" \t\n\r", max_size=4)
KEYS = st.one_of(st.sampled_from(["extra", "keepmum", "on", "keepmum@keepmum", "x", ""]), st.text(max_size=5))
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
)
# Spellings that json.dumps never produces; the first has more digits than Python converts.
ODD_NUMBERS = st.sampled_from(["1" + "0" * 5000, "-0", "1E+2", "0.10"])
SCALAR_TEXTS = st.one_of(SCALARS.map(json.dumps), ODD_NUMBERS)


@st.composite
def _texts(draw: st.DrawFn, depth: int = 3, kind: str = "") -> str:
    """The text of a JSON value in any layout that the grammar allows."""
    kind = kind or (draw(st.sampled_from(["scalar", "array", "object", "object"])) if depth else "scalar")
    if kind == "scalar":
        return draw(SCALAR_TEXTS)
    inner = draw(st.lists(_texts(depth=depth - 1), max_size=3))
    if kind == "object":
        inner = [
            json.dumps(draw(KEYS), ensure_ascii=draw(st.booleans())) + draw(SPACE) + ":" + draw(SPACE) + value
            for value in inner
        ]
    opening, closing = "{}" if kind == "object" else "[]"
    body = ",".join(draw(SPACE) + item + draw(SPACE) for item in inner) if inner else draw(SPACE)
    return opening + body + closing


@st.composite
def documents(draw: st.DrawFn) -> str:
    """The text of a settings file: empty, or with an object at its root."""
    mark = draw(st.sampled_from(["", "\ufeff"]))
    if draw(st.integers(0, 9)) == 0:
        return mark + draw(SPACE)
    if draw(st.booleans()):
        value = draw(st.dictionaries(KEYS, st.dictionaries(KEYS, SCALARS), max_size=4))
        indent = draw(st.sampled_from([None, 1, 2, 4, 8, "\t"]))
        text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
        return mark + text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))) + draw(SPACE)
    return mark + draw(SPACE) + draw(_texts(kind="object")) + draw(SPACE)
