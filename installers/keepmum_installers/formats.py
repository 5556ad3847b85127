"""The formats of other people's files in which single keys are set: which one a file has, and what edits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from keepmum_installers import merge, toml_merge
from keepmum_installers.merge import Undo

__all__ = ["Format", "of"]


@dataclass(frozen=True, slots=True)
class Format:
    """What edits one format; see `keepmum_installers.merge` for what each promises."""

    parse: Callable[[str], dict[str, Any]]
    merge: Callable[[str, Sequence[str], object], tuple[str, Undo | None]]
    strip: Callable[[str, Undo | None], str]
    by_hand: Callable[[Sequence[tuple[Sequence[str], object]]], str]
    """What a user would write for these values."""


def of(path: str) -> Format:
    """The format that a file of that name has."""
    return _TOML if path.endswith(".toml") else _JSON


def _json_by_hand(wanted: Sequence[tuple[Sequence[str], object]]) -> str:
    text = ""
    for keys, value in wanted:
        text, _ = merge.merge(text, keys, value)
    return text


_JSON = Format(merge.parse, merge.merge, merge.strip, _json_by_hand)
_TOML = Format(toml_merge.parse, toml_merge.merge, toml_merge.strip, toml_merge.by_hand)
