"""`keepmum promote` and `demote`: move a memory to other readers, after showing the change as a diff."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Sequence

from keepmum.cli import console
from keepmum.core.errors import InvalidInput
from keepmum.core.framing import escaped, inline
from keepmum.core.memory import Memory
from keepmum.service import AUDIENCES, Move
from keepmum.workspace import routing
from keepmum.workspace.resolve import backend_kind, resolve

__all__ = ["register"]

_WARNINGS = frozenset({"fields", "erasure"})  # missing capabilities to show before the move
_READERS = {"team": "everybody who has a key for the server", "repo": "everybody who has the repository", "mine": "you"}


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    promote = commands.add_parser("promote")
    demote = commands.add_parser("demote")
    for command, choices in ((promote, ("team", "repo")), (demote, ("mine", "repo"))):
        command.add_argument("id", metavar="ID", help="an id, an id prefix, or a key")
        command.add_argument("--to", choices=choices, required=command is promote, help="the new readers")
        command.add_argument("--dry-run", action="store_true", help="only show the diff")
        command.add_argument("--yes", action="store_true", help="do not ask for confirmation")
        command.set_defaults(run=_run)
    demote.set_defaults(to="mine")


def _run(arguments: argparse.Namespace) -> int:
    used = _used()
    if arguments.to == "team" and "rest" not in used:
        raise InvalidInput("--to", "no team server is configured; `keepmum backend use URL` configures one")
    stores = sorted({"sqlite", "markdown", *used})
    with console.Session(stores=stores) as memory:
        move = memory.plan_move(arguments.id, arguments.to)
        for line in _diff(memory.shown_move(move), _READERS[arguments.to]):
            console.out(line)
        for promise in _WARNINGS & move.without.keys():
            console.err(move.without[promise])
        if arguments.dry_run:
            return 0
        if not arguments.yes:
            console.confirm(f"It will be readable by {_READERS[arguments.to]}. Continue?", "nothing was moved")
        kept, queued = memory.move(move)
    if queued:
        console.out(f"queued: {kept.id} will be sent; until then it stays where it was (see `keepmum outbox`)")
    else:
        console.out(f"moved: {kept.id} from {move.source} to {move.target}")
    if move.target not in used:
        console.err(f"to read it, use that store: `keepmum backend use {move.target}`")
    return 0


def _used() -> set[str]:
    """The stores that the settings use."""
    chosen = resolve(os.environ).settings
    return set(routing.store_by_scope(backend_kind(chosen), chosen.backend.routes).values()) | {"sqlite"}


def _diff(move: Move, readers: str) -> list[str]:
    """Every line of the memory; changed lines are marked with - and +."""
    audience = {store: name for name, (store, _) in AUDIENCES.items()}
    former = _lines(move.before, move.source, _READERS[audience[move.source]])
    lines = difflib.unified_diff(former, _lines(move.after, move.target, readers), lineterm="", n=1_000_000)
    return list(lines)[3:]  # skips the header of the diff


def _lines(memory: Memory, store: str, readers: str) -> Sequence[str]:
    facts = [f"kept in: {store}", f"read by: {readers}", f"scope: {memory.scope}", f"title: {memory.title}"]
    facts += [f"{name}: {value}" for name in ("key", "kind", "why") if (value := getattr(memory, name))]
    if memory.tags:
        facts.append(f"tags: {', '.join(memory.tags)}")
    return [*map(inline, facts), "", *escaped("\n".join(memory.text.splitlines())).split("\n")]
