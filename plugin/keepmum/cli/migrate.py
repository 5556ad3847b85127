"""`keepmum migrate`: copy what one store holds into another."""

from __future__ import annotations

import argparse

from keepmum.cli import console
from keepmum.core.errors import InvalidInput
from keepmum.workspace.routing import STORES

__all__ = ["register"]

_PAST_HERE = {"markdown": "a repository's files", "rest": "a team's server"}
_EVERY = 1000  # memories from one word on progress to the next


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    command = commands.add_parser("migrate", help="copy memories from one store into another; again goes on")
    command.add_argument("source", choices=STORES, metavar="FROM", help="where they are")
    command.add_argument("target", choices=STORES, metavar="TO", help="another; files and servers take this project's")
    command.add_argument("--dry-run", action="store_true", help="only count")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    source, target = arguments.source, arguments.target
    if source == target:
        raise InvalidInput("TO", "is the same store")
    if "rest" in {source, target}:
        console.check_server("FROM" if source == "rest" else "TO")
    with console.Memory(origin="import", stores=[source, target]) as memory:
        done = memory.migrate(source, target, dry_run=arguments.dry_run, progress=_told)
    console.tell_refused(done.refused)
    console.tell_refused((name, f"the copy in {target} says something else") for name in done.differing)
    words = "would be copied" if arguments.dry_run else "copied and read back"
    counts = [
        f"{done.copied} {words}",
        f"{done.known} known already",
        f"{done.left} of other projects or no longer alive",
    ]
    counts += [f"{done.past} former states with them"] if done.past else []
    counts += [f"{done.queued} wait for the server"] if done.queued else []
    console.say(", ".join([*counts, f"{len(done.refused)} refused", f"{len(done.differing)} differing"]))
    if done.past_refused:
        console.tell(f"{done.past_refused} former states hold what looks like a secret and stay in {source}")
    if not arguments.dry_run and done.past and target in _PAST_HERE:
        console.tell(f"{_PAST_HERE[target]} cannot hold former states; they are kept on this machine")
    if not arguments.dry_run and done.copied:
        console.tell(f"{source} is as it was; `keepmum backend use {target}` keeps new memories in {target}")
    return 1 if done.refused or done.differing else 0


def _told(done: int) -> None:
    if done % _EVERY == 0:
        console.tell(f"{done} looked at")
