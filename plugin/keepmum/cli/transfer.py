"""`keepmum export` and `import`: JSON lines, Markdown files, and the formats of other tools."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator

from keepmum.cli import console
from keepmum.core.errors import InvalidInput
from keepmum.core.framing import inline
from keepmum.core.memory import Memory
from keepmum.service import MemoryService, importers
from keepmum.service.importers import json_lines
from keepmum.service.importers.keepmum import read_lines, to_json
from keepmum.service.importers.memories import write_file
from keepmum.service.importers.sniff import require_file
from keepmum.service.importers.survey import Survey, survey
from keepmum.workspace import settings
from keepmum.workspace.resolve import backend_kind, resolve
from keepmum.workspace.routing import store_by_scope

__all__ = ["register"]

_MOST_LOSSES = 12  # kinds of what cannot be kept, that a preview lists
_MOST_NAMES = 6  # kinds, authors and projects, each
_QUIET = 1.0  # seconds before progress is shown
_STEP = 5_000  # memories that are read between two updates


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    export = commands.add_parser("export")
    export.add_argument("file", nargs="?", metavar="FILE", help="default: standard output")
    export.add_argument("--all", action="store_true", help="every project; default: this one and global memories")
    form = export.add_mutually_exclusive_group()
    form.add_argument("--markdown", metavar="FOLDER", help="write one file per memory, in the format of .memories")
    form.add_argument("--history", action="store_true", help="also write the former states of each memory")
    export.set_defaults(run=_export)

    imported = commands.add_parser(
        "import",
        description="Import memories of other tools, or from `export`. A preview comes first; each memory is scanned, "
        "and marked as from outside. What was imported before is not imported again.",
    )
    imported.add_argument(
        "path",
        nargs="?",
        metavar="PATH-OR-URL",
        help="a file, a folder, or a team server; default: JSON lines on standard input",
    )
    imported.add_argument("--from", dest="format", metavar="FORMAT", help="the format; default: detected")
    imported.add_argument("--dry-run", action="store_true", help="show what would be imported, and import nothing")
    imported.add_argument("--here", action="store_true", help="into this project, whatever projects the source names")
    imported.add_argument("--yes", action="store_true", help="do not ask")
    imported.set_defaults(run=_import)


def _export(arguments: argparse.Namespace) -> int:
    with console.Session() as memory:
        found = console.Listing(memory.every(scope="all" if arguments.all else None))
        rows = (to_json(one, memory.revisions(one.id) if arguments.history else ()) for one in found)
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        if arguments.markdown is not None:
            count = _write_files(arguments.markdown, found)
        elif arguments.file is None:
            count = console.write_lines(sys.stdout, lines)
        else:
            with console.create_file(arguments.file) as file:
                count = console.write_lines(file, lines)
    console.err(f"{console.memory_count(count)} exported")
    found.complain("this export", memory.caveat())
    return 1 if found.problem else 0


def _write_files(folder: str, found: Iterable[Memory]) -> int:
    """Write one file per memory into a new or empty folder; return their number."""
    if os.path.isdir(folder) and os.listdir(folder):
        raise InvalidInput("file", f"{folder} is not empty; choose another name")
    count = 0
    for count, memory in enumerate(found, start=1):  # noqa: B007 - the result
        write_file(folder, memory)
    return count


def _import(arguments: argparse.Namespace) -> int:
    if arguments.format == "server" or "://" in (arguments.path or ""):
        return _import_from_server(arguments)
    if arguments.path is None:
        if arguments.dry_run or arguments.format not in {None, "keepmum"}:
            raise InvalidInput("PATH", "is missing; standard input takes JSON lines from `keepmum export` only")
        return _store(read_lines(json_lines.bounded(sys.stdin.buffer)), 0, here=arguments.here)
    known, path = _source(arguments.path, arguments.format)
    counted = survey(_with_progress(importers.read_items(known, path)))
    with console.Session(origin="import", notices=False, routes=_local_routes()) as memory:
        _print_preview(counted, f"{path}: {known.title}", memory, here=arguments.here)
    if arguments.dry_run:
        return 0
    if counted.memories and not arguments.yes:
        console.confirm(f"Import {console.memory_count(counted.memories)}?", "nothing was imported")
    return _store(importers.read_items(known, path), counted.memories, here=arguments.here)


def _source(path: str, name: str | None) -> tuple[importers.Format, str]:
    """The format of a path, and the file or folder to read."""
    if name is None:
        return importers.format_of(path)
    known = importers.format_named(name)
    require_file(path)
    return known, path


def _store(found: Iterable[importers.Found], total: int, *, here: bool) -> int:
    """Import what was read, and print what became of it."""
    routes = _local_routes()
    with console.Session(origin="import", routes=routes) as memory:
        progress = _Progress(total)
        done = memory.import_all(found, progress, here=here)
        progress.end()
    console.print_refused(done.refusals)
    if done.refused > len(done.refusals):
        console.err(f"and {done.refused - len(done.refusals):,} more refused")
    if done.refused == done.total > 1:
        console.err("nothing could be imported; is it another format? See `keepmum import --help`")
    for count, what in (
        (done.keyless, "without the key, which another memory here has"),
        (done.former, "former states kept in the history"),
        (done.former_refused, "former states left out: invalid, or with a secret"),
    ):
        if count:
            console.err(f"{count:,} {what}")
    if routes and done.imported:
        console.err(
            "they are in this machine's database, not on the team server: `KEEPMUM_BACKEND=sqlite keepmum recall` "
            "finds them, and `keepmum migrate sqlite rest` copies those of this project to the server"
        )
    counts = {"imported": done.imported, "updated": done.updated, "unchanged": done.unchanged, "refused": done.refused}
    console.out(", ".join(f"{count} {what}" for what, count in counts.items() if count or what != "updated"))
    return 1 if done.refused else 0


def _local_routes() -> tuple[str, ...]:
    """Where to import to when new memories go to a team server: others' text is not shared by an import."""
    chosen = resolve(os.environ).settings
    leading = store_by_scope(backend_kind(chosen), chosen.backend.routes)
    if "rest" not in leading.values():
        return ()
    return tuple(f"{scope}:{'sqlite' if store == 'rest' else store}" for scope, store in leading.items())


def _print_preview(counted: Survey, source: str, memory: MemoryService, *, here: bool) -> None:
    """What an import would bring, on standard error: standard output has the result only."""
    console.err(memory.masked(inline(source)))
    lines = [f"{console.memory_count(counted.memories)}{_period(counted)}"]
    if counted.former:
        lines[0] += f", and {counted.former:,} former states of them"
    if counted.memories:
        lines += [
            f"kinds: {_most_frequent(counted.kinds, memory)}",
            f"written by: {_most_frequent(counted.authors, memory)}",
        ]
    if counted.projects and not here:
        targets = Counter[str]()
        for name, count in counted.projects.items():
            targets[_project_shown(name, memory)] += count
        lines.append(f"projects: {_most_frequent(targets, memory)}; `--here` puts all into this one")
    if counted.unreadable:
        lines.append(f"{counted.unreadable:,} cannot be read, and will be listed as refused")
    lines += [
        f"not kept: {memory.masked(inline(what))} ({count:,})"
        for what, count in counted.not_kept.most_common(_MOST_LOSSES)
    ]
    if len(counted.not_kept) > _MOST_LOSSES:
        lines.append(f"not kept: {len(counted.not_kept) - _MOST_LOSSES:,} more kinds of fields or rows")
    if counted.memories:
        lines.append(
            "All are marked as from outside: they are found on request, and not shown unasked until confirmed."
        )
    for line in lines:
        sys.stderr.write(f"  {line}\n")


def _project_shown(name: str, memory: MemoryService) -> str:
    """A project as the source names it, with what becomes of it."""
    found = memory.project_of(name)
    shown = inline(os.path.basename(name.rstrip("/\\")) or name)
    if found == memory.place.project:
        return f"{shown} (this one)"
    return shown if found != name else f"{shown} (not known here)"


def _most_frequent(counts: Counter[str], memory: MemoryService) -> str:
    """The most frequent names, which are not scanned yet, as they may be shown."""
    shown = ", ".join(f"{memory.masked(inline(name))} {count:,}" for name, count in counts.most_common(_MOST_NAMES))
    return shown + (f" and {len(counts) - _MOST_NAMES:,} more" if len(counts) > _MOST_NAMES else "")


def _period(counted: Survey) -> str:
    """The days of the first and the last change."""
    if counted.earliest is None or counted.latest is None:
        return ""
    days = [time.strftime("%Y-%m-%d", time.gmtime(at / 1000)) for at in (counted.earliest, counted.latest)]
    return f", of {days[0]}" if days[0] == days[1] else f", {days[0]} to {days[1]}"


def _with_progress(found: Iterable[importers.Found]) -> Iterator[importers.Found]:
    """The same items, with their number shown on a terminal."""
    progress = _Progress(0)
    for count, each in enumerate(found, start=1):
        yield each
        if count % _STEP == 0:
            progress(count, 0)
    progress.end()


class _Progress:
    """Prints how far an import is, with an estimate of what is left, on a terminal."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._started = time.monotonic()
        self._printed = False

    def __call__(self, done: int, _total: int, /) -> None:
        elapsed = time.monotonic() - self._started
        if not sys.stderr.isatty() or elapsed < _QUIET:
            return
        self._printed = True
        left = round(elapsed * (self._total - done) / done) if done and self._total > done else 0
        estimate = f" of {self._total:,}, about {left} s left" if self._total else " read"
        sys.stderr.write(f"\r  {done:,}{estimate}\x1b[K")
        sys.stderr.flush()

    def end(self) -> None:
        """Clear the line."""
        if self._printed:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _import_from_server(arguments: argparse.Namespace) -> int:
    """Copy the memories of a team server, as `keepmum migrate rest sqlite` does."""
    environ = dict(os.environ)
    if "://" in (arguments.path or ""):
        environ["MEMORY_API_URL"] = settings.origin_of(arguments.path)  # it gets a key like any server of a variable
    else:
        console.require_server("--from")
    with console.Session(origin="import", stores=["rest", "sqlite"], environ=environ) as memory:
        done = memory.migrate("rest", "sqlite", dry_run=arguments.dry_run)
    console.print_refused(done.refused)
    console.print_refused((name, "the copy differs") for name in done.differing)
    if done.incomplete:
        console.err(f"{done.incomplete} Run the command again to continue")
    would_be = "would be " if arguments.dry_run else ""
    console.out(f"{done.copied} {would_be}imported, {done.known} unchanged, {len(done.refused)} refused")
    return 1 if done.refused or done.differing or done.incomplete else 0
