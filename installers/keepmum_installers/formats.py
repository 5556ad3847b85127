"""The formats of other programs' settings files: how a single key is set in each, and removed again.

For every format `strip(*merge(text, path, value)) == text`, which property tests verify.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from keepmum.workspace import toml_edit
from keepmum.workspace.toml_file import dotted, literal
from keepmum.workspace.toml_file import values as values_of_toml
from keepmum_installers import files, json_edit
from keepmum_installers.errors import FileLeft, UneditableFile
from keepmum_installers.json_edit import Undo

__all__ = ["Format", "editable_values", "is_empty", "of", "values"]

_Keys = Sequence[str]


@dataclass(frozen=True, slots=True)
class Format:
    """The editing functions of one format; `json_edit` documents what each does."""

    parse: Callable[[str], dict[str, Any]]
    merge: Callable[[str, _Keys, object], tuple[str, Undo | None]]
    append: Callable[..., tuple[str, list[Undo]]]
    strip: Callable[[str, Undo | None], str]
    by_hand: Callable[[Sequence[tuple[_Keys, object]]], str]
    """What a user would write to set these values."""


def of(path: str, *, comments: bool = False) -> Format:
    """The format of the file at `path`, by its name; `comments` when its client reads JSON with comments."""
    if path.endswith(".toml"):
        return _TOML
    return _COMMENTED_JSON if comments else _JSON


def values(path: str, *, comments: bool = False) -> dict[str, Any]:
    """The values in the settings file at `path`; empty when there is none.

    Raises: UneditableFile when it is damaged; InstallError when it cannot be read.
    """
    text = (files.read(path) or b"").decode("utf-8", "replace")
    return {} if json_edit.is_blank(text, comments=comments) else of(path, comments=comments).parse(text)


def editable_values(path: str, next_step: str, *, comments: bool = False) -> dict[str, Any]:
    """As `values`, for a file that is to be edited.

    Raises: FileLeft naming file and line when it is damaged or not UTF-8.
    """
    try:
        text = (files.read(path) or b"").decode("utf-8")
        return {} if json_edit.is_blank(text, comments=comments) else of(path, comments=comments).parse(text)
    except UnicodeDecodeError:
        raise FileLeft(f"{path} was left unchanged: not UTF-8 text", next_step) from None
    except UneditableFile as error:
        raise FileLeft(f"{path} was left unchanged: {error}", next_step) from None


def is_empty(path: str, text: str) -> bool:
    """Whether a settings file with this text holds nothing, not even a comment."""
    try:
        return json_edit.is_blank(text) or (not path.endswith(".toml") and json_edit.parse(text) == {})
    except UneditableFile:
        return False


def _json_by_hand(wanted: Sequence[tuple[_Keys, object]]) -> str:
    text = ""
    for keys, value in wanted:
        text, _ = json_edit.merge(text, keys, value)
    return text


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(found[1]), int(found[2])) if found else (text.count("\n") + 1, None)
        raise UneditableFile(line, "not TOML", column) from None


def _merge_toml(text: str, keys: _Keys, value: object) -> tuple[str, Undo | None]:
    """As `json_edit.merge`, for a string or a list of strings in a table that exists."""
    _parse_toml(text)
    path = tuple(keys)
    statement = toml_edit.find(text, path)
    if statement and values_of_toml(text).get(path) == value:
        return text, None
    try:
        after = toml_edit.set_value(text, path, value)
    except toml_edit.NotEditable:
        raise UneditableFile(1, f"{'.'.join(path)} is written in a way that is better changed by hand") from None
    if statement:
        return after, Undo(path, literal(value), was=text[statement.value : statement.end])
    unfinished = not text.endswith("\n")
    return after, Undo(path, literal(value), made=1, blank=("\r\n" if "\r\n" in text else "\n") if unfinished else None)


def _strip_toml(text: str, undo: Undo | None) -> str:
    _parse_toml(text)
    statement = None if undo is None else toml_edit.find(text, undo.path)
    if undo is None or statement is None:
        return text
    if undo.was is not None:
        unchanged = text[statement.value : statement.end] == undo.now
        return text[: statement.value] + undo.was + text[statement.end :] if unchanged else text
    start, end = toml_edit.whole_lines(text, statement)
    if undo.blank and end == len(text):  # the line above had no line end before
        start -= len(undo.blank)
    return text[:start] + text[end:]


def _toml_by_hand(wanted: Sequence[tuple[_Keys, object]]) -> str:
    return "\n".join(f"{dotted(keys)} = {literal(value)}" for keys, value in wanted)


def _append_toml(text: str, keys: _Keys, *_: object, **__: object) -> tuple[str, list[Undo]]:
    raise UneditableFile(text.count("\n") + 1, f"{'.'.join(keys)} is a list, which is better changed by hand")


_JSON = Format(json_edit.parse, json_edit.merge, json_edit.append, json_edit.strip, _json_by_hand)
_COMMENTED_JSON = Format(
    partial(json_edit.parse, comments=True),
    partial(json_edit.merge, comments=True),
    partial(json_edit.append, comments=True),
    json_edit.strip,
    _json_by_hand,
)
_TOML = Format(_parse_toml, _merge_toml, _append_toml, _strip_toml, _toml_by_hand)
