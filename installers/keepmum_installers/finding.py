"""What a check found: how bad it is, one sentence, and what to do about it."""

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
    """A finding that needs nothing."""
    return Finding("ok", about, says)


def note(about: str, says: str, next_step: str = "") -> Finding:
    """A finding that may be intended."""
    return Finding("note", about, says, next_step)


def absent(about: str, title: str) -> Finding:
    """A finding that a client is not on this machine, which is nobody's fault."""
    return Finding("absent", about, f"{title} was not found", "Install it, then run `keepmum install`.")


def problem(about: str, says: str, next_step: str) -> Finding:
    """A finding that keeps something from working."""
    return Finding("problem", about, says, next_step)
