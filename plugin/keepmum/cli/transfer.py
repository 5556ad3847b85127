"""`keepmum export` and `import`: JSON lines, Markdown files, and the formats of other tools."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from keepmum.cli import console
from keepmum.core import serialization
from keepmum.core.errors import InvalidInput, KeepmumError
from keepmum.core.memory import Memory
from keepmum.service import MemoryService, importers
from keepmum.service.importers import json_lines

__all__ = ["register"]


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    export = commands.add_parser("export")
    export.add_argument("file", nargs="?", metavar="FILE", help="default: standard output")
    export.add_argument("--all", action="store_true", help="every project; default: this one and global memories")
    export.add_argument("--markdown", metavar="FOLDER", help="write one file per memory, in the format of .memories")
    export.set_defaults(run=_export)

    imported = commands.add_parser("import")
    imported.add_argument(
        "path", nargs="?", metavar="PATH", help="a file or folder; default: JSON lines on standard input"
    )
    imported.add_argument(
        "--from",
        dest="format",
        choices=(*importers.FORMATS, "server"),
        metavar="FORMAT",
        help="the format; default: detected",
    )
    imported.set_defaults(run=_import)


def _export(arguments: argparse.Namespace) -> int:
    with console.Session() as memory:
        found = console.Listing(memory.every(scope="all" if arguments.all else None))
        if arguments.markdown is not None:
            count = _write_files(arguments.markdown, found)
        elif arguments.file is None:
            count = console.write_lines(sys.stdout, map(_line, found))
        else:
            with console.create_file(arguments.file) as file:
                count = console.write_lines(file, map(_line, found))
    console.err(f"{console.memory_count(count)} exported")
    found.complain("this export", memory.caveat())
    return 1 if found.problem else 0


def _line(memory: Memory) -> str:
    return json.dumps(serialization.to_json(memory), ensure_ascii=False)


def _write_files(folder: str, found: Iterable[Memory]) -> int:
    """Write one file per memory into a new or empty folder; return their number."""
    if os.path.isdir(folder) and os.listdir(folder):
        raise InvalidInput("file", f"{folder} is not empty; choose another name")
    count = 0
    for count, memory in enumerate(found, start=1):  # noqa: B007 - the result
        importers.write_file(folder, memory)
    return count


def _import(arguments: argparse.Namespace) -> int:
    if arguments.format == "server":
        return _import_from_server()
    counts = Counter({"imported": 0, "unchanged": 0, "refused": 0})
    refused: list[tuple[str, str]] = []
    with console.Session(origin="import") as memory:
        for found in _found(arguments):
            outcome, why = _import_one(memory, found)
            counts[outcome] += 1
            refused += [(found.place, why)] if why else []
    console.print_refused(refused)
    if len(refused) == counts.total() > 1:
        console.err("nothing could be imported; is it another format? See `keepmum import --help`")
    console.out(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["refused"] else 0


def _found(arguments: argparse.Namespace) -> Iterator[importers.ImportItem]:
    if arguments.path is None:
        return json_lines.read_lines(sys.stdin.buffer)
    return importers.FORMATS[arguments.format or importers.format_of(arguments.path)](arguments.path)


def _import_one(memory: MemoryService, found: importers.ImportItem) -> tuple[str, str]:
    """The outcome for one memory, and the reason if it was refused."""
    if found.values is None:
        return "refused", found.problem
    values = dict(found.values)
    if values.get("project") is None and values.get("scope", "project") in {"project", "shared"}:
        values["project"] = memory.place.project  # repository files and other tools name no project
    try:
        answer = memory.import_memory(values)
    except KeepmumError as error:
        return "refused", str(error)
    return ("unchanged" if answer.action is None else "imported"), ""


def _import_from_server() -> int:
    """Copy the memories of the team server, as `keepmum migrate rest sqlite` does."""
    console.require_server("--from")
    with console.Session(origin="import", stores=["rest", "sqlite"]) as memory:
        done = memory.migrate("rest", "sqlite")
    console.print_refused(done.refused)
    console.print_refused((name, "the copy differs") for name in done.differing)
    if done.incomplete:
        console.err(f"{done.incomplete} Run the command again to continue")
    console.out(f"{done.copied} imported, {done.known} unchanged, {len(done.refused)} refused")
    return 1 if done.refused or done.differing or done.incomplete else 0
