"""The files, lines and names of code that a text mentions. Whether they exist is for the caller to check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Mention", "mentions"]

_LONGEST_TEXT = 20_000  # characters that are read
_MOST = 64  # mentions, the first ones
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://\S+|\b[\w.-]{1,64}@[\w.-]{1,100}\.\w+", re.IGNORECASE)
_NAME = r"[A-Za-z_$][\w$]*"
_QUALIFIED = rf"{_NAME}(?:(?:\.|::|\#){_NAME})*"
_SEGMENT = r"[\w@+$\[\]-][\w.@+$\[\]-]{0,100}"
_PATH = re.compile(
    r"(?<![\w/\\.@:$~-])"
    rf"(?P<path>(?:\.{{1,2}}/)*(?:{_SEGMENT}/){{1,20}}{_SEGMENT}"
    r"|[\w@+-][\w.@+-]{0,100}\.[A-Za-z][A-Za-z0-9]{0,7}(?!\w|\.\w))"
    r"(?:(?:\#L|:|\(|,?[ ]\(?(?:at[ ])?lines?[ ])(?P<line>\d{1,6})(?:[-\u2013:,]L?\d+)?\)?"
    rf"|(?:::|:|\#)(?P<symbol>{_QUALIFIED}))?"
)
_QUOTED = re.compile(r"`([^`\n]{2,200})`")
_KEYWORD = r"(?:(?:async|def|class|func|fn|function|interface|struct|enum|type|const|new)\s+)?"
_SYMBOL = re.compile(rf"{_KEYWORD}({_QUALIFIED})(?P<call>\(.*\)?)?[!;:]?")
_SNAKE, _CAMEL, _PASCAL = (
    r"_*[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+",
    r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+",
    r"(?:[A-Z][a-z0-9]+){2,}",
)
_CODE_LIKE = re.compile(
    rf"(?<![\w.$/@#-])(?:(?P<called>{_QUALIFIED})\(\)"
    r"|(?P<qualified>[A-Za-z_]\w*(?:(?:\.|::|\#)[A-Za-z_]\w*)+)"
    rf"|(?P<plain>{_SNAKE}|{_CAMEL}|{_PASCAL}))(?![\w/$])"
)


class Mention(NamedTuple):
    """Something in code that a text mentions: a file, a line of it, a name, or a name in it."""

    path: str = ""  # as written, without "./"; "" when only a name is mentioned
    symbol: str = ""  # "Store.get"; "" when only a file is mentioned
    line: int = 0  # 0 when none is mentioned
    is_explicit: bool = True  # False for a name that could be an ordinary word where it stands


def mentions(text: str) -> tuple[Mention, ...]:
    """What `text` mentions, each once, in order; names written as code before those in prose."""
    text = _URL.sub(" ", text[:_LONGEST_TEXT])
    found = dict.fromkeys([*_paths(text), *_names(text)])
    return tuple(found)[:_MOST]


def _paths(text: str) -> Iterator[Mention]:
    for match in _PATH.finditer(text):
        path = match["path"].rstrip(".")
        while path.startswith(("./", "../")):
            path = path.partition("/")[2]
        yield Mention(path, _dotted(match["symbol"] or ""), int(match["line"] or 0))


def _names(text: str) -> Iterator[Mention]:
    """Names in backticks, and identifiers outside them that no prose has."""
    for quoted in _QUOTED.finditer(text):
        match = _SYMBOL.fullmatch(quoted[1].strip())
        if match is not None:
            name = _dotted(match[1])
            yield Mention(symbol=name, is_explicit=bool(match["call"]) or _is_distinctive(name))
    for match in _CODE_LIKE.finditer(_QUOTED.sub(" ", text)):
        name = _dotted(match[match.lastgroup or 0])
        # A name such as "PostgreSQL" or "GitHub" is prose, also where a class has it.
        is_class = match.lastgroup == "plain" and name[0].isupper() and "_" not in name
        yield Mention(symbol=name, is_explicit=not is_class)


def _is_distinctive(name: str) -> bool:
    """Whether a name in backticks can hardly be anything but an identifier of code."""
    return len(name) > 3 and (
        "." in name or "_" in name.strip("_") or not (name.islower() or name.isupper() or name.istitle())
    )


def _dotted(name: str) -> str:
    return re.sub("::|#", ".", name)
