"""Hypothesis strategies for JSON settings files in every layout."""

from __future__ import annotations

import json

from hypothesis import strategies as st

__all__ = ["commented_documents", "comments_in", "documents", "without_comments"]

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


COMMENTS = st.one_of(
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=8).map(
        lambda text: f"//{text}\n"
    ),
    st.text(st.characters(exclude_characters="*", exclude_categories=["Cs"]), max_size=8).map(
        lambda text: f"/*{text}*/"
    ),
    # Our own keys and JSON's own signs, in a comment.
    st.sampled_from(['// "keepmum": {\n', '/* "on": true, */', "// }\r\n", "/**/", "/* // */", "// */\n", '//"\n']),
)
TRIVIA = st.lists(st.one_of(SPACE, COMMENTS), max_size=3).map("".join)


@st.composite
def _commented(draw: st.DrawFn, depth: int = 3, kind: str = "") -> str:
    """The text of a JSON value with comments and trailing commas."""
    kind = kind or (draw(st.sampled_from(["scalar", "array", "object", "object"])) if depth else "scalar")
    if kind == "scalar":
        return draw(st.one_of(SCALAR_TEXTS, st.sampled_from(['"// no comment"', '"/*"', '"\\"//"', '",}"'])))
    inner = draw(st.lists(_commented(depth=depth - 1), max_size=3))
    if kind == "object":
        inner = [
            json.dumps(draw(KEYS), ensure_ascii=draw(st.booleans())) + draw(TRIVIA) + ":" + draw(TRIVIA) + value
            for value in inner
        ]
    opening, closing = "{}" if kind == "object" else "[]"
    body = ",".join(draw(TRIVIA) + item + draw(TRIVIA) for item in inner) if inner else draw(TRIVIA)
    last = draw(st.one_of(st.just(""), TRIVIA.map(lambda trivia: f",{trivia}")))
    return opening + body + (last if inner else "") + closing


@st.composite
def commented_documents(draw: st.DrawFn) -> str:
    """The text of a settings file with comments: an object at its root, or nothing but comments."""
    mark = draw(st.sampled_from(["", "\ufeff"]))
    if draw(st.integers(0, 9)) == 0:
        return mark + draw(TRIVIA)
    return mark + draw(TRIVIA) + draw(_commented(kind="object")) + draw(TRIVIA)


def without_comments(text: str) -> str:
    """Plain JSON, written independently of the program: one character after the other."""
    out: list[str] = []
    at, text = 0, text.removeprefix("\ufeff")
    while at < len(text):
        if text[at] == '"':
            end = at + 1
            while text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            out.append(text[at : end + 1])
            at = end + 1
        elif text.startswith("//", at):
            while at < len(text) and text[at] not in "\r\n":
                at += 1
        elif text.startswith("/*", at):
            at = text.index("*/", at + 2) + 2
        else:
            last = next((i for i in range(len(out) - 1, -1, -1) if out[i].strip()), -1)
            if text[at] in "}]" and last >= 0 and out[last] == ",":
                out[last] = " "
            out.append(text[at])
            at += 1
    return "".join(out)


def comments_in(text: str) -> list[str]:
    """The comments of the text, in order."""
    found, at = [], 0
    while at < len(text):
        start = at
        if text[at] == '"':
            at += 1
            while text[at] != '"':
                at += 2 if text[at] == "\\" else 1
            at += 1
        elif text.startswith("//", at):
            while at < len(text) and text[at] not in "\r\n":
                at += 1
            found.append(text[start:at])
        elif text.startswith("/*", at):
            at = text.index("*/", at + 2) + 2
            found.append(text[start:at])
        else:
            at += 1
    return found
