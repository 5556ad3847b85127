r"""Keeps stored text inside the frame in which a model reads it. Pure functions of the text.

Three rules make a rendered line ours:

- a field in one line (`inline`, `word`) has no line break, so that nothing in it starts a line;
- each line of a longer text (`quoted`, `labelled`, `folded`) starts with `> ` or with the name of its field;
- a tag that a client could obey gets a backslash after its bracket: `</system-reminder>` becomes
  `<\/system-reminder>`. Without that one backslash it is the stored text again.

A tag is escaped unless it is plain: one word of ASCII letters and digits that names no role or authority, as in
`<div>`, `<branch>` and `List<String>`. So new tags of clients, which are compounds such as `<system-reminder>` and
`<function_calls>`, are escaped without being listed. Look-alike brackets, invisible characters, letters of other
scripts and encoded brackets (`&lt;`, `\u003c`, `%3C`) count as what they look like.
"""

from __future__ import annotations

import functools
import json
import re

from keepmum.core.memory import KINDS

__all__ = ["escaped", "folded", "inline", "labelled", "quoted", "word"]

# Control characters, and format characters that hide or reorder text. Joiners and direction marks are kept: scripts
# need them.
_CONTROLS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff"
)
# Characters that look like `<` or `[`. Source: https://www.unicode.org/Public/security/latest/confusables.txt and the
# compatibility decompositions of Unicode, read 2026-11-22.
_ANGLES = (
    "<\u02c2\u1438\u16b2\u2039\u226e\u227a\u2329\u22d6\u276c\u276e\u2770\u27e8\u29fc\u2a79\u3008\ufe3f\ufe64\uff1c"
    "\U0001d236"
)
_CLOSING = (
    "\u02c3\u1433\u203a\u226f\u232a\u22d7\u276d\u276f\u2771\u27e9\u29fd\u2a7a\u3009\ufe40\ufe65\uff1e\u227b"  # as `>`
)
_SQUARES = r"\[\u27e6\u3010\u301a\ufe47\uff3b"
_ENCODED = r"&(?:amp;)*(?:{0}|#0*{1}|#x0*{2});?|\\(?:u00|x|U0{{6}}){2}|\\u\{{0*{2}\}}|\\0?{3}|%(?:25)*{2}"
_ANGLE = rf"[{_ANGLES}]|" + _ENCODED.format("(?:lt|nvlt|lang|langle|leftanglebracket)", "60", "3c", "74")
_SQUARE = rf"[{_SQUARES}]|" + _ENCODED.format("(?:lsqb|lbrack)", "91", "5b", "133")
_FOREIGN = rf"[^\x00-\x7f\w\s{_ANGLES}{_CLOSING}{_SQUARES}]"  # marks, symbols and invisible characters beyond ASCII
_ENTITY = rf"(?!{_ANGLE}|{_SQUARE}|&(?:amp;)*(?:gt|#0*62|#x0*3e))&#?\w{{1,10}};"

_HIDDEN = re.compile(f"[{_CONTROLS}]")
_SUSPECT = re.compile(rf"[{_ANGLES}{_SQUARES}{_CONTROLS}&%\\]")
_SUSPECT_ASCII = re.compile(r"[\x00-\x08\x0b-\x1f\x7f<\[&%\\]")
_MARKUP = re.compile(
    rf"(?:(?P<angle>{_ANGLE})|(?P<square>{_SQUARE}))\\*+(?P<between>(?:\s|{_FOREIGN}|{_ENTITY}|[/|])*+)"
    rf"(?P<name>[!?](?=[a-z[-])|[^\W\d](?:[\w.:-]|{_FOREIGN}|{_ENTITY})*+|)",
    re.IGNORECASE,
)
_PLAIN_WORD = re.compile(r"[\w.@+/:~-]+")
_ENDS = re.compile(r"[\s/>|&\\%=]|[^\x00-\x7f]|$")  # after the name of a tag
_CLOSES = re.compile(  # after a name that may be a variable: the end of a tag, perhaps encoded, or an attribute
    r"(?:\s++[\w-]++)?\s*+/?\s*+(?:[>|]|[^\x00-\x7f\w\s])|&(?:amp;)*(?:gt|#)|\\[ux]|%3e|\s++[\w:-]++\s*+=",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"\s++[\w:-]++\s*+=|\s*+/")
_AUTHORITY = re.compile(
    r"admin|agent|alert|allow|anthropic|answer|antml|approv|argument|assist|attach|authori|chat|claude|codex|command"
    r"|context|conversation|copilot|critical|cursor|developer|directive|document|endof|environ|exec|function|gemini"
    r"|gpt|guard|history|hook|human|identity|important|instruct|interrupt|invo[ck]|keepmum|knowledge|memor|message"
    r"|notic|notif|obey|observation|openai|opencode|operator|output|overrid|parameter|permission|persona|polic"
    r"|priorit|privileg|prompt|reason|recall|remind|respons|result|role|safety|secret|skill|stderr|stdin|stdout|sudo"
    r"|supervis|system|task|think|thought|tool|transcript|trust|urgent|user|verified|warning"
    r"|(?:^|_)turn(?:$|_)|^(?:[besu]os|begin|call|end|event|example|goal|im|inst|mcp|mode"
    r"|note|objective|owner|pad|plan|request|root|rules?|s|start|sys|unk)$"
)
_SPEAKER = re.compile(r"antml|assist|call|human|instruct|keepmum|prompt|remind|result|system")  # also in `<SystemNote>`
_ROLES = frozenset({"assistant", "human", "inst", "system"})  # in square brackets, in any case
_CAMEL = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)*")  # types and components, as in `List<User>` and `<UserMenu>`
_WIDE = re.compile("[\u2e80-\u3163\u3165-\ufdff]+")  # Chinese, Japanese and Korean, which have titles in such brackets
_FACTS = re.compile(  # as an index line has them after the title
    rf"\((?=\\*\s*(?:(?i:mem_)\w+\s*,|[^\s(),]{{1,60}}+\s*+,\s*(?i:{'|'.join(KINDS)})\s*,))"
)


def escaped(text: str) -> str:
    """`text` without hidden characters, and with a backslash in each tag that a client could obey."""
    if (_SUSPECT_ASCII if text.isascii() else _SUSPECT).search(text):
        text = _without_markup(_HIDDEN.sub("", text))
    return _FACTS.sub(lambda _: "(\\", text) if "(" in text else text


def inline(text: str) -> str:
    """`text` in one line, escaped."""
    return escaped(" ".join(text.split()))


@functools.lru_cache(maxsize=1024)  # names and tags recur
def word(text: str) -> str:
    """A name, key or tag, escaped and in one line; in quotes when it could be read as more than one word."""
    return text if _PLAIN_WORD.fullmatch(text) else json.dumps(inline(text), ensure_ascii=False)


def quoted(text: str) -> str:
    """`text` with `> ` before each line, escaped."""
    return "> " + "\n> ".join(_lines(text))


def labelled(label: str, text: str) -> str:
    """`text` with its label before each line, escaped."""
    return f"{label}: " + f"\n{label}: ".join(_lines(text))


def folded(text: str) -> str:
    """`text` to follow something in its line: escaped, with `> ` before each line but the first."""
    return "\n> ".join(_lines(text))


def _lines(text: str) -> list[str]:
    if "\n" not in text and text.isascii() and text.isprintable():
        return [escaped(text)]
    # The separators of Unicode are line breaks for some readers.
    return escaped("\n".join(text.splitlines())).split("\n")


def _without_markup(text: str) -> str:
    pieces, done, after = [], 0, 0
    for suspect in (_SUSPECT_ASCII if text.isascii() else _SUSPECT).finditer(text):
        if suspect.start() < after or (found := _MARKUP.match(text, suspect.start())) is None:
            continue
        after = found.end()
        if _is_role(found) if found["square"] else _is_tag(found):
            bracket = found.end("square") if found["square"] else found.end("angle")
            pieces.append(text[done:bracket])
            done = bracket
    return "\\".join([*pieces, text[done:]])


def _is_role(found: re.Match[str]) -> bool:
    """Whether square brackets name a role or a part of a chat, as in `[INST]`."""
    name = found["name"]
    if name.casefold() == "inst":
        return True
    if _in_expression(found) or _WIDE.fullmatch(name):
        return False
    if _is_foreign(found):  # look-alikes of capitals
        return name.isupper() and len(name) > 1
    return name.casefold() in _ROLES or (name.isupper() and _has_authority(name))


def _is_tag(found: re.Match[str]) -> bool:
    """Whether a client or a model could take an angle bracket and a name for a tag with authority."""
    name, between = found["name"], found["between"]
    if not between and name.isascii() and name.isalnum() and not _has_authority(name):  # most code
        return False
    if _WIDE.fullmatch(name) or not (name or "&" in between):
        return False
    marks = between.replace(" ", "").replace("\n", "")
    if between[-1:].isspace() and marks in {"", "|"}:  # more likely a comparison or an operator
        other_letters = any(char > "\u024f" for char in name)
        suspicious = _is_compound(name) or _has_authority(name) or _is_foreign(found)
        return other_letters or (suspicious and _followed_by(_CLOSES, found))
    if _is_foreign(found) or "|" in marks or name in {"!", "?"}:
        return True
    if _in_expression(found) and not marks and "-" not in name:
        is_type = _CAMEL.fullmatch(name) and not _followed_by(_ATTRIBUTE, found)
        return _has_authority(name) and not is_type and _followed_by(_CLOSES, found)
    is_component = _CAMEL.fullmatch(name) and not name[1:].islower() and not _SPEAKER.search(name.casefold())
    return _is_compound(name) or (_has_authority(name) and not is_component and _followed_by(_ENDS, found))


def _is_compound(name: str) -> bool:
    return not name.replace(".", "").isalnum()


def _is_foreign(found: re.Match[str]) -> bool:
    """Whether anything before the end of the name is neither ASCII nor white space, or is encoded."""
    written = "".join(found["between"].split()) + found["name"]
    return not written.isascii() or "&" in written


def _in_expression(found: re.Match[str]) -> bool:
    """Whether the bracket is not a look-alike and directly follows a name, as in `List<String>` and `rows[USER]`."""
    before = found.string[found.start() - 1] if found.start() else ""
    return found[0][0] in "<[" and before.isascii() and (before.isalnum() or before == "_")


@functools.lru_cache(maxsize=1024)  # names of types recur
def _has_authority(name: str) -> bool:
    return _AUTHORITY.search(name.casefold()) is not None


def _followed_by(pattern: re.Pattern[str], found: re.Match[str]) -> bool:
    return pattern.match(found.string, found.end()) is not None
