"""`keepmum review` and `keepmum reembed`: look over what is kept, and embed it anew."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from keepmum.cli import console
from keepmum.core import briefing
from keepmum.core.memory import Memory

__all__ = ["register"]

_LISTED = 20  # of each list, unless all are asked for
_EVERY = 0.1  # seconds from one line of progress to the next


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    review = commands.add_parser("review", help="list memories that repeat others, were never loaded, or went stale")
    review.add_argument("--all", action="store_true", help=f"every one of them, not the first {_LISTED} of each kind")
    review.set_defaults(run=_review)
    reembed = commands.add_parser(
        "reembed", help="give every memory a vector of the model that is installed; goes on where it was cut off"
    )
    reembed.set_defaults(run=_reembed)


def _review(arguments: argparse.Namespace) -> int:
    with console.Memory() as memory:
        memory.warm(wait=True)
        review = memory.review()
        lexical_only = memory.lexical_only
    most = None if arguments.all else _LISTED
    repeated = [
        line
        for new, old in review.repeated[:most]
        for line in (briefing.index_line(new), f"  {briefing.similar_line(old)}")
    ]
    _list("Nearly repeat an older one", repeated, len(review.repeated))
    _list_memories("Kept over a month ago and never loaded", review.never_loaded, most)
    _list_memories("Neither loaded nor changed for half a year", review.stale, most)
    if lexical_only:
        console.tell(f"repeats were not looked for: {lexical_only}")
    if not review.looked_at:
        console.tell("nothing is remembered here yet")
        return 0
    console.tell(
        f"looked at the latest {console.memories(review.looked_at)}; `keepmum forget ID` removes, and can be undone"
    )
    return 0


def _list_memories(heading: str, memories: Sequence[Memory], most: int | None) -> None:
    _list(heading, [briefing.index_line(memory) for memory in memories[:most]], len(memories))


def _list(heading: str, lines: Sequence[str], count: int) -> None:
    if lines:
        console.say(f"{heading} ({count}):")
        for line in lines:
            console.say(line)


def _reembed(_: argparse.Namespace) -> int:
    with console.Memory() as memory:
        progress = _Progress()
        try:
            done = memory.reembed(progress)
        finally:
            progress.end()
    console.say(f"{console.memories(done)} embedded" if done else "every memory has its vector already")
    return 0


class _Progress:
    """One line on the terminal that says how far it got; nothing where nobody looks."""

    def __init__(self) -> None:
        self._shown = 0.0
        self._begun = time.monotonic()
        self._looks = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Say so, though not too often."""
        now = time.monotonic()
        if self._looks and (now - self._shown > _EVERY or done == total):
            self._shown = now
            left = (now - self._begun) / done * (total - done)
            sys.stderr.write(f"\rkeepmum: {done:,} of {total:,} memories embedded, about {left:.0f} s left \033[K")
            sys.stderr.flush()

    def end(self) -> None:
        """Leave the line as it is and go on below it."""
        if self._looks and self._shown:
            sys.stderr.write("\n")
