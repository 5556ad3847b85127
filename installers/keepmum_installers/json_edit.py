"""Set a key in another program's JSON text, and remove it again byte for byte.

Serialising a settings file again would change its order, its indentation and its diff. So a key is inserted into the
text in the style of its neighbours, and the returned `Undo` holds what is needed to remove it:
`strip(*merge(text, path, value)) == text`, which property tests verify.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from keepmum_installers.errors import UneditableFile

__all__ = ["Undo", "append", "is_blank", "merge", "parse", "strip"]

_SPACE = " \t\r\n"
_BYTE_ORDER_MARK = "\ufeff"


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


@dataclass(frozen=True, slots=True)
class _Member:
    """One key and its value, as offsets in the text."""

    key: str
    start: int
    value: int
    end: int


def merge(text: str, path: Sequence[str], value: object) -> tuple[str, Undo | None]:
    """The text with value at path, and how to undo it; the same text and None when it is set already.

    An empty text becomes a document. Of a duplicate key the last one counts, as for every reader.

    Raises: UneditableFile when the text has comments, is damaged, or has another value than an object along the path.
    """
    now = _compact(value)
    if is_blank(text):
        return _new_document(text, path, value), Undo(tuple(path), now, made=len(path), document=text)
    parse(text)
    at = _root(text)
    for depth, key in enumerate(path):
        if text[at] != "{":
            raise UneditableFile(_line(text, at), f'"{path[depth - 1]}" is not an object')
        members, close = _members(text, at)
        found = _last(members, key)
        if found is None:
            rest = path[depth:]
            blank = None if members else text[at + 1 : close]
            inserted = _insert(text, at, members, close, depth, key, _nested(rest[1:], value))
            return inserted, Undo(tuple(path), now, made=len(rest), blank=blank)
        at = found.value
        if depth == len(path) - 1:
            raw = text[at : found.end]
            if _compact(_decode(raw)) == now:
                return text, None
            return text[:at] + now + text[found.end :], Undo(tuple(path), now, was=raw)
    raise ValueError("an empty path names no key")


def append(text: str, path: Sequence[str], item: object) -> tuple[str, list[Undo]]:
    """The text with item in the list at path, which is created if missing, and how to undo it; no steps if present.

    Raises: UneditableFile as `merge`, or when the value at path is not a list.
    """
    steps = []
    if is_blank(text) or _find(text, path) is None:
        text, step = merge(text, path, [])
        steps += [step] if step else []
    found = _find(text, path)
    if found is None or text[found.value] != "[":
        raise UneditableFile(_line(text, found.value if found else 0), f'"{path[-1]}" is not a list')
    now = _compact(item)
    elements, close = _elements(text, found.value)
    if any(_compact(_decode(text[start:end])) == now for start, end in elements):
        return text, steps
    whole = json.dumps(item, ensure_ascii=False)
    blank = None
    if elements:
        start, end = elements[-1]
        lead = text[len(text[:start].rstrip(_SPACE)) : start] or " "
        text = f"{text[:end]},{lead}{whole}{text[end:]}"
    else:
        blank = text[found.value + 1 : close]
        text = text[: found.value + 1] + whole + text[close:]
    return text, [*steps, Undo(tuple(path), now, blank=blank, item=True)]


def strip(text: str, undo: Undo | None) -> str:
    """The text without the change that `undo` describes; later changes by others stay.

    A replaced value is restored, unless it was changed again. Objects that were created for the key are removed when
    they are empty.

    Raises: UneditableFile when the text can no longer be edited safely.
    """
    if undo is None or is_blank(text):
        return text
    parse(text)
    found = _find(text, undo.path)
    if found is None:
        return text
    if undo.item:
        return _without_item(text, found, undo)
    if undo.now == "[]" and undo.was is None and _compact(_decode(text[found.value : found.end])) != "[]":
        return text  # others have added to the list that we created
    if undo.was is not None:
        unchanged = _compact(_decode(text[found.value : found.end])) == undo.now
        return text[: found.value] + undo.was + text[found.end :] if unchanged else text
    for removed in range(undo.made):
        path = undo.path[: len(undo.path) - removed]
        if removed and not _is_empty(text, path):
            break
        text = _remove(text, path, undo.blank if removed == undo.made - 1 else None)
    return undo.document if undo.document is not None and parse(text) == {} else text


def is_blank(text: str) -> bool:
    """Whether the text has only white space."""
    return not text.strip(_SPACE + _BYTE_ORDER_MARK)


def parse(text: str) -> dict[str, object]:
    """The object in the text.

    Raises: UneditableFile naming the line of the first error.
    """
    try:
        value = _decode(text.removeprefix(_BYTE_ORDER_MARK))
    except json.JSONDecodeError as error:
        raise UneditableFile(error.lineno, "not plain JSON (a comment, a trailing comma?)", error.colno) from None
    except RecursionError:
        raise UneditableFile(1, "nested too deeply") from None
    if not isinstance(value, dict):
        raise UneditableFile(1, "not an object")
    return value


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


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _root(text: str) -> int:
    return _skip(text, 1 if text.startswith(_BYTE_ORDER_MARK) else 0)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _members(text: str, opening: int) -> tuple[list[_Member], int]:
    """The members of the object that begins at `opening`, and the offset of its closing brace."""
    members = []
    at = _skip(text, opening + 1)
    while text[at] != "}":
        start = _skip(text, at + 1) if text[at] == "," else at
        key, after_key = _DECODER.raw_decode(text, start)
        value = _skip(text, _skip(text, after_key) + 1)
        _, end = _DECODER.raw_decode(text, value)
        members.append(_Member(key, start, value, end))
        at = _skip(text, end)
    return members, at


def _elements(text: str, opening: int) -> tuple[list[tuple[int, int]], int]:
    """Start and end of each element of the list that begins at `opening`, and the offset of its closing bracket."""
    elements = []
    at = _skip(text, opening + 1)
    while text[at] != "]":
        start = _skip(text, at + 1) if text[at] == "," else at
        _, end = _DECODER.raw_decode(text, start)
        elements.append((start, end))
        at = _skip(text, end)
    return elements, at


def _without_item(text: str, found: _Member, undo: Undo) -> str:
    """The text without the last list element that equals ours."""
    if text[found.value] != "[":
        return text
    elements, close = _elements(text, found.value)
    ours = [index for index, (start, end) in enumerate(elements) if _compact(_decode(text[start:end])) == undo.now]
    if not ours:
        return text
    start, end = elements[ours[-1]]
    if len(elements) == 1:
        return text[: found.value + 1] + (undo.blank or "") + text[close:]
    if ours[-1]:
        return text[: elements[ours[-1] - 1][1]] + text[end:]
    return text[:start] + text[elements[1][0] :]


def _last(members: Sequence[_Member], key: str) -> _Member | None:
    return next((member for member in reversed(members) if member.key == key), None)


def _find(text: str, path: Sequence[str]) -> _Member | None:
    at = _root(text)
    found = None
    for key in path:
        if text[at] != "{":
            return None
        found = _last(_members(text, at)[0], key)
        if found is None:
            return None
        at = found.value
    return found


def _is_empty(text: str, path: Sequence[str]) -> bool:
    found = _find(text, path)
    return found is not None and _compact(_decode(text[found.value : found.end])) == "{}"


def _nested(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _new_document(text: str, path: Sequence[str], value: object) -> str:
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    return mark + json.dumps(_nested(path, value), indent=2, ensure_ascii=False) + "\n"


def _insert(  # noqa: PLR0913, PLR0917 - the parts of the object, then the new member
    text: str, opening: int, members: Sequence[_Member], close: int, depth: int, key: str, value: object
) -> str:
    unit, line_end = _unit(text), _line_end(text)
    if not members:
        if unit is None:
            return text[: opening + 1] + _one_line(key, value) + text[close:]
        inner, outer = line_end + unit * (depth + 1), line_end + unit * depth
        return text[: opening + 1] + inner + _member(key, value, inner, unit) + outer + text[close:]
    last = members[-1]
    lead = text[len(text[: last.start].rstrip(_SPACE)) : last.start]
    breaks = max(lead.rfind("\n"), lead.rfind("\r"))
    if breaks < 0:
        return text[: last.end] + "," + (lead or " ") + _one_line(key, value) + text[last.end :]
    before = line_end + lead[breaks + 1 :]
    return text[: last.end] + "," + before + _member(key, value, before, unit or "  ") + text[last.end :]


def _member(key: str, value: object, before: str, unit: str) -> str:
    lines = json.dumps({key: value}, indent=unit, ensure_ascii=False).split("\n")[1:-1]
    return before.join(line.removeprefix(unit) for line in lines)


def _one_line(key: str, value: object) -> str:
    return json.dumps({key: value}, ensure_ascii=False)[1:-1]


def _unit(text: str) -> str | None:
    """One step of the text's indentation; None when its root object is on one line."""
    members, _ = _members(text, _root(text))
    if not members:
        return "  "
    lead = text[len(text[: members[0].start].rstrip(_SPACE)) : members[0].start]
    breaks = max(lead.rfind("\n"), lead.rfind("\r"))
    return None if breaks < 0 else lead[breaks + 1 :]


def _line_end(text: str) -> str:
    if "\r\n" in text:
        return "\r\n"
    return "\r" if "\r" in text and "\n" not in text else "\n"


def _remove(text: str, path: Sequence[str], blank: str | None) -> str:
    found = _find(text, path)
    if found is None:
        return text
    holder = _find(text, path[:-1])
    members, close = _members(text, _root(text) if holder is None else holder.value)
    index = members.index(found)
    if len(members) == 1:
        opening = (_root(text) if holder is None else holder.value) + 1
        return text[:opening] + (blank or "") + text[close:]
    if index:
        return text[: members[index - 1].end] + text[found.end :]
    return text[: found.start] + text[members[1].start :]
