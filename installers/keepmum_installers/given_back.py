"""What a client's settings file should read once the client's own commands have taken us out of it. Pure.

They leave things behind. Claude Code writes the whole file in a layout of its own, with empty objects in it; Codex
keeps how the user had judged our hooks. Where nothing else changed since, the file gets its old bytes back.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping

from keepmum_installers.errors import NotPlainJson
from keepmum_installers.merge import Undo, parse, strip
from keepmum_installers.product import PLUGIN

__all__ = ["given_back"]

_Values = Mapping[str, object]


def given_back(path: str, now: str, before: str | None) -> str | None:
    """The text that the file should hold; `before` itself, which is None for no file, where it says the same as now.

    What changed since is kept. A text that cannot be understood is given back as it is.
    """
    is_toml = path.endswith(".toml")
    read: Callable[[str], _Values] = _read_toml if is_toml else parse
    said: Callable[[_Values], _Values] = _said_in_toml if is_toml else _said_in_json
    try:
        values, known = read(now), read(before) if before is not None else {}
    except (ValueError, NotPlainJson):
        return now
    if said(values) == said(known):
        return before
    return _without_judgements(now, values) if is_toml else _without_empty_objects(now, values, known)


def _said_in_json(values: _Values) -> _Values:
    return {key: value for key, value in values.items() if value != {}}


def _without_empty_objects(now: str, values: _Values, known: _Values) -> str:
    for key in (key for key, value in values.items() if value == {} and key not in known):
        now = strip(now, Undo((key,), "{}", made=1))
    return now


def _read_toml(text: str) -> _Values:
    return tomllib.loads(text.removeprefix("\ufeff"))


def _said_in_toml(values: _Values) -> _Values:
    """The values without how our hooks were judged, and without tables that hold nothing."""
    hooks = values.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    if isinstance(hooks, dict) and isinstance(state, dict):
        others = {key: value for key, value in state.items() if not key.startswith(f"{PLUGIN}:")}
        values = {**values, "hooks": {**hooks, "state": others}}
    return {key: _filled(value) for key, value in values.items() if _filled(value) != {}}


def _filled(value: object) -> object:
    if not isinstance(value, dict):
        return value
    inner = {key: _filled(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each != {}}


# As the client writes them: a table for each hook, of one-line values.
_JUDGEMENT = re.compile(
    rf'^\[hooks\.state\."{re.escape(PLUGIN)}:[^"\n]*"\][ \t]*\r?\n(?:[\w-]+[ \t]*=[ \t]*[^\[\n]*\r?\n)*(?:\r?\n)?',
    re.MULTILINE,
)


def _without_judgements(now: str, values: _Values) -> str:
    """The text without the tables of our hooks; unharmed where they are written in another way."""
    whole = now if now.endswith("\n") else f"{now}\n"
    text = _JUDGEMENT.sub("", whole)
    try:
        return text if text != whole and _said_in_toml(_read_toml(text)) == _said_in_toml(values) else now
    except ValueError:
        return now
