"""`keepmum outbox`: writes that wait for a server, or that it refused."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence

from keepmum.cli import console
from keepmum.cli.login import home
from keepmum.core import briefing, masking
from keepmum.core.errors import InvalidInput, NotFound
from keepmum.service import opening
from keepmum.stores import outbox
from keepmum.workspace.allowlist import AllowlistScanner
from keepmum.workspace.resolve import backend_kind, resolve, server_of

__all__ = ["register"]

_PATIENCE = 10.0  # seconds without a write that arrives: the server is away, or sends us away
_LOOK = 0.1  # seconds between two looks
_SHORTEST = 6  # characters of an id


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    command = commands.add_parser("outbox", help="writes that wait for a server, or that it refused")
    command.add_argument("action", choices=("list", "retry", "drop"), help="show them, send them again, or drop them")
    command.add_argument(
        "ids", nargs="*", default=[], metavar="ID", help="ids or their beginnings; retry: all when missing"
    )
    command.add_argument("--all", action="store_true", help="drop everything")
    command.add_argument("--json", action="store_true", help="every field, for programs")
    command.add_argument("--yes", action="store_true", help="do not ask")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    box = outbox.Outbox(outbox.file_of(home()))
    try:
        chosen = _named(box.items(), arguments.ids)
        if arguments.action == "list":
            return _list(box, chosen if arguments.ids else box.items(), as_json=arguments.json)
        if arguments.action == "retry":
            return _retry(box, chosen)
        if not chosen and not arguments.all:
            raise InvalidInput("ID", "is missing; name what to drop, or say --all")
        return _drop(box, chosen or box.items(), sure=arguments.yes)
    finally:
        box.close()


def _list(box: outbox.Outbox, items: Sequence[outbox.Item], *, as_json: bool) -> int:
    eraser = masking.Redactor(AllowlistScanner(home()), {})  # what was queued under older rules is shown under today's
    if as_json:
        names = ("id", "origin", "project", "action", "memory", "title", "queued_at", "tries", "state", "reason")
        console.print_json([{name: eraser.field(name, getattr(item, name)) for name in names} for item in items])
        return 0
    for item in items:
        what = f"{item.id}  {item.state}  {item.action} {eraser.text(item.title) or item.memory}"
        why = f"  ({item.reason})" if item.reason else ""
        console.say(f"{what}  to {item.origin}, since {briefing.day(item.queued_at)}{why}")
    for origin in sorted({item.origin for item in items}):
        if paused := box.paused(origin):
            console.tell(f"nothing is sent to {origin}: {paused}")
    if not items:
        console.tell("nothing waits, and nothing was refused")
    return 0


def _retry(box: outbox.Outbox, chosen: Sequence[outbox.Item]) -> int:
    """Send what waits for the server in use, and tell what became of it."""
    count = box.retry([item.id for item in chosen])
    if not count:
        console.tell("nothing waits, and nothing was refused")
        return 0
    settings = resolve(os.environ).settings
    origin = server_of(settings, os.environ).origin if backend_kind(settings) == "rest" else ""
    if box.waiting(origin):
        with opening.open_session(os.environ, "cli", origin="cli", upkeep=False, drains=True):
            _wait(box, origin)
    left = box.items()
    console.say(f"{count - len(left)} sent, {len(left)} left" if len(left) < count else f"none sent, {len(left)} left")
    for item in left:
        if item.origin != origin:
            console.tell(f"{item.id} is for {item.origin}, which is not in use here")
        elif reason := box.paused(origin) or item.reason:
            console.tell(f"{item.id}: {reason}")
    return 1 if left else 0


def _wait(box: outbox.Outbox, origin: str) -> None:
    """Return when nothing waits for a server any more, or nothing has arrived there for a while."""
    fewest, ends = box.waiting(origin), time.monotonic() + _PATIENCE
    while fewest and not box.paused(origin) and time.monotonic() < ends:
        time.sleep(_LOOK)
        left = box.waiting(origin)
        if left < fewest:
            fewest, ends = left, time.monotonic() + _PATIENCE


def _drop(box: outbox.Outbox, chosen: Sequence[outbox.Item], *, sure: bool) -> int:
    if not sure:
        console.ask(f"{len(chosen)} writes that never arrived will be dropped for good. Go on?", "nothing was dropped")
    console.say(f"{len(box.drop([item.id for item in chosen]))} dropped")
    return 0


def _named(items: Sequence[outbox.Item], references: Sequence[str]) -> list[outbox.Item]:
    """The writes that these ids, or beginnings of ids, name.

    Raises: NotFound for one that names none, or several.
    """
    found = []
    for reference in references:
        fitting = [item for item in items if len(reference) >= _SHORTEST and item.id.startswith(reference.lower())]
        if len(fitting) != 1:
            raise NotFound(f"an ID names {len(fitting) or 'no'} writes; `keepmum outbox list` shows them")
        found += fitting
    return found
