"""`keepmum audit`: what is kept already, judged by the rules of today."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace

from keepmum.cli import console
from keepmum.core import masking
from keepmum.service import audit_files
from keepmum.workspace import allowlist
from keepmum.workspace.resolve import resolve
from keepmum_hooks import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.service import MemoryService
    from keepmum.service.audit import Report

__all__ = ["register"]

_CLEAN, _FOUND = 0, 1
_STEP = 100  # memories between two words of progress


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    audit = commands.add_parser("audit", help="look for secrets in what is kept already: the whole store, or files")
    audit.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; the store when missing")
    audit.add_argument("--json", action="store_true", help="every place, for programs")
    how = audit.add_mutually_exclusive_group()
    how.add_argument("--redact", action="store_true", help="replace them in the store, its history and its backups")
    how.add_argument("--purge", action="store_true", help="remove the memories that hold them, with all traces")
    audit.add_argument("--yes", action="store_true", help="do not ask")
    audit.set_defaults(run=_audit, usage_error=audit.error)


def _audit(arguments: argparse.Namespace) -> int:
    if not arguments.paths:
        return _store(arguments)
    if arguments.redact or arguments.purge:
        arguments.usage_error("--redact and --purge are for the store; files are yours to change")
    for path in arguments.paths:
        if not os.path.lexists(path):
            arguments.usage_error(f"{path} does not exist")
    found, unread = _judged(arguments.paths)
    if arguments.json:
        console.print_json([asdict(spot) for spot in found])
    for spot in () if arguments.json else found:
        console.say(str(spot))
    console.tell(_secrets(len(found)))
    return _FOUND if found or unread else _CLEAN


def _judged(paths: Sequence[str]) -> tuple[list[audit_files.Spot], int]:
    """What is found in the files, and how many that may hold a text were not looked at."""
    judge = allowlist.AllowlistScanner(places.home(os.environ))
    named = masking.Redactor(judge, {})
    found: list[audit_files.Spot] = []
    unread = 0
    for path in audit_files.files_of(paths):
        result = audit_files.audit(path, judge)
        if not isinstance(result, audit_files.Unread):
            found += [replace(spot, file=named.text(spot.file)) for spot in result]
        elif result.wanted:
            unread += 1
            console.tell(f"{named.text(path)}: {result.reason}; it was not looked at")
    if judge.problem:
        console.tell(judge.problem)
    return found, unread


def _settings_files() -> list[str]:
    """The files of settings that hold here and are there: a key that was put into one is as readable as a note."""
    home, root = places.home(os.environ), resolve(os.environ).project.root
    candidates = (f"{home}/config.toml" if home else "", os.path.join(root, ".keepmum.toml") if root else "")
    return [path for path in candidates if os.path.isfile(path)]


def _store(arguments: argparse.Namespace) -> int:
    spots, unread = _judged(_settings_files())
    with console.Memory() as memory:
        report = memory.audit(_progress)
        _end_progress()
        if arguments.json:
            console.print_json([*map(asdict, report.places), *map(asdict, spots)])
        for place in () if arguments.json else (*report.places, *spots):
            console.say(str(place))
        console.tell(f"{_secrets(len(report.places))}, among {console.memories(report.looked_at)}")
        if spots:
            console.tell("a secret stands in a file of settings; take it out by hand, and change it where it is used")
        left = _FOUND if spots or unread else _CLEAN
        if not report.places:
            return left
        if not (arguments.redact or arguments.purge):
            console.tell("`keepmum audit --redact` replaces them, `keepmum audit --purge` removes the memories")
            return _FOUND
        return max(left, _cleanse(arguments, memory, report))


def _secrets(places: int) -> str:
    return f"{places:,} {'place with a secret' if places == 1 else 'places with secrets'}"


def _cleanse(arguments: argparse.Namespace, memory: MemoryService, report: Report) -> int:
    done = "removed" if arguments.purge else "redacted"
    if not arguments.yes:
        console.ask(
            f"{console.memories(len(report.memories))} will be {done} for good, in history and log too; all backups "
            "and damaged files set aside will be deleted, and one new backup made. Go on?"
        )
    removed = memory.cleanse(report, purge=arguments.purge)
    console.tell(f"{console.memories(len(report.memories))} {done}; the index was made anew and the file rewritten")
    console.tell(f"deleted, since they may hold it: {', '.join(removed) or 'nothing'}; a new backup was made")
    left = memory.audit().places
    if left:
        console.tell(f"{len(left)} places are left: something else writes them; run it again")
    return _FOUND if left else _CLEAN


def _progress(done: int) -> None:
    if done % _STEP == 0 and sys.stderr.isatty():
        sys.stderr.write(f"\rkeepmum: {done:,} memories")
        sys.stderr.flush()


def _end_progress() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
