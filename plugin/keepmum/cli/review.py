"""`keepmum review` asks a person about memories that need attention; `keepmum reembed` recomputes vectors."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Mapping, Sequence

from keepmum.cli import console
from keepmum.core import memory_text, serialization
from keepmum.core.memory import JsonValue
from keepmum.core.review import DECISIONS, GROUPS, Group
from keepmum.core.when import parse_when
from keepmum.core.wording import counted
from keepmum.service import Choice, MemoryService, ReviewItem

__all__ = ["register"]

_LISTED = 20  # items without --limit
_PAGE = 1_000  # items of one read
_IN = re.compile(r"\d+[mhdw]")  # a time from now on
_EVERY = 0.1  # seconds between two progress updates


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    review = commands.add_parser("review")
    review.add_argument(
        "--group", action="append", default=[], choices=GROUPS, dest="groups", metavar="GROUP",
        help="repeatable",
    )  # fmt: skip
    review.add_argument("--limit", type=console.positive, help=f"items to list; default: {_LISTED}")
    review.add_argument("--all", action="store_true", help="list every item")
    review.add_argument("--list", action="store_true", help="list the items, also in a terminal")
    review.add_argument("--json", action="store_true", help="print JSON")
    review.set_defaults(run=_review)
    verbs = review.add_subparsers(title="commands", metavar="COMMAND", help="default: go through the items")
    do = verbs.add_parser("do", help="decide about one item; prints what undoes it")
    do.add_argument("item", metavar="ID", help="the id of an item, as listed")
    do.add_argument("action", choices=DECISIONS, metavar="ACTION", help="what is decided")
    do.add_argument("--memory", metavar="ID", help="which of two memories; default: the newer one")
    do.add_argument("--reason", default="", help="why it is wrong")
    do.add_argument("--text", help="the new text, with edit or merge")
    do.add_argument("--until", metavar="WHEN", help="with later: 2027-01-31, 12h, 7d; default: until it changes")
    do.set_defaults(run=_do)
    accept = verbs.add_parser("accept", help="count memories in files of others as the team's, until a file changes")
    accept.add_argument("ids", nargs="*", metavar="ID", help="a memory; default: all in files of this project")
    accept.set_defaults(run=_accept)
    undo = verbs.add_parser("undo", help="undo a decision")
    undo.add_argument("decision", metavar="UNDO", help="what the decision printed")
    undo.set_defaults(run=_undo)
    reembed = commands.add_parser("reembed")
    reembed.set_defaults(run=_reembed)


def _review(arguments: argparse.Namespace) -> int:
    with console.Session() as memory:
        memory.warm(wait=True)
        unchecked = memory.compare()
        is_listed = arguments.json or arguments.list or arguments.all or arguments.limit
        if not is_listed and sys.stdin.isatty() and sys.stdout.isatty():
            from keepmum.cli import review_session  # here, since no other command needs it

            decided, undo = review_session.run(memory, arguments.groups)
            how = f"; `keepmum review undo {undo}` undoes the last one" if undo else ""
            console.err(f"{counted(decided, 'item')} decided{how}")
            return 0
        most = None if arguments.all else arguments.limit or _LISTED
        items, counts = _items(memory, arguments.groups, most)
        lexical_only, total = memory.lexical_only, memory.count()
    if arguments.json:
        console.print_json({"counts": counts, "items": [_as_json(item) for item in items]})
    else:
        _print(items)
    left = sum(count for group, count in counts.items() if not arguments.groups or group in arguments.groups)
    if lexical_only:
        console.err(f"near duplicates were not checked: {lexical_only}")
    elif unchecked:
        console.err(f"{console.memory_count(unchecked)} not compared with the others yet")
    if not total:
        console.err("there are no memories here yet")
    elif not left:
        console.err(f"checked {console.memory_count(total)}; nothing needs attention")
    elif not arguments.json:
        more = f"the first {len(items):,} of " if len(items) < left else ""
        advice = "`keepmum review` in a terminal asks for each, `keepmum review do ID ACTION` decides about one"
        console.err(f"{more}{counted(left, 'item')}; {advice}")
    return 0


def _items(
    memory: MemoryService, groups: Sequence[Group], most: int | None
) -> tuple[list[ReviewItem], Mapping[Group, int]]:
    """Items of the queue, up to `most`, and the counts of the whole queue."""
    items: list[ReviewItem] = []
    cursor = ""
    while True:
        limit = _PAGE if most is None else min(_PAGE, most - len(items))
        page = memory.review(groups=groups, limit=limit, cursor=cursor)
        items += page.items
        cursor = page.cursor
        if not cursor or len(items) == most:
            return items, page.counts


def _as_json(item: ReviewItem) -> dict[str, JsonValue]:
    return {
        "id": item.id, "group": item.group, "reason": item.reason, "actions": item.actions,
        "memories": [serialization.to_json(memory) for memory in item.memories],
    }  # fmt: skip


def _print(items: Sequence[ReviewItem]) -> None:
    group = None
    for item in items:
        if item.group != group:
            console.out(f"{item.group}:")
            group = item.group
        console.out(f"{item.id}  {item.reason} ({', '.join(item.actions)})")
        for memory in item.memories:
            console.out(f"  {memory_text.index_line(memory)}")


def _do(arguments: argparse.Namespace) -> int:
    with console.Session() as memory:
        memory.open_model()
        until = None if arguments.until is None else _until(arguments.until, memory.now())
        choice = Choice(arguments.action, arguments.memory, arguments.reason, arguments.text, until)
        done = memory.decide(arguments.item, choice)
        memory.settle()
    waiting = f" (queued, {done.queued} in the queue)" if done.queued else ""
    for each in done.memories:
        console.out(f"{done.decision}{waiting}: {memory_text.index_line(each)[2:]}")
    console.err(f"`keepmum review undo {done.undo}` undoes it")
    return 0


def _accept(arguments: argparse.Namespace) -> int:
    with console.Session() as memory:
        done = memory.accept_files(arguments.ids)
        memory.settle()
    for each in done.memories:
        console.out(f"accepted: {memory_text.index_line(each)[2:]}")
    console.err(f"`keepmum review undo {done.undo}` undoes it")
    return 0


def _undo(arguments: argparse.Namespace) -> int:
    with console.Session() as memory:
        restored = memory.undo_decision(arguments.decision)
        memory.settle()
    for each in restored:
        console.out(f"undone: {memory_text.index_line(each)[2:]}")
    if not restored:
        console.out("undone")
    return 0


def _until(text: str, now: int) -> int:
    """The time that `--until` means; `7d` is in seven days."""
    moment = parse_when("--until", text, now)
    return 2 * now - moment if _IN.fullmatch(text.strip().lower()) else moment


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
