"""How a source tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress"]

Progress = Callable[[str, int, int], None]  # what is being done, bytes that are there, bytes in all
