"""Progress of long operations: one updated line on a terminal, else one line per quarter."""

from __future__ import annotations

import sys
from typing import Self

__all__ = ["Bar"]

_WIDTH = 24
_MEGA = 1_000_000


class Bar:
    """A progress bar on standard error; leaving its context ends the line."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal and self._shown:
            sys.stderr.write("\n")
            sys.stderr.flush()

    def show(self, what: str, done: int, total: int) -> None:
        """Show `done` of `total` bytes; totals below one megabyte are not shown."""
        counted = total >= _MEGA
        share = min(done / total, 1.0) if counted else 0.0
        if self._terminal:
            full = round(share * _WIDTH)
            bar = f" [{'#' * full}{'-' * (_WIDTH - full)}] {done // _MEGA} of {total // _MEGA} MB" if counted else " …"
            self._write(f"\r  {what}{bar}\x1b[K", f"{what}{bar}")
        else:
            quarter = f", {int(share * 4) * 25} %" if counted else ""
            self._write(f"  {what}{quarter}\n", f"{what}{quarter}")

    def _write(self, line: str, shown: str) -> None:
        if shown != self._shown:
            self._shown = shown
            sys.stderr.write(line)
            sys.stderr.flush()
