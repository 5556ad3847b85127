"""The result of one check: its severity, one sentence, and the next step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding", "Level", "absent", "note", "ok", "problem"]


Level = Literal["ok", "absent", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's report."""

    level: Level
    about: str
    says: str
    next_step: str = ""


def ok(about: str, says: str) -> Finding:
    """A finding that needs no action."""
    return Finding("ok", about, says)


def note(about: str, says: str, next_step: str = "") -> Finding:
    """A finding that may be intended."""
    return Finding("note", about, says, next_step)


def absent(about: str, title: str) -> Finding:
    """A finding that a client is not installed."""
    return Finding("absent", about, f"{title} was not found", "Install it, then run `keepmum install`.")


def problem(about: str, says: str, next_step: str) -> Finding:
    """A finding of something that does not work."""
    return Finding("problem", about, says, next_step)
