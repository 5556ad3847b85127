"""`keepmum export` and `import`: memories as JSON lines or Markdown files, and those of other tools."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator

from keepmum.cli import console
from keepmum.core import serialization
from keepmum.core.errors import InvalidInput, KeepmumError
from keepmum.core.memory import Memory
from keepmum.service import MemoryService, importers
from keepmum.service.importers import lines

__all__ = ["register"]


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    export = commands.add_parser("export", help="write memories as JSON lines, or as Markdown files")
    export.add_argument("file", nargs="?", metavar="FILE", help="standard output when missing")
    export.add_argument("--all", action="store_true", help="of every project, not of this one and the global ones")
    export.add_argument("--markdown", metavar="FOLDER", help="a file for each, in the form of .memories")
    export.set_defaults(run=_export)

    imported = commands.add_parser("import", help="read memories of `export` and of other tools; each is scanned")
    imported.add_argument(
        "path", nargs="?", metavar="PATH", help="a file or folder; standard input, as JSON lines, when missing"
    )
    imported.add_argument(
        "--from",
        dest="format",
        choices=(*importers.FORMATS, "server"),
        metavar="FORMAT",
        help="what it is; how it looks decides if not",
    )
    imported.set_defaults(run=_import)


def _export(arguments: argparse.Namespace) -> int:
    with console.Memory() as memory:
        found = memory.every(everywhere=arguments.all)
        if arguments.markdown is not None:
            count = _write_files(arguments.markdown, found)
        elif arguments.file is None:
            count = console.write_lines(sys.stdout, map(_line, found))
        else:
            with console.made(arguments.file) as file:
                count = console.write_lines(file, map(_line, found))
    console.tell(f"{console.memories(count)} exported")
    return 0


def _line(memory: Memory) -> str:
    return json.dumps(serialization.to_json(memory), ensure_ascii=False)


def _write_files(folder: str, found: Iterator[Memory]) -> int:
    """How many files were made in a folder that is new or empty."""
    if os.path.isdir(folder) and os.listdir(folder):
        raise InvalidInput("file", f"{folder} is not empty; choose another name")
    count = 0
    for count, memory in enumerate(found, start=1):  # noqa: B007 - it is the answer
        importers.write_file(folder, memory)
    return count


def _import(arguments: argparse.Namespace) -> int:
    if arguments.format == "server":
        return _import_from_server()
    counts = Counter({"imported": 0, "known already": 0, "refused": 0})
    refused: list[tuple[str, str]] = []
    with console.Memory(origin="import") as memory:
        for found in _found(arguments):
            outcome, why = _taken_in(memory, found)
            counts[outcome] += 1
            refused += [(found.place, why)] if why else []
    console.tell_refused(refused)
    if len(refused) == counts.total() > 1:
        console.tell("nothing could be taken in: is it of another kind? `keepmum import --help` lists what is read")
    console.say(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["refused"] else 0


def _found(arguments: argparse.Namespace) -> Iterator[importers.Found]:
    if arguments.path is None:
        return lines.read_lines(sys.stdin.buffer)
    return importers.FORMATS[arguments.format or importers.format_of(arguments.path)](arguments.path)


def _taken_in(memory: MemoryService, found: importers.Found) -> tuple[str, str]:
    """What became of a memory, and why if it was refused."""
    if found.values is None:
        return "refused", found.problem
    values = dict(found.values)
    if values.get("project") is None and values.get("scope", "project") in {"project", "shared"}:
        values["project"] = memory.place.project  # files of a repository do not name it, and other tools know none
    try:
        answer = memory.import_memory(values)
    except KeepmumError as error:
        return "refused", str(error)
    return ("known already" if answer.action is None else "imported"), ""


def _import_from_server() -> int:
    """Copy what the team's server holds, as `keepmum migrate rest sqlite` does."""
    console.check_server("--from")
    with console.Memory(origin="import", stores=["rest", "sqlite"]) as memory:
        done = memory.migrate("rest", "sqlite", dry_run=False, progress=lambda _: None)
    console.tell_refused(done.refused)
    console.say(f"{done.copied} imported, {done.known} known already, {len(done.refused)} refused")
    return 1 if done.refused or done.differing else 0
