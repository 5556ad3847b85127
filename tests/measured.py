"""Measurements of time on a machine that other programs use too."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["is_once_below"]

_ATTEMPTS = 10


def is_once_below(limit: float, seconds: Callable[[], float]) -> bool:
    """Whether one of ten measurements is below a limit, which a busy machine makes longer and never shorter."""
    return any(seconds() < limit for _ in range(_ATTEMPTS))
