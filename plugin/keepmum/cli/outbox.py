"""`keepmum outbox`: writes that are queued for a server, or that it refused."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence

from keepmum.cli import console
from keepmum.core import masking, memory_text
from keepmum.core.errors import InvalidInput, NotFound
from keepmum.core.framing import inline
from keepmum.core.wording import counted
from keepmum.service import opening
from keepmum.stores import outbox
from keepmum.workspace.allowlist import AllowlistScanner
from keepmum.workspace.resolve import backend_kind, resolve, server_of

__all__ = ["queued_elsewhere", "register"]

_TIMEOUT = 10.0  # seconds without progress, after which the server counts as unreachable
_INTERVAL = 0.1  # seconds between two checks
_SHORTEST = 6  # characters of an id prefix


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    command = commands.add_parser("outbox")
    command.add_argument(
        "action",
        nargs="?",
        default="list",
        choices=("list", "retry", "drop"),
        help="list (default), send again, or drop",
    )
    command.add_argument("ids", nargs="*", default=[], metavar="ID", help="ids or their prefixes; retry: default all")
    command.add_argument("--all", action="store_true", help="drop everything")
    command.add_argument("--json", action="store_true", help="print every field as JSON")
    command.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    command.set_defaults(run=_run)


def queued_elsewhere(used: str) -> list[str]:
    """The servers other than `used` for which writes are queued."""
    path = outbox.file_of(console.state_home())
    if not os.path.exists(path):
        return []
    box = outbox.Outbox(path)
    try:
        return sorted({item.origin for item in box.items()} - {used})
    finally:
        box.close()


def _run(arguments: argparse.Namespace) -> int:
    box = outbox.Outbox(outbox.file_of(console.state_home()))
    try:
        chosen = _named(box.items(), arguments.ids)
        if arguments.action == "list":
            return _list(box, chosen if arguments.ids else box.items(), as_json=arguments.json)
        if arguments.action == "retry":
            return _retry(box, chosen)
        if not chosen and not arguments.all:
            raise InvalidInput("ID", "is missing; name the writes to drop, or use --all")
        return _drop(box, chosen or box.items(), sure=arguments.yes)
    finally:
        box.close()


def _list(box: outbox.Outbox, items: Sequence[outbox.Item], *, as_json: bool) -> int:
    redactor = masking.Redactor(
        AllowlistScanner(console.state_home()), {}
    )  # queued writes may predate the current rules
    if as_json:
        names = ("id", "origin", "project", "action", "memory", "title", "queued_at", "tries", "state", "reason")
        console.print_json([{name: redactor.field(name, getattr(item, name)) for name in names} for item in items])
        return 0
    for item in items:
        what = f"{item.id}  {item.state}  {item.action} {inline(redactor.text(item.title)) or item.memory}"
        why = f"  ({inline(item.reason)})" if item.reason else ""
        console.out(f"{what}  to {item.origin}, since {memory_text.day(item.queued_at)}{why}")
    for origin in sorted({item.origin for item in items}):
        if paused := box.pause_reason(origin):
            console.err(f"sending to {origin} is paused: {paused}")
    if not items:
        console.err("the outbox is empty")
    return 0


def _retry(box: outbox.Outbox, chosen: Sequence[outbox.Item]) -> int:
    """Send the queued writes of the configured server again, and print the result."""
    count = box.retry([item.id for item in chosen])
    if not count:
        console.err("the outbox is empty")
        return 0
    settings = resolve(os.environ).settings
    origin = server_of(settings, os.environ).origin if backend_kind(settings) == "rest" else ""
    if box.count_waiting(origin):
        with opening.open_session(os.environ, "cli", origin="cli", upkeep=False, drains=True):
            _wait(box, origin)
    left = box.items()
    console.out(f"{count - len(left)} sent, {len(left)} left" if len(left) < count else f"none sent, {len(left)} left")
    for item in left:
        if item.origin != origin:
            console.err(
                f"{item.id} is for {item.origin}, which is not configured here: `keepmum backend use {item.origin}` "
                "sends it, `keepmum outbox drop` discards it"
            )
        elif reason := box.pause_reason(origin) or item.reason:
            console.err(f"{item.id}: {reason}")
    return 1 if left else 0


def _wait(box: outbox.Outbox, origin: str) -> None:
    """Wait until nothing is queued for the server, or nothing was sent for `_TIMEOUT` seconds."""
    fewest, ends = box.count_waiting(origin), time.monotonic() + _TIMEOUT
    while fewest and not box.pause_reason(origin) and time.monotonic() < ends:
        time.sleep(_INTERVAL)
        left = box.count_waiting(origin)
        if left < fewest:
            fewest, ends = left, time.monotonic() + _TIMEOUT


def _drop(box: outbox.Outbox, chosen: Sequence[outbox.Item], *, sure: bool) -> int:
    if not sure:
        what = counted(len(chosen), "unsent write")
        console.confirm(f"{what} will be dropped permanently. Continue?", "nothing was dropped")
    console.out(f"{len(box.drop([item.id for item in chosen]))} dropped")
    return 0


def _named(items: Sequence[outbox.Item], references: Sequence[str]) -> list[outbox.Item]:
    """The queued writes with these ids or id prefixes.

    Raises: NotFound when one matches none, or several.
    """
    found = []
    for reference in references:
        fitting = [item for item in items if len(reference) >= _SHORTEST and item.id.startswith(reference.lower())]
        if len(fitting) != 1:
            raise NotFound(f"an ID names {len(fitting) or 'no'} writes; `keepmum outbox list` shows them")
        found += fitting
    return found
