"""Where a definition is now that is gone from its place. No answer is better than a wrong one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from keepmum.core.citations.freshness import Location
from keepmum.core.citations.outline import Outline, likeness

__all__ = ["Former", "moved", "renamed"]

# The share of lines that two definitions must have in common.
_SAME_NAME = 0.3
_OTHER_NAME = 0.8
_AHEAD = 0.1  # of the next candidate
_FEW_LINES = 3  # other definitions may have the same ones


class Former(NamedTuple):
    """A definition as it was."""

    path: str
    symbol: str  # its qualified name
    digest: str | None
    lines: Sequence[str]  # empty when they are not known; then only an equal digest counts


class _Candidate(NamedTuple):
    score: float
    location: Location


def moved(former: Former, now: Mapping[str, Outline], before: Callable[[str], Outline | None]) -> Location | None:
    """Where a definition has moved to; None unless one place is clearly the best.

    Args:
        former: the definition.
        now: the files that may have it, by path.
        before: the same file when the definition was still there; None when there was none.
    """
    found: list[_Candidate] = []
    for path, outline in now.items():
        for symbol in dict.fromkeys(each.symbol for each in outline.definitions):
            if symbol.rpartition(".")[2] != former.symbol.rpartition(".")[2]:
                continue
            score = _score(former, path, symbol, outline)
            if score and outline.digest(symbol) != former.digest:
                old = before(path)
                score = 0.0 if old is not None and old.line_of(symbol) is not None else score  # a namesake
            if score:
                found.append(_Candidate(score, Location(path, symbol, outline.line_of(symbol))))
    found.sort(key=lambda each: -each.score)
    is_clear = len(found) == 1 or (len(found) > 1 and found[0].score - found[1].score >= _AHEAD)
    return found[0].location if is_clear else None


def _score(former: Former, path: str, symbol: str, outline: Outline) -> float:
    """How well a definition fits, 0 to 2; 0 when it does not."""
    is_same_name = symbol == former.symbol
    if former.digest is not None and outline.digest(symbol) == former.digest:
        return 1.0 + is_same_name
    share = likeness(former.lines, outline.lines(symbol))
    if not is_same_name:
        return share if share >= _OTHER_NAME else 0.0
    if share >= _SAME_NAME:
        return 1.0 + share
    # Rewritten, in a file of the same name.
    return 1.0 if path != former.path and path.rpartition("/")[2] == former.path.rpartition("/")[2] else 0.0


def renamed(lines: Sequence[str], symbol: str, path: str, before: Outline, after: Outline) -> Location | None:
    """The new name of a definition in the same file; None unless one new name has nearly the same lines."""
    if len(lines) <= _FEW_LINES:
        return None
    known = {each.symbol for each in before.definitions}
    owner = symbol.rpartition(".")[0]
    found = [
        name
        for name in dict.fromkeys(each.symbol for each in after.definitions)
        if name not in known
        and name.rpartition(".")[0] == owner
        and likeness(lines[1:], after.lines(name)[1:]) >= _OTHER_NAME
    ]
    return Location(path, found[0], after.line_of(found[0])) if len(found) == 1 else None
