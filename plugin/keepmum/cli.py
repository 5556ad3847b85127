"""The command line: each command is one call of the service, or one of the installers'.

Exit status: 0 done, 1 refused or failed with a sentence that says why, 2 wrong usage, 3 a bug, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from keepmum import application, briefing, exchange, settings
from keepmum.errors import ConfirmationNeeded, InvalidInput, KeepmumError
from keepmum.memory import KINDS, LIMITS, SCOPES, JsonValue
from keepmum.service import MemoryService
from keepmum.version import VERSION
from keepmum.when import parse_when

__all__ = ["main", "parser", "run"]

_AGENT = "cli"
_LINE_LIMIT = 1 << 20  # characters of one memory in an import file
_DAY_SECONDS = 86_400
Command = Callable[[argparse.Namespace], int]


def run() -> None:
    """The console script."""
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    """Exit status of one command."""
    if argv[:1] == ["mcp"]:
        from keepmum.mcp import serve

        return serve.main(argv[1:])
    if argv[:1] == ["scan"]:
        from keepmum_scanner import cli as scanner

        return scanner.main(argv[1:])
    arguments = parser().parse_args(argv)
    try:
        command: Command = arguments.run
        return command(arguments)
    except KeepmumError as error:
        _tell(str(error))
        return 1
    except KeyboardInterrupt:
        _tell("interrupted")
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the one place where a bug becomes a report
        _report(error)
        return 3


def parser() -> argparse.ArgumentParser:
    """The whole command line, for `main` and for the documentation."""
    root = argparse.ArgumentParser(
        prog="keepmum", description="One memory that coding agents share and that never keeps a secret."
    )
    root.add_argument("--version", action="version", version=f"keepmum {VERSION}")
    commands = root.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_memory_commands(commands)
    _add_exchange_commands(commands)
    _add_switches(commands)
    commands.add_parser("mcp", help="serve a client over standard input and output (clients start this)")
    commands.add_parser("scan", help="look for secrets in files or standard input; stores nothing")
    from keepmum_installers import commands as installers

    installers.register(commands, _Probes())
    return root


# -- the memory


def _add_memory_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    remember = commands.add_parser("remember", help="keep a memory")
    remember.add_argument("text", nargs="?", help="what to keep; from standard input when missing")
    remember.add_argument("--title")
    remember.add_argument("--key", help="a stable name; writing to it again replaces")
    remember.add_argument("--kind", choices=KINDS)
    remember.add_argument("--why")
    remember.add_argument("--tag", action="append", default=[], dest="tags")
    remember.add_argument("--scope", choices=SCOPES)
    remember.add_argument("--importance", type=float, help="0 to 1")
    remember.add_argument("--supersedes", metavar="ID")
    remember.add_argument("--ttl-days", type=float)
    remember.add_argument("--source")
    remember.set_defaults(run=_remember)

    recall = commands.add_parser("recall", help="search the memory, or list the latest")
    recall.add_argument("query", nargs="*", help="a question or keywords")
    recall.add_argument("--kind", action="append", default=[], choices=KINDS, dest="kinds")
    recall.add_argument("--tag", action="append", default=[], dest="tags")
    recall.add_argument("--scope", choices=(*SCOPES, "all"))
    recall.add_argument("--since", help="2026-01-31, today, 12h, 7d")
    recall.add_argument("--limit", type=_positive, default=10)
    recall.add_argument("--trash", action="store_true", help="look in the trash instead")
    recall.add_argument("--json", action="store_true")
    recall.set_defaults(run=_recall)

    load = commands.add_parser("load", help="show memories in full")
    load.add_argument("ids", nargs="+", metavar="ID", help="an id, the beginning of one, or a key")
    load.add_argument("--history", action="store_true", help="show what they were before, too")
    load.add_argument("--json", action="store_true")
    load.set_defaults(run=_load)

    forget = commands.add_parser("forget", help="remove memories; undone with --undo for 30 days")
    forget.add_argument("ids", nargs="*", metavar="ID")
    forget.add_argument("--query", help="every word must occur")
    forget.add_argument("--tag", action="append", default=[], dest="tags")
    forget.add_argument("--older-than", help="not changed since: 2026-01-31, 30d")
    how = forget.add_mutually_exclusive_group()
    how.add_argument("--archive", action="store_const", const="archive", dest="mode", help="keep, but do not recall")
    how.add_argument("--purge", action="store_const", const="purge", dest="mode", help="remove for good, at once")
    how.add_argument("--undo", action="store_true", help="bring back, or take back the last change")
    forget.add_argument("--dry-run", action="store_true", help="only show what would be removed")
    forget.add_argument("--yes", action="store_true", help="do not ask")
    forget.set_defaults(run=_forget, mode="trash")

    resume = commands.add_parser("resume", help="what is needed to go on with this project")
    resume.add_argument("--tokens", type=_positive, default=1500)
    resume.set_defaults(run=_resume)


def _remember(arguments: argparse.Namespace) -> int:
    text = arguments.text if arguments.text is not None else _read_text(sys.stdin)
    with _Memory() as memory:
        answer = memory.remember(
            text,
            supersedes=arguments.supersedes,
            title=arguments.title,
            key=arguments.key,
            kind=arguments.kind,
            why=arguments.why,
            tags=arguments.tags or None,
            scope=arguments.scope,
            importance=arguments.importance,
            ttl_seconds=None if arguments.ttl_days is None else arguments.ttl_days * _DAY_SECONDS,
            source=arguments.source,
        )
    print(f"{answer.action or 'known already'}: {briefing.index_line(answer.memory)[2:]}")
    return 0


def _recall(arguments: argparse.Namespace) -> int:
    with _Memory() as memory:
        found = memory.recall(
            " ".join(arguments.query),
            kinds=arguments.kinds,
            tags=arguments.tags,
            scope=arguments.scope,
            since=None if arguments.since is None else parse_when("--since", arguments.since, memory.now()),
            limit=arguments.limit,
            statuses=("trashed",) if arguments.trash else ("active",),
        )
    if arguments.json:
        _print_json([{**exchange.to_json(match.memory), "score": match.score} for match in found])
    for match in () if arguments.json else found:
        print(briefing.index_line(match.memory, match.score if arguments.query else None))
    if not found:
        _tell("no memories match")
    return 0 if found else 1


def _load(arguments: argparse.Namespace) -> int:
    with _Memory() as memory:
        loaded = memory.load(arguments.ids)
        past = {item.id: memory.history(item.id) for item in loaded} if arguments.history else {}
    if arguments.json:
        _print_json([exchange.to_json(item) for item in loaded])
        return 0
    for item in loaded:
        print(briefing.full(item))
        for revision in past.get(item.id, ()):
            before = exchange.parse(revision.before)
            print(f"  before {briefing.day(revision.at)} ({revision.action} by {revision.agent}): {before.text}")
    return 0


def _forget(arguments: argparse.Namespace) -> int:
    with _Memory() as memory:
        if arguments.undo:
            if not arguments.ids:
                raise InvalidInput("ID", "is missing; --undo needs the memories to bring back")
            for reference in arguments.ids:
                answer = memory.undo(reference)
                print(f"{answer.action}: {briefing.index_line(answer.memory)[2:]}")
            return 0
        older = arguments.older_than
        wanted = {
            "query": arguments.query,
            "tags": arguments.tags,
            "older_than": None if older is None else parse_when("--older-than", older, memory.now()),
            "mode": arguments.mode or "trash",
        }
        listed = memory.forget(arguments.ids, **wanted, dry_run=True)
        for item in listed.memories:
            print(briefing.index_line(item))
        if not listed.memories or arguments.dry_run:
            _tell(f"{len(listed.memories)} would be {listed.action}")
            return 0
        if (not arguments.ids or arguments.mode == "purge") and not arguments.yes:
            _ask(f"{len(listed.memories)} will be {listed.action}. Go on?")
        done = memory.forget(arguments.ids, **wanted, confirmation=listed.confirmation)
    print(f"{len(done.memories)} {done.action}")
    return 0


def _resume(arguments: argparse.Namespace) -> int:
    with _Memory() as memory:
        print(memory.resume(arguments.tokens) or "Nothing is remembered for this project yet.")
    return 0


# -- exports and imports


def _add_exchange_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    export = commands.add_parser("export", help="write memories as JSON lines")
    export.add_argument("file", nargs="?", help="standard output when missing")
    export.add_argument("--all", action="store_true", help="of every project, not of this one and the global ones")
    export.set_defaults(run=_export)

    imported = commands.add_parser("import", help="read memories that `export` wrote; each is scanned")
    imported.add_argument("file", nargs="?", help="standard input when missing")
    imported.set_defaults(run=_import)


def _export(arguments: argparse.Namespace) -> int:
    with _Memory() as memory:
        lines = (
            json.dumps(exchange.to_json(item), ensure_ascii=False) for item in memory.every(everywhere=arguments.all)
        )
        if arguments.file is None:
            count = _write_lines(sys.stdout, lines)
        else:
            with _opened(arguments.file, "x") as file:
                count = _write_lines(file, lines)
    _tell(f"{count} memories exported")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    counts = {"imported": 0, "known already": 0, "refused": 0}
    with _Memory(origin="import") as memory:
        source = sys.stdin if arguments.file is None else _opened(arguments.file, "r")
        with source as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    counts[_import_line(memory, number, line)] += 1
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["refused"] else 0


def _import_line(memory: MemoryService, number: int, line: str) -> str:
    try:
        if len(line) > _LINE_LIMIT:
            raise InvalidInput("line", f"has {len(line):,} characters, the limit is {_LINE_LIMIT:,}")
        values = json.loads(line)
        if not isinstance(values, dict):
            raise InvalidInput("line", "is not a JSON object")
        return "known already" if memory.import_memory(values).action is None else "imported"
    except ValueError:
        _tell(f"line {number}: is not JSON")
    except KeepmumError as error:
        _tell(f"line {number}: {error}")
    return "refused"


# -- on and off


def _add_switches(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    for word, what in (("off", "switch Keepmum off: no tools, no hooks, no briefing"), ("on", "switch it on again")):
        switch = commands.add_parser(word, help=what)
        where = switch.add_mutually_exclusive_group()
        where.add_argument("--project", action="store_true", help="for this project, in its .keepmum.toml")
        where.add_argument("--session", action="store_true", help="for the session of the client that runs this")
        switch.set_defaults(run=_switch, enabled=word == "on")


def _switch(arguments: argparse.Namespace) -> int:
    from keepmum import switching

    where = "session" if arguments.session else "project" if arguments.project else "everywhere"
    place = switching.SWITCHES[where](os.environ, arguments.enabled)
    print(f"Keepmum is {'on' if arguments.enabled else 'off'} ({where}: {place}).")
    _tell("clients that are open notice it when they start their next session")
    return 0


# -- what commands share


class _Memory:
    """The memory as seen from the working folder, for the length of one command."""

    def __init__(self, origin: str = "cli") -> None:
        self._service = application.open_memory(os.environ, _AGENT, origin=origin, upkeep=False)
        for notice in self._service.notices():
            _tell(notice)

    def __enter__(self) -> MemoryService:
        return self._service

    def __exit__(self, *_: object) -> None:
        self._service.close()


class _Probes:
    """What the doctor asks of the core, which the installers do not import."""

    def store(self) -> dict[str, JsonValue]:
        """Health of the store."""
        with _Memory() as memory:
            return memory.health()

    def settings(self) -> list[tuple[str, str, str]]:
        """Name, value and source of every setting that holds here."""
        chosen = settings.load(os.environ, os.getcwd())
        return [(name, str(chosen.value_of(name)), chosen.source_of(name)) for name in settings.SETTINGS]

    def project(self) -> tuple[str, str, str, str]:
        """Id, name, root and source of the project of the working folder."""
        found = application.find_project(os.environ)
        return found.id, found.name, found.root, found.source


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _read_text(stream: TextIO) -> str:
    """All of a stream, up to what a memory may hold and a little more, so that the limit is told."""
    if stream.isatty():
        _tell("type the memory, then end of input (Ctrl-D)")
    try:
        return stream.read(LIMITS.text * 2)
    except UnicodeDecodeError:
        raise InvalidInput("text", "is not UTF-8; only text can be remembered") from None


def _opened(path: str, mode: str) -> TextIO:
    try:
        descriptor_mode = 0o600  # an export holds memories: for its owner alone
        opener = None if mode == "r" else lambda name, flags: os.open(name, flags, descriptor_mode)
        return open(path, mode, encoding="utf-8", newline="\n" if mode == "x" else None, opener=opener)
    except FileExistsError:
        raise InvalidInput("file", f"{path} exists already; choose another name") from None
    except OSError as error:
        raise InvalidInput("file", f"{path}: {error.strerror}") from None


def _write_lines(file: TextIO, lines: Iterable[str]) -> int:
    count = 0
    for line in lines:
        file.write(line + "\n")
        count += 1
    return count


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise ConfirmationNeeded("nothing was removed: this removes more than was named. Repeat it with --yes.")
    if input(f"{question} [y/N] ").strip().lower() not in {"y", "yes"}:
        raise ConfirmationNeeded("nothing was removed")


def _print_json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))


def _tell(message: str) -> None:
    print(f"keepmum: {message}", file=sys.stderr)


def _report(error: BaseException) -> None:
    """A bug as a report ready to paste: places only, since the words of an exception may quote a memory."""
    steps = [
        f"  {os.path.basename(step.filename)}:{step.lineno} {step.name}"
        for step in traceback.extract_tb(error.__traceback__)
    ]
    _tell(f"a bug, sorry: {type(error).__name__}. Please report these lines (they hold no memory):")
    print(f"  keepmum {VERSION}, Python {sys.version.split()[0]}, {sys.platform}", *steps, sep="\n", file=sys.stderr)
