"""`keepmum standup`: recent memories of every project, one line each."""

from __future__ import annotations

import argparse

from keepmum.cli import console
from keepmum.core import memory_text, serialization
from keepmum.core.framing import inline
from keepmum.core.memory import Memory
from keepmum.core.when import parse_when

__all__ = ["register"]


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    command = commands.add_parser("standup")
    command.add_argument("--since", default="yesterday", metavar="WHEN", help="default: yesterday; 2026-01-31, 7d")
    command.add_argument("--json", action="store_true", help="print every field as JSON")
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    with console.Session() as memory:
        since = parse_when("--since", arguments.since, memory.now())
        listing = console.Listing(memory.every(scope="all", since=since, statuses=("active",)))
        found = list(listing)
        names = memory.project_names()
    if arguments.json:
        console.print_json([serialization.to_json(item) for item in found])
        return 0 if found and not listing.problem else 1
    projects: dict[str | None, list[Memory]] = {}
    for item in found:
        projects.setdefault(item.project, []).append(item)
    for items in sorted(projects.values(), key=lambda items: _name(items[0], names)):
        console.out(f"In {inline(_name(items[0], names))}:")
        for item in items:
            console.out(memory_text.index_line(item))
    if not found:
        console.err(f"no memories since {arguments.since}")
    listing.complain("this list", memory.caveat())
    return 0 if found and not listing.problem else 1


def _name(memory: Memory, names: dict[str, str]) -> str:
    if memory.project is None:
        return "everywhere"
    return names.get(memory.project) or memory.project.rpartition("/")[2]
