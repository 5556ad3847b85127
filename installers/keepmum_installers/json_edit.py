"""Set a key in another program's JSON text, and remove it again byte for byte.

Serialising a settings file again would change its order, its indentation and its diff. So a key is inserted into the
text in the style of its neighbours, and the returned `Undo` holds what is needed to remove it:
`strip(*merge(text, path, value)) == text`, which property tests verify.

Some clients read comments and trailing commas too (JSONC). There the values are looked up in a copy of the text in
which these are blanks, so that offsets are the same, and the edits are made in the text itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from keepmum_installers.errors import UneditableFile

__all__ = ["Undo", "append", "compact", "is_blank", "merge", "parse", "strip"]

_SPACE = " \t\r\n"
_BYTE_ORDER_MARK = "\ufeff"
# An unfinished string or comment is matched up to the end: searching for its end again and again would take long.
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)'
_STRING_OR_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING_OR_COMMA = re.compile(rf"{_STRING}|,(?=[ \t\r\n]*[}}\]])", re.DOTALL)
_VISIBLE = re.compile(r"[^\r\n]")
_EMPTY_OBJECT = re.compile(r"\{[ \t\r\n]*\}")


@dataclass(frozen=True, slots=True)
class Undo:
    """How to remove one key from a text."""

    path: tuple[str, ...]
    now: str
    """The value that was set, as compact JSON."""
    was: str | None = None
    """The text of the value that was replaced; None when the key was new."""
    made: int = 0
    """How many keys at the end of path were new; all but the last are objects that were created for it."""
    blank: str | None = None
    """The white space inside the object that received the new key, if it was empty before."""
    document: str | None = None
    """The whole text, if there was no JSON in it yet."""
    item: bool = False
    """Whether the value was appended to the list at path."""
    comma: bool = True
    """Whether a comma was added after the neighbour before; some texts have a trailing one."""
    lead: str | None = None
    """The white space that was added before the key; None for all that is there."""


@dataclass(frozen=True, slots=True)
class _Span:
    """One member of an object or one element of a list, as offsets in the text."""

    start: int
    value: int
    end: int
    key: str = ""


@dataclass(frozen=True, slots=True)
class _Text:
    """A text, and copies of the same length for finding values in it."""

    text: str
    bare: str
    """The text with blanks instead of comments."""
    plain: str
    """The text with blanks instead of trailing commas too: plain JSON."""

    @classmethod
    def of(cls, text: str, *, comments: bool) -> _Text:
        """The text with its copies.

        Raises: UneditableFile when it is damaged, has no object, or has comments where none are allowed.
        """
        bare = _STRING_OR_COMMENT.sub(_blank_comment, text) if comments else text
        plain = _STRING_OR_COMMA.sub(_blank_comma, bare) if comments else text
        _object_in(plain, "damaged JSON" if comments else _STRICT)
        return cls(text, bare, plain)

    @property
    def root(self) -> int:
        """Where the root object begins."""
        return _skip(self.plain, 1 if self.plain.startswith(_BYTE_ORDER_MARK) else 0)

    def value(self, span: _Span) -> object:
        return _decode(self.plain[span.value : span.end])

    def inside(self, opening: int) -> tuple[list[_Span], int]:
        """The members of the object, or the elements of the list, that begins at `opening`; and where it is closed."""
        spans, text = [], self.plain
        is_object, at = text[opening] == "{", _skip(text, opening + 1)
        while text[at] not in "}]":
            start = value = _skip(text, at + 1) if text[at] == "," else at
            key = ""
            if is_object:
                key, after_key = _DECODER.raw_decode(text, start)
                value = _skip(text, _skip(text, after_key) + 1)
            _, end = _DECODER.raw_decode(text, value)
            spans.append(_Span(start, value, end, key))
            at = _skip(text, end)
        return spans, at

    def find(self, path: Sequence[str]) -> _Span | None:
        """The last member at that path; None when there is none."""
        at, found = self.root, None
        for key in path:
            if self.plain[at] != "{":
                return None
            found = _last(self.inside(at)[0], key)
            if found is None:
                return None
            at = found.value
        return found


_STRICT = "not plain JSON (a comment, a trailing comma?)"


def merge(text: str, path: Sequence[str], value: object, *, comments: bool = False) -> tuple[str, Undo | None]:
    """The text with value at path, and how to undo it; the same text and None when it is set already.

    An empty text becomes a document. Of a duplicate key the last one counts, as for every reader. `comments` allows
    comments and trailing commas.

    Raises: UneditableFile when the text is damaged, or has another value than an object along the path.
    """
    now = compact(value)
    if is_blank(text, comments=comments):
        return _new_document(text, path, value), Undo(tuple(path), now, made=len(path), document=text)
    whole = _Text.of(text, comments=comments)
    at = whole.root
    for depth, key in enumerate(path):
        if whole.plain[at] != "{":
            raise UneditableFile(_line(text, at), f'"{path[depth - 1]}" is not an object')
        members, close = whole.inside(at)
        found = _last(members, key)
        if found is None:
            rest = path[depth:]
            member = {key: _nested(rest[1:], value)}
            after, undo = _insert_member(whole, (at, members, close), depth, member, Undo(tuple(path), now))
            return after, undo
        at = found.value
        if depth == len(path) - 1:
            if compact(whole.value(found)) == now:
                return text, None
            return text[:at] + now + text[found.end :], Undo(tuple(path), now, was=text[at : found.end])
    raise ValueError("an empty path names no key")


def append(
    text: str, path: Sequence[str], item: object, *, older: Sequence[object] = (), comments: bool = False
) -> tuple[str, list[Undo]]:
    """The text with item in the list at path, which is created if missing, and how to undo it; no steps if present.

    It takes the place of an item in one of its `older` forms.

    Raises: UneditableFile as `merge`, or when the value at path is not a list.
    """
    steps = []
    if is_blank(text, comments=comments) or _Text.of(text, comments=comments).find(path) is None:
        text, step = merge(text, path, [], comments=comments)
        steps += [step] if step else []
    whole = _Text.of(text, comments=comments)
    found = whole.find(path)
    if found is None or text[found.value] != "[":
        raise UneditableFile(_line(text, found.value if found else 0), f'"{path[-1]}" is not a list')
    now = compact(item)
    elements, close = whole.inside(found.value)
    found_items = [compact(whole.value(each)) for each in elements]
    if now in found_items:
        return text, steps
    undo = Undo(tuple(path), now, item=True)
    for each, known in zip(elements, found_items, strict=True):
        if known in map(compact, older):
            was = text[each.start : each.end]
            new = json.dumps(item, ensure_ascii=False)
            return text[: each.start] + new + text[each.end :], [*steps, replace(undo, was=was)]
    if not text[found.value + 1 : close].strip(_SPACE):
        undo = replace(undo, blank=text[found.value + 1 : close])
        return text[: found.value + 1] + json.dumps(item, ensure_ascii=False) + text[close:], [*steps, undo]
    lead = _lead(text, elements[-1].start) if elements else _inner_lead(text, found.value, close, len(path))
    text, undo = _insert(whole, (found.value, elements, close), lead, json.dumps(item, ensure_ascii=False), undo)
    return text, [*steps, undo]


def strip(text: str, undo: Undo | None) -> str:
    """The text without the change that `undo` describes; later changes by others stay, comments too.

    A replaced value is restored, unless it was changed again. Objects that were created for the key are removed when
    they are empty.

    Raises: UneditableFile when the text can no longer be edited safely.
    """
    if undo is None or is_blank(text):
        return text
    whole = _Text.of(text, comments=True)
    found = whole.find(undo.path)
    if found is None:
        return text
    if undo.item:
        return _without_item(whole, found, undo)
    if undo.now == "[]" and undo.was is None and whole.value(found) != []:
        return text  # others have added to the list that we created
    if undo.was is not None:
        unchanged = compact(whole.value(found)) == undo.now
        return text[: found.value] + undo.was + text[found.end :] if unchanged else text
    for removed in range(undo.made):
        path = undo.path[: len(undo.path) - removed]
        whole = _Text.of(text, comments=True)
        if removed and not _is_empty(whole, path):
            break
        outermost = removed == undo.made - 1
        text = _remove(whole, path, undo if outermost else replace(undo, blank=None, lead=None, comma=True))
    return undo.document if undo.document is not None and _is_only(text, undo.document) else text


def is_blank(text: str, *, comments: bool = False) -> bool:
    """Whether the text has only white space; with `comments`, also when it has only these."""
    bare = _STRING_OR_COMMENT.sub(_blank_comment, text) if comments else text
    return not bare.strip(_SPACE + _BYTE_ORDER_MARK)


def parse(text: str, *, comments: bool = False) -> dict[str, object]:
    """The object in the text.

    Raises: UneditableFile naming the line of the first error.
    """
    return _object_in(_Text.of(text, comments=comments).plain, _STRICT)


def _object_in(plain: str, damaged: str) -> dict[str, object]:
    try:
        value = _decode(plain.removeprefix(_BYTE_ORDER_MARK))
    except json.JSONDecodeError as error:
        raise UneditableFile(error.lineno, damaged, error.colno) from None
    except RecursionError:
        raise UneditableFile(1, "nested too deeply") from None
    if not isinstance(value, dict):
        raise UneditableFile(1, "not an object")
    return value


def _blank_comment(found: re.Match[str]) -> str:
    is_finished = not found[0].startswith("/*") or (found[0].endswith("*/") and len(found[0]) > 3)
    return found[0] if found[0].startswith('"') or not is_finished else _VISIBLE.sub(" ", found[0])


def _blank_comma(found: re.Match[str]) -> str:
    if found[0] != ",":
        return found[0]
    before = found.start() - 1
    while before >= 0 and found.string[before] in _SPACE:
        before -= 1
    return "," if before < 0 or found.string[before] in ",:{[" else " "  # a comma that follows no value stays an error


def _refuse_constant(name: str) -> object:
    # Python accepts NaN and Infinity; no other reader of these files does.
    raise json.JSONDecodeError(f"{name} is not JSON", name, 0)


def _whole_number(digits: str) -> object:
    # Python refuses to convert more than 4,300 digits; a file with such a number can still be edited.
    return int(digits) if len(digits) < 4300 else digits


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_whole_number)


def _decode(text: str) -> object:
    value: object = _DECODER.decode(text)
    return value


def compact(value: object) -> str:
    """The value as compact JSON, the same for equal values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _last(members: Sequence[_Span], key: str) -> _Span | None:
    return next((member for member in reversed(members) if member.key == key), None)


def _is_empty(whole: _Text, path: Sequence[str]) -> bool:
    """Whether the value at path is an object without anything in it, a comment included."""
    found = whole.find(path)
    return found is not None and _EMPTY_OBJECT.fullmatch(whole.text, found.value, found.end) is not None


def _is_only(text: str, document: str) -> bool:
    """Whether the text has nothing but an empty object and what was there before."""
    rest, count = _EMPTY_OBJECT.subn("", text)
    return count == 1 and rest.strip(_SPACE) == document.strip(_SPACE)


def _nested(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _new_document(text: str, path: Sequence[str], value: object) -> str:
    document = json.dumps(_nested(path, value), indent=2, ensure_ascii=False) + "\n"
    if text.strip(_SPACE + _BYTE_ORDER_MARK):  # comments
        return text + ("" if text.endswith("\n") else _line_end(text)) + document
    return (_BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else "") + document


_Container = tuple[int, Sequence[_Span], int]  # where it begins, what it has, where it is closed


def _insert_member(
    whole: _Text, container: _Container, depth: int, member: dict[str, object], undo: Undo
) -> tuple[str, Undo]:
    """The text with the member at the end of the object, in the style of its neighbours."""
    text, (opening, members, close) = whole.text, container
    undo = replace(undo, made=len(undo.path) - depth)
    unit, line_end = _unit(whole), _line_end(text)
    if not text[opening + 1 : close].strip(_SPACE):
        undo = replace(undo, blank=text[opening + 1 : close])
        inner, outer = line_end + (unit or "") * (depth + 1), line_end + (unit or "") * depth
        new = _one_line(member) if unit is None else inner + _lines(member, inner, unit) + outer
        return text[: opening + 1] + new + text[close:], undo
    lead = _lead(text, members[-1].start) if members else _inner_lead(text, opening, close, depth + 1, unit)
    breaks = max(lead.rfind("\n"), lead.rfind("\r"))
    if breaks < 0:
        return _insert(whole, container, lead or " ", _one_line(member), undo)
    lead = line_end + lead[breaks + 1 :]
    return _insert(whole, container, lead, _lines(member, lead, unit or "  "), undo)


def _insert(whole: _Text, container: _Container, lead: str, new: str, undo: Undo) -> tuple[str, Undo]:
    """The text with `new` after everything in the object or list, comments too."""
    text, (_, spans, close) = whole.text, container
    end = len(text[:close].rstrip(_SPACE))
    if not _breaks(lead) and whole.bare[end - 1] != text[end - 1] and _breaks(text[end:close]):
        lead = _line_end(text)  # after a comment to the end of its line
    last = spans[-1].end if spans else end
    comma = "" if not spans or "," in whole.bare[last:close] else ","
    return text[:last] + comma + text[last:end] + lead + new + text[end:], replace(undo, comma=bool(comma), lead=lead)


def _lead(text: str, start: int) -> str:
    """The white space before that offset."""
    return text[len(text[:start].rstrip(_SPACE)) : start] or " "


def _inner_lead(text: str, opening: int, close: int, depth: int, unit: str | None = "  ") -> str:
    """The white space before the first value in an object or list that has only comments."""
    return _line_end(text) + (unit or "  ") * depth if _breaks(text[opening:close]) else " "


def _lines(member: dict[str, object], lead: str, unit: str) -> str:
    lines = json.dumps(member, indent=unit, ensure_ascii=False).split("\n")[1:-1]
    return lead.join(line.removeprefix(unit) for line in lines)


def _one_line(member: dict[str, object]) -> str:
    return json.dumps(member, ensure_ascii=False)[1:-1]


def _unit(whole: _Text) -> str | None:
    """One step of the text's indentation; None when its root object is on one line."""
    members, close = whole.inside(whole.root)
    if not members:
        return (
            None if whole.text[whole.root + 1 : close].strip() and "\n" not in whole.text[whole.root : close] else "  "
        )
    lead = whole.text[len(whole.text[: members[0].start].rstrip(_SPACE)) : members[0].start]
    breaks = max(lead.rfind("\n"), lead.rfind("\r"))
    return None if breaks < 0 else lead[breaks + 1 :]


def _breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _line_end(text: str) -> str:
    if "\r\n" in text:
        return "\r\n"
    return "\r" if "\r" in text and "\n" not in text else "\n"


def _without_item(whole: _Text, found: _Span, undo: Undo) -> str:
    """The text without the last list element that equals ours."""
    if whole.text[found.value] != "[":
        return whole.text
    elements, close = whole.inside(found.value)
    ours = [index for index, each in enumerate(elements) if compact(whole.value(each)) == undo.now]
    if ours and undo.was is not None:
        last = elements[ours[-1]]
        return whole.text[: last.start] + undo.was + whole.text[last.end :]
    return _take_out(whole, (found.value, elements, close), ours[-1], undo) if ours else whole.text


def _remove(whole: _Text, path: Sequence[str], undo: Undo) -> str:
    found, holder = whole.find(path), whole.find(path[:-1])
    if found is None:
        return whole.text
    opening = whole.root if holder is None else holder.value
    members, close = whole.inside(opening)
    return _take_out(whole, (opening, members, close), members.index(found), undo)


def _take_out(whole: _Text, container: _Container, index: int, undo: Undo) -> str:
    """The text without one member or element; comments around it stay."""
    text, (opening, spans, close) = whole.text, container
    ours = spans[index]
    around = text[opening + 1 : ours.start] + text[ours.end : close]
    if len(spans) == 1 and not around.strip(_SPACE):
        return text[: opening + 1] + (undo.blank or "") + text[close:]
    following = spans[index + 1].start if index + 1 < len(spans) else close
    if not index and len(spans) > 1 and not text[ours.end : following].replace(",", "", 1).strip(_SPACE):
        return text[: ours.start] + text[following:]
    start = len(text[: ours.start].rstrip(_SPACE))
    if undo.lead is not None and text[: ours.start].endswith(undo.lead):
        start = ours.start - len(undo.lead)
    elif whole.bare[start - 1] != text[start - 1]:
        start = ours.start  # the line end may be that of a comment
    comma = whole.bare.find(",", ours.end, following)
    if comma >= 0:
        return text[:start] + text[ours.end : comma] + text[comma + 1 :]
    before = whole.bare.find(",", spans[index - 1].end, ours.start) if index and undo.comma else -1
    return (text[:start] if before < 0 else text[:before] + text[before + 1 : start]) + text[ours.end :]
