"""What a check found: how bad it is, one sentence, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding", "note", "ok", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's report."""

    level: Literal["ok", "note", "problem"]
    about: str
    says: str
    next_step: str = ""


def ok(about: str, says: str) -> Finding:
    """A finding that needs nothing."""
    return Finding("ok", about, says)


def note(about: str, says: str, next_step: str = "") -> Finding:
    """A finding that may be intended."""
    return Finding("note", about, says, next_step)


def problem(about: str, says: str, next_step: str) -> Finding:
    """A finding that keeps something from working."""
    return Finding("problem", about, says, next_step)
