"""The content that a client's settings file should have after the client's commands removed our plugin. Pure.

These commands leave traces: Claude Code reformats the whole file and adds empty objects; Codex keeps the user's trust
in our hooks. When no value differs from before our installation, the file gets its old bytes back.
"""

from __future__ import annotations

import re

from keepmum.workspace import toml_file
from keepmum_installers.errors import UneditableFile
from keepmum_installers.json_edit import Undo, parse, strip
from keepmum_installers.product import PLUGIN

__all__ = ["restored"]

# As the client writes the trust in our hooks: one table per hook, with values of one line.
_TRUST = re.compile(
    rf'^\[hooks\.state\."{re.escape(PLUGIN)}:[^"\n]*"\][ \t]*\r?\n(?:[\w-]+[ \t]*=[ \t]*[^\[\n]*\r?\n)*(?:\r?\n)?',
    re.MULTILINE,
)


def restored(path: str, now: str, before: str | None) -> str | None:
    """The text that the file should have: `before` (None: no file) when the values are the same as now.

    Otherwise the present text without our traces. A text that cannot be parsed is returned unchanged.
    """
    try:
        return _restored_toml(now, before) if path.endswith(".toml") else _restored_json(now, before)
    except (ValueError, UneditableFile):
        return now


def _restored_json(now: str, before: str | None) -> str | None:
    values, known = parse(now), {} if before is None else parse(before)
    filled, known_filled = ({key: each for key, each in some.items() if each != {}} for some in (values, known))
    if filled == known_filled:
        return before
    if before is None and filled.keys() <= {"version"}:  # a list of the client's that is empty again
        return None
    for key in [key for key in values if key not in filled and key not in known]:
        now = strip(now, Undo((key,), "{}", made=1))
    return now


def _restored_toml(now: str, before: str | None) -> str | None:
    values = _toml_values(now)
    if values == _toml_values(before or ""):
        return before
    whole = now if now.endswith("\n") else f"{now}\n"
    text = _TRUST.sub("", whole)
    return text if text != whole and _toml_values(text) == values else now


def _toml_values(text: str) -> dict[toml_file.Path, object]:
    """The values by path, without the trust in our hooks and without empty tables."""
    values = toml_file.values(text).items()
    return {path: value for path, value in values if value != {} and not _is_trust(path)}


def _is_trust(path: toml_file.Path) -> bool:
    return path[:2] == ("hooks", "state") and len(path) > 2 and path[2].startswith(f"{PLUGIN}:")
