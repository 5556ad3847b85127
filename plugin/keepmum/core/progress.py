"""How long work reports its progress."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Progress", "ignore_progress"]


class Progress(Protocol):
    """Called while long work goes on."""

    def __call__(self, done: int, total: int, /) -> None:
        """`done` of `total` items are done; the total is 0 when it is not known."""


def ignore_progress(done: int, total: int, /) -> None:
    """A `Progress` that reports nothing."""
