"""`keepmum review` lists memories that need attention; `keepmum reembed` recomputes vectors."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from keepmum.cli import console
from keepmum.core import briefing
from keepmum.core.memory import Memory

__all__ = ["register"]

_LISTED = 20  # entries per list without --all
_EVERY = 0.1  # seconds between two progress updates


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    review = commands.add_parser("review", help="list memories that repeat others, were never loaded, or are stale")
    review.add_argument("--all", action="store_true", help=f"all of them, not the first {_LISTED} of each kind")
    review.set_defaults(run=_review)
    reembed = commands.add_parser(
        "reembed", help="compute the vectors of all memories with the installed model; resumes if interrupted"
    )
    reembed.set_defaults(run=_reembed)


def _review(arguments: argparse.Namespace) -> int:
    with console.Session() as memory:
        memory.warm(wait=True)
        review = memory.review()
        lexical_only = memory.lexical_only
    most = None if arguments.all else _LISTED
    found = len(review.repeated) + len(review.never_loaded) + len(review.stale)
    repeated = [
        line
        for new, old in review.repeated[:most]
        for line in (briefing.index_line(new), f"  {briefing.similar_line(old)}")
    ]
    _list("Near duplicates of an older memory", repeated, len(review.repeated), most)
    _list_memories("Stored over a month ago and never loaded", review.never_loaded, most)
    _list_memories("Neither loaded nor changed for six months", review.stale, most)
    if lexical_only:
        console.err(f"near duplicates were not checked: {lexical_only}")
    if not review.looked_at:
        console.err("there are no memories here yet")
        return 0
    checked = console.memory_count(review.looked_at)
    if review.total > review.looked_at:
        checked = f"only the latest {checked} of {review.total:,}"
    advice = "`keepmum forget ID` removes one, with undo" if found else "nothing needs attention"
    console.err(f"checked {checked}; {advice}")
    return 0


def _list_memories(heading: str, memories: Sequence[Memory], most: int | None) -> None:
    _list(heading, [briefing.index_line(memory) for memory in memories[:most]], len(memories), most)


def _list(heading: str, lines: Sequence[str], count: int, most: int | None) -> None:
    if lines:
        console.out(f"{heading} ({count:,}):")
        for line in lines:
            console.out(line)
    if most is not None and count > most:
        console.out(f"  and {count - most:,} more; --all lists them")


def _reembed(_: argparse.Namespace) -> int:
    with console.Session() as memory:
        progress = _Progress()
        try:
            done = memory.reembed(progress)
        finally:
            progress.end()
    console.out(f"{console.memory_count(done)} embedded" if done else "every memory already has its vector")
    return 0


class _Progress:
    """One updated line on a terminal; nothing elsewhere."""

    def __init__(self) -> None:
        self._shown = 0.0
        self._begun = time.monotonic()
        self._terminal = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Update the line, at most every `_EVERY` seconds."""
        now = time.monotonic()
        if self._terminal and (now - self._shown > _EVERY or done == total):
            self._shown = now
            left = (now - self._begun) / done * (total - done)
            sys.stderr.write(f"\rkeepmum: {done:,} of {total:,} memories embedded, about {left:.0f} s left \033[K")
            sys.stderr.flush()

    def end(self) -> None:
        """End the line."""
        if self._terminal and self._shown:
            sys.stderr.write("\n")
