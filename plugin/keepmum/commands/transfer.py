"""`keepmum export` and `import`: memories as JSON lines."""

from __future__ import annotations

import argparse
import json
import sys

from keepmum import exchange
from keepmum.commands import console
from keepmum.errors import KeepmumError
from keepmum.memory import JsonValue
from keepmum.service import MemoryService

__all__ = ["register"]

_LINE_LIMIT = 1 << 20  # bytes of one memory
_MOST_TOLD = 20  # refused lines; the rest of a file of another kind is only counted


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each sets `run`."""
    export = commands.add_parser("export", help="write memories as JSON lines")
    export.add_argument("file", nargs="?", help="standard output when missing")
    export.add_argument("--all", action="store_true", help="of every project, not of this one and the global ones")
    export.set_defaults(run=_export)

    imported = commands.add_parser("import", help="read memories that `export` wrote; each is scanned")
    imported.add_argument("file", nargs="?", help="standard input when missing")
    imported.set_defaults(run=_import)


def _export(arguments: argparse.Namespace) -> int:
    with console.Memory() as memory:
        lines = (
            json.dumps(exchange.to_json(item), ensure_ascii=False) for item in memory.every(everywhere=arguments.all)
        )
        if arguments.file is None:
            count = console.write_lines(sys.stdout, lines)
        else:
            with console.made(arguments.file) as file:
                count = console.write_lines(file, lines)
    console.tell(f"{count} memories exported")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    counts = {"imported": 0, "known already": 0, "refused": 0}
    with console.Memory(origin="import") as memory:
        source = sys.stdin.buffer if arguments.file is None else console.opened(arguments.file)
        with source as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    outcome, why = _taken_in(memory, line)
                    counts[outcome] += 1
                    if why and counts[outcome] <= _MOST_TOLD:
                        console.tell(f"line {number}: {why}")
    console.say(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["refused"] else 0


def _taken_in(memory: MemoryService, line: bytes) -> tuple[str, str]:
    """What became of a line, and why if it was refused."""
    try:
        answer = memory.import_memory(_parsed(line))
    except KeepmumError as error:
        return "refused", str(error)
    return ("known already" if answer.action is None else "imported"), ""


def _parsed(line: bytes) -> dict[str, JsonValue]:
    """The object that a line spells.

    Raises: KeepmumError when it spells none; a byte-order mark, as Windows editors write it, is none of its problems.
    """
    if len(line) > _LINE_LIMIT:
        raise KeepmumError(f"has {len(line):,} bytes, the limit is {_LINE_LIMIT:,}")
    try:
        values = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise KeepmumError("is not JSON in UTF-8") from None
    if not isinstance(values, dict):
        raise KeepmumError("is not a JSON object")
    return values
