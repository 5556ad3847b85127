"""`keepmum migrate`: copy memories from one store into another."""

from __future__ import annotations

import argparse

from keepmum.cli import console
from keepmum.core.errors import InvalidInput
from keepmum.core.wording import counted
from keepmum.workspace.routing import STORES

__all__ = ["register"]

_WITHOUT_HISTORY = {"markdown": "a repository's files", "rest": "a team's server"}
_EVERY = 1000  # memories between two progress messages


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    command = commands.add_parser("migrate")
    command.add_argument("source", choices=STORES, metavar="FROM", help="the store to copy from")
    command.add_argument(
        "target",
        choices=STORES,
        metavar="TO",
        help="the store to copy to; files and servers take only this project's memories",
    )
    command.add_argument("--dry-run", action="store_true", help="only count memories")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    source, target = arguments.source, arguments.target
    if source == target:
        raise InvalidInput("TO", "is the same store")
    if "rest" in {source, target}:
        console.require_server("FROM" if source == "rest" else "TO")
    with console.Session(origin="import", stores=[source, target]) as memory:
        done = memory.migrate(source, target, dry_run=arguments.dry_run, progress=_print_progress)
    console.print_refused(done.refused)
    console.print_refused((name, f"the copy in {target} differs") for name in done.differing)
    words = "would be copied" if arguments.dry_run else "copied and verified"
    counts = [
        f"{done.copied} {words}",
        f"{done.known} unchanged",
        f"{done.left} skipped (other projects, or removed)",
    ]
    counts += [counted(done.past, "earlier version")] if done.past else []
    counts += [f"{done.queued} queued for the server"] if done.queued else []
    console.out(", ".join([*counts, f"{len(done.refused)} refused", f"{len(done.differing)} differing"]))
    if done.past_refused:
        console.err(f"in {source} only, since they look like a secret: {counted(done.past_refused, 'earlier version')}")
    if not arguments.dry_run and done.past and target in _WITHOUT_HISTORY:
        console.err(f"{_WITHOUT_HISTORY[target]} cannot store earlier versions; they stay on this machine")
    if done.incomplete:
        console.err(f"{done.incomplete} Run the command again to continue")
    if not arguments.dry_run and done.copied:
        console.err(f"{source} is unchanged; `keepmum backend use {target}` stores new memories in {target}")
    return 1 if done.refused or done.differing or done.incomplete else 0


def _print_progress(done: int, _total: int) -> None:
    if done % _EVERY == 0:
        console.err(f"{done} checked")
