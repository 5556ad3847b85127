"""Definitions in JavaScript, TypeScript, Go, Rust and Java, whose bodies are in brackets."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from keepmum.core.citations.definition import Definition, Lines, Parsed

__all__ = ["LANGUAGES", "Language", "parse"]


@dataclass(frozen=True, slots=True)
class Language:
    """How the definitions of a language are recognised, in a text whose comments and strings are blanked.

    `heads` matches the start of a definition, with its name in a group that tells its kind:
    `block`: a function or class, ended by its body in braces or a semicolon; `method`: the same, but only directly in a
    class; `value`: a constant, type or field, ended with its statement; `scope`: names its content without being a
    definition, such as `impl Store`; `group`: contains definitions without naming them, such as `const (`.
    """

    strings: str
    heads: re.Pattern[str]
    ends_at_line: bool  # whether a statement may end without a semicolon
    owner: str = ""  # the group with the type that a method belongs to


_COMMENTS = r"(?P<comment>//[^\n]*|/\*.*?\*/)"
_DOUBLE = r'"(?:[^"\\\n]|\\.)*+"'
_SINGLE = r"'(?:[^'\\\n]|\\.)*+'"
_PLAIN_TEMPLATE = r"`(?:[^`\\]|\\.)*+`"
_INSERTED = rf"\$\{{(?:[^`{{}}]|{_PLAIN_TEMPLATE}|\{{[^`{{}}]*+\}})*+\}}"
_TEMPLATE = rf"`(?:[^`\\$]|\\.|\$(?!\{{)|{_INSERTED})*+`|{_PLAIN_TEMPLATE}"
_REGEX = r"(?:(?<=[=(,:\[!&|?{};\n])[ \t]*|(?<=return)[ \t]+)/(?![*/])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*+\])++/"

_DECORATED = r"^[ \t]*+(?:@\w[\w.]*+(?:\([^()\n]*+\))?[ \t]++)*+"
_SCRIPT = re.compile(
    _DECORATED + r"(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:"
    r"(?:async[ \t]+)?function[ \t]*+\*?[ \t]*+(?P<block>[\w$]+)"
    r"|(?:abstract[ \t]+)?class[ \t]+(?P<class_block>[\w$]+)"
    r"|(?:const[ \t]+)?(?:enum|interface|namespace|module)[ \t]+(?P<other_block>[\w$]+)"
    r"|type[ \t]+(?P<type_value>[\w$]+)[^=;\n]*="
    r"|(?:const|let|var)[ \t]+(?P<value>[\w$]+)[ \t]*[:=]"
    r"|(?:(?:public|private|protected|static|readonly|override|accessor)[ \t]+)*(?P<field_value>\#?[\w$]+)[ \t]*[?!]?"
    r"(?::[^=;\n]+)?=(?![=>])"
    r"|(?:(?:public|private|protected|static|abstract|override|async|get|set)[ \t]+)*\*?[ \t]*+"
    r"(?P<method>\#?[\w$]+)[ \t]*\??(?:<[^\n(]*>)?\("
    r")",
    re.MULTILINE,
)
_GO = re.compile(
    r"^(?:func[ \t]+(?:\([ \t]*(?:\w+[ \t]+)?\*?(?P<owner>\w+)(?:\[[^\]\n]*\])?[ \t]*\)[ \t]*)?(?P<block>\w+)"
    r"|(?:type|const|var)[ \t]*(?P<group>\()"
    r"|(?:type|const|var)[ \t]+(?P<value>\w+)"
    r"|\t(?P<field_value>\w+)(?=[ \t]|,|\n))",
    re.MULTILINE,
)
_RUST = re.compile(
    r"^[ \t]*+(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:"
    r'(?:(?:default|const|async|unsafe|extern(?:[ \t]+"+)?)[ \t]+)*fn[ \t]+(?P<block>\w+)'
    r"|(?:unsafe[ \t]+)?(?:struct|enum|union|trait|mod)[ \t]+(?P<other_block>\w+)"
    r"|macro_rules![ \t]*(?P<macro_block>\w+)"
    r"|(?:const|static(?:[ \t]+mut)?|type)[ \t]+(?P<value>\w+)"
    r"|(?:unsafe[ \t]+)?impl\b[ \t]*(?:<[^{;]{0,500}?>[ \t]+)?(?:[^{;]{0,500}?\bfor[ \t]+)?&?(?:\w+::)*(?P<scope>\w+)"
    r")",
    re.MULTILINE,
)
_JAVA = re.compile(
    _DECORATED
    + r"(?:(?:public|protected|private|static|final|abstract|synchronized|native|default|sealed|non-sealed|strictfp"
    r"|transient|volatile)[ \t]+)*(?:"
    r"(?:class|enum|record|@?interface)[ \t]+(?P<block>\w+)"
    r"|(?:<[^\n(]+>[ \t]+)?[\w.]+(?:<[^\n(){};=]*>)?(?:\[\])*[ \t]+(?P<value>\w+)[ \t]*="
    r"|(?:<[^\n(]+>[ \t]+)?(?:[\w.]+(?:<[^\n(){};=]*>)?(?:\[\])*[ \t]+)?(?P<method>\w+)[ \t]*\("
    r")",
    re.MULTILINE,
)
_JAVASCRIPT = Language(f"{_DOUBLE}|{_SINGLE}|{_TEMPLATE}|{_REGEX}", _SCRIPT, ends_at_line=True)
LANGUAGES: Mapping[str, Language] = {
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"), _JAVASCRIPT),
    "go": Language(f"{_DOUBLE}|{_SINGLE}|`[^`]*`", _GO, ends_at_line=True, owner="owner"),
    # A lifetime such as 'a has no second quote.
    "rs": Language(
        r'r(?P<hashes>\#+)".*?"(?P=hashes)|r"[^"]*"|"(?:[^"\\]|\\.)*+"' r"|'(?:[^'\\\n]|\\[^\n']*.)'",
        _RUST,
        ends_at_line=False,
    ),
    "java": Language(r'"""(?:[^"\\]|\\.|"(?!""))*+"""|' + _DOUBLE + "|" + _SINGLE, _JAVA, ends_at_line=False),
}
_KEYWORDS = frozenset(
    "assert await case catch delete do else for if import in new return super switch this throw typeof using var"
    " while with yield".split()
)
_BRACKET = re.compile(r"[(){}\[\]]")
_ATTRIBUTE = re.compile(r"^[ \t]*+(?:@[\w.]+|#!?(?=\[))", re.MULTILINE)
_STRUCTURE = re.compile(r"[(){}\[\];]")
_STEP = re.compile(r"[(){}\[\];\n]")
_BODY_FOLLOWS = re.compile(r"[ \t]*[{|&>,)=\[]")  # the braces before were part of a type
_HAS_BODY = re.compile(r"\s*(?:throws\b|default\b|:|;|\{)")
_CONTINUES = re.compile(r"\s{0,200}(?:[{.?:|&+*/%<>=,)\]-]|\Z)")
_UNFINISHED = tuple("=(,|&+*/%?:<>.-")  # what a line ends with whose statement goes on
_LONGEST_HEAD = 2_000  # characters before a body
_DEEPEST = 20  # levels of definitions; a hostile file has thousands, with names as long


def parse(text: str, language: Language) -> Parsed:
    """The definitions of a file."""
    blanked, uncommented = _blank(text, _tokens(language))
    return Parsed(_Parser(blanked, language).definitions(Lines(text)), uncommented, blanked)


_compiled: dict[str, re.Pattern[str]] = {}


def _tokens(language: Language) -> re.Pattern[str]:
    if language.strings not in _compiled:
        _compiled[language.strings] = re.compile(f"{_COMMENTS}|(?P<string>{language.strings})", re.DOTALL)
    return _compiled[language.strings]


def _blank(text: str, tokens: re.Pattern[str]) -> tuple[str, str]:
    """The text with comments and strings blanked, and with comments blanked only."""

    def fill(string: str) -> Callable[[re.Match[str]], str]:
        return lambda token: (string if token["comment"] is None else " ") * len(token[0])

    return tokens.sub(fill('"'), text), tokens.sub(
        lambda token: token[0] if token["comment"] is None else " " * len(token[0]), text
    )


@dataclass(slots=True)
class _Open:
    """A definition whose extent contains the current position."""

    prefix: str  # of the names in it
    end: int
    outside: int  # depth of brackets where it starts
    depth: int  # of brackets, directly inside it; -1 for one that has no body
    holds_members: bool


class _Parser:
    def __init__(self, text: str, language: Language) -> None:
        self._text, self._language = text, language
        self._partner: dict[int, int] = {}
        self._positions: list[int] = []
        self._depths: list[int] = []  # after the bracket at the same index
        open_brackets: list[int] = []
        for match in _BRACKET.finditer(text):
            position = match.start()
            if match[0] in "({[":
                open_brackets.append(position)
            elif open_brackets:
                self._partner[open_brackets.pop()] = position
            self._positions.append(position)
            self._depths.append(len(open_brackets))

    def definitions(self, lines: Lines) -> list[Definition]:
        """The definitions in order."""
        done: list[Definition] = []
        stack: list[_Open] = []
        attributes = [(match.start(), self._attribute_end(match.end())) for match in _ATTRIBUTE.finditer(self._text)]
        next_attribute, start, attached = 0, -1, -1
        for head in self._language.heads.finditer(self._text):
            position, group = head.start(), head.lastgroup or ""
            while next_attribute < len(attributes) and attributes[next_attribute][0] < position:
                first, end = attributes[next_attribute]
                if start < 0 or not self._is_blank(attached, first):
                    start = first
                attached, next_attribute = end, next_attribute + 1
            while stack and stack[-1].end <= position:
                stack.pop()
            name, kind, outside = head[group], group.rpartition("_")[2], self._depth(head.start(group))
            if (stack and outside <= stack[-1].outside) or len(stack) >= _DEEPEST:
                continue  # in the head of another definition
            extent = self._extent(head, group, kind, stack)
            if extent is None:
                continue
            end, body = extent
            begins = start if start >= 0 and attached <= position and self._is_blank(attached, position) else position
            start = -1
            prefix = f"{stack[-1].prefix}." if stack and stack[-1].prefix else ""
            owner = self._language.owner and head[self._language.owner]
            symbol = prefix + (f"{owner}." if owner else "") + ("" if kind == "group" else name)
            depth = self._depth(body + 1) if body >= 0 else -1
            holds = kind in {"scope", "group"} or group in {"class_block", "other_block"} or self._holds_members(head)
            stack.append(_Open(symbol.rstrip("."), end, outside, depth, holds))
            if kind in {"block", "method", "value"}:
                at, first, last = (lines.at(each) for each in (head.start(group), begins, max(end - 1, 0)))
                done.append(Definition(symbol, at, begins, end, first, last, is_value=kind == "value"))
        return done

    def _holds_members(self, head: re.Match[str]) -> bool:
        """Whether the body has methods; in Java that of each type has."""
        return self._language.heads is _JAVA and head.lastgroup == "block"

    def _extent(self, head: re.Match[str], group: str, kind: str, stack: list[_Open]) -> tuple[int, int] | None:
        """The end of a definition and the position of its body's bracket, or -1; None when it is not a definition."""
        name_end = head.end(group)
        if kind == "group":
            end = self._partner.get(head.start(group))
            return None if end is None else (end + 1, head.start(group))
        if kind in {"block", "scope"}:
            return self._block(name_end)
        depth = self._depth(head.start(group))
        is_member = bool(stack) and stack[-1].holds_members and stack[-1].depth == depth
        if kind == "method":
            return self._method(head) if is_member and head[group] not in _KEYWORDS else None
        if not is_member and (depth or group == "field_value"):
            return None  # a local variable, or an assignment
        end = self._statement(name_end)
        return end, self._text.find("{", name_end, end)

    def _method(self, head: re.Match[str]) -> tuple[int, int] | None:
        closing = self._partner.get(head.end() - 1)
        if closing is None or not (_HAS_BODY.match(self._text, closing + 1) or self._ends_line(closing + 1)):
            return None
        if not self._language.ends_at_line:
            return self._block(closing + 1)
        end = self._statement(closing + 1)  # an interface may have methods without body and semicolon
        return end, self._text.find("{", closing + 1, end)

    def _ends_line(self, position: int) -> bool:
        return self._language.ends_at_line and self._text[position : position + 1] in {"\n", ""}

    def _block(self, position: int) -> tuple[int, int] | None:
        """The end of a body in braces, or of the declaration without one, and the body's bracket or -1."""
        while (match := _STRUCTURE.search(self._text, position, position + _LONGEST_HEAD)) is not None:
            if match[0] in ";)}]":
                return (match.end() if match[0] == ";" else match.start()), -1
            closing = self._partner.get(match.start())
            if closing is None:
                return None
            position = closing + 1
            if match[0] == "{" and not _BODY_FOLLOWS.match(self._text, position):
                return position, match.start()
        return None

    def _statement(self, position: int) -> int:
        """The end of a statement."""
        while (match := _STEP.search(self._text, position)) is not None:
            mark, at = match[0], match.start()
            if mark == ";":
                return match.end()
            if mark in "({[":
                position = self._partner.get(at, at) + 1
            elif mark in ")}]" or self._ends_at(at):
                return at
            else:
                position = match.end()
        return len(self._text)

    def _ends_at(self, line_end: int) -> bool:
        """Whether a statement ends with this line."""
        if not self._language.ends_at_line:
            return False
        line = self._text[max(0, line_end - 200) : line_end].rstrip(" \t")
        return not line.endswith(_UNFINISHED) and not _CONTINUES.match(self._text, line_end)

    def _attribute_end(self, position: int) -> int:
        opening = self._text[position : position + 1]
        return self._partner.get(position, position) + 1 if opening in {"(", "["} else position

    def _is_blank(self, first: int, last: int) -> bool:
        return not self._text[first:last].strip()

    def _depth(self, position: int) -> int:
        index = bisect.bisect_left(self._positions, position)
        return self._depths[index - 1] if index else 0
