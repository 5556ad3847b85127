"""The content that a client's settings file should have after the client's commands removed our plugin. Pure.

These commands leave traces: Claude Code reformats the whole file and adds empty objects; Codex keeps the user's trust
in our hooks. When no value differs from before our installation, the file gets its old bytes back.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping

from keepmum_installers.errors import UneditableFile
from keepmum_installers.json_edit import Undo, parse, strip
from keepmum_installers.product import PLUGIN

__all__ = ["restored"]

_Values = Mapping[str, object]


def restored(path: str, now: str, before: str | None) -> str | None:
    """The text that the file should have: `before` (None: no file) when the values are the same as now.

    Otherwise the present text without our traces. A text that cannot be parsed is returned unchanged.
    """
    is_toml = path.endswith(".toml")
    read: Callable[[str], _Values] = _read_toml if is_toml else parse
    without_traces: Callable[[_Values], _Values] = _toml_values if is_toml else _json_values
    try:
        values, known = read(now), read(before) if before is not None else {}
    except (ValueError, UneditableFile):
        return now
    if without_traces(values) == without_traces(known):
        return before
    return _without_trust(now, values) if is_toml else _without_empty_objects(now, values, known)


def _json_values(values: _Values) -> _Values:
    return {key: value for key, value in values.items() if value != {}}


def _without_empty_objects(now: str, values: _Values, known: _Values) -> str:
    for key in (key for key, value in values.items() if value == {} and key not in known):
        now = strip(now, Undo((key,), "{}", made=1))
    return now


def _read_toml(text: str) -> _Values:
    return tomllib.loads(text.removeprefix("\ufeff"))


def _toml_values(values: _Values) -> _Values:
    """The values without the trust in our hooks, and without empty tables."""
    hooks = values.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    if isinstance(hooks, dict) and isinstance(state, dict):
        others = {key: value for key, value in state.items() if not key.startswith(f"{PLUGIN}:")}
        values = {**values, "hooks": {**hooks, "state": others}}
    return {key: _without_empty_tables(value) for key, value in values.items() if _without_empty_tables(value) != {}}


def _without_empty_tables(value: object) -> object:
    if not isinstance(value, dict):
        return value
    inner = {key: _without_empty_tables(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each != {}}


# As the client writes them: one table per hook, with values of one line.
_TRUST = re.compile(
    rf'^\[hooks\.state\."{re.escape(PLUGIN)}:[^"\n]*"\][ \t]*\r?\n(?:[\w-]+[ \t]*=[ \t]*[^\[\n]*\r?\n)*(?:\r?\n)?',
    re.MULTILINE,
)


def _without_trust(now: str, values: _Values) -> str:
    """The text without the tables of our hooks; unchanged when they are written in another way."""
    whole = now if now.endswith("\n") else f"{now}\n"
    text = _TRUST.sub("", whole)
    try:
        return text if text != whole and _toml_values(_read_toml(text)) == _toml_values(values) else now
    except ValueError:
        return now
