"""`keepmum audit`: scan stored memories and files with the current rules."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace

from keepmum.cli import console
from keepmum.core import masking
from keepmum.core.wording import counted
from keepmum.service import audit
from keepmum.workspace import allowlist
from keepmum.workspace.resolve import resolve
from keepmum_hooks import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.service import MemoryService
    from keepmum.service.audit import Report

__all__ = ["register"]

_CLEAN, _FOUND = 0, 1
_STEP = 100  # memories between two progress updates


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    audit = commands.add_parser("audit")
    audit.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; default: the store")
    audit.add_argument("--json", action="store_true", help="print every finding as JSON")
    how = audit.add_mutually_exclusive_group()
    how.add_argument(
        "--redact", action="store_true", help="replace the secrets in the store, its history and its backups"
    )
    how.add_argument(
        "--purge", action="store_true", help="remove the memories that contain secrets, with history and backups"
    )
    audit.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    audit.set_defaults(run=_audit, usage_error=audit.error)


def _audit(arguments: argparse.Namespace) -> int:
    if not arguments.paths:
        return _store(arguments)
    if arguments.redact or arguments.purge:
        arguments.usage_error("--redact and --purge apply to the store only; edit files yourself")
    for path in arguments.paths:
        if not os.path.lexists(path):
            arguments.usage_error(f"{path} does not exist")
    found, unread = _scanned(arguments.paths)
    if arguments.json:
        console.print_json([asdict(spot) for spot in found])
    for spot in () if arguments.json else found:
        console.out(str(spot))
    console.err(_secrets(len(found)))
    return _FOUND if found or unread else _CLEAN


def _scanned(paths: Sequence[str]) -> tuple[list[audit.FileSecret], int]:
    """The findings in the files, and the number of text files that could not be scanned."""
    scan = allowlist.AllowlistScanner(places.home(os.environ))
    named = masking.Redactor(scan, {})
    found: list[audit.FileSecret] = []
    unread = 0
    for path in audit.files_below(paths):
        result = audit.audit_file(path, scan)
        if not isinstance(result, audit.UnscannedFile):
            found += [replace(spot, file=named.text(spot.file)) for spot in result]
        elif result.may_hold_text:
            unread += 1
            console.err(f"{named.text(path)}: {result.reason}; it was not scanned")
    if scan.problem:
        console.err(scan.problem)
    return found, unread


def _settings_files() -> list[str]:
    """The settings files in effect: a key in one of them is as readable as in a note."""
    home, root = places.home(os.environ), resolve(os.environ).project.root
    candidates = (f"{home}/config.toml" if home else "", os.path.join(root, ".keepmum.toml") if root else "")
    return [path for path in candidates if os.path.isfile(path)]


def _store(arguments: argparse.Namespace) -> int:
    spots, unread = _scanned(_settings_files())
    with console.Session() as memory:
        report = memory.audit(_progress)
        _end_progress()
        if arguments.json:
            console.print_json([*map(asdict, report.places), *map(asdict, spots)])
        for place in () if arguments.json else (*report.places, *spots):
            console.out(str(place))
        console.err(f"{_secrets(len(report.places))}, among {console.memory_count(report.looked_at)}")
        if spots:
            console.err("a settings file contains a secret; remove it by hand and replace it where it is used")
        if report.incomplete:
            console.err("not every memory was scanned, because the server did not list all; run the command again")
        left = _FOUND if spots or unread or report.incomplete else _CLEAN
        if not report.places:
            return left
        if not (arguments.redact or arguments.purge):
            console.err("`keepmum audit --redact` replaces them, `keepmum audit --purge` removes the memories")
            return _FOUND
        return max(left, _cleanse(arguments, memory, report))


def _secrets(places: int) -> str:
    return counted(places, "place with a secret", "places with secrets")


def _cleanse(arguments: argparse.Namespace, memory: MemoryService, report: Report) -> int:
    done = "removed" if arguments.purge else "redacted"
    if not arguments.yes:
        console.confirm(
            f"{console.memory_count(len(report.memories))} will be {done} permanently, also in history and log. All "
            "backups and copies of damaged files will be deleted, and one new backup made. Continue?"
        )
    removed = memory.cleanse(report, purge=arguments.purge)
    console.err(f"{console.memory_count(len(report.memories))} {done}; the index was rebuilt and the file rewritten")
    console.err(f"deleted, because they may contain it: {', '.join(removed) or 'nothing'}; a new backup was made")
    left = memory.audit().places
    if left:
        remain = f"{counted(len(left), 'place')} {'remains' if len(left) == 1 else 'remain'}"
        console.err(f"{remain}, because another process writes there; run the command again")
    return _FOUND if left else _CLEAN


def _progress(done: int, _total: int) -> None:
    if done % _STEP == 0 and sys.stderr.isatty():
        sys.stderr.write(f"\rkeepmum: {done:,} memories")
        sys.stderr.flush()


def _end_progress() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
