"""The parser of every command, and the one place where errors become exit statuses.

Exit status: 0 done, 1 refused or failed, with the reason on standard error, 2 wrong usage, 3 a bug, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence

from keepmum.cli import (
    allow,
    audit,
    backend,
    console,
    guard,
    login,
    memories,
    migrate,
    model,
    outbox,
    promote,
    review,
    standup,
    switches,
    transfer,
)
from keepmum.cli import (
    help as helptext,
)
from keepmum.core import masking
from keepmum.core.errors import KeepmumError
from keepmum.core.memory import JsonValue
from keepmum.core.version import VERSION
from keepmum.workspace import allowlist, project, settings, toml_file
from keepmum.workspace.resolve import resolve

__all__ = ["GROUPS", "Probes", "build_parser", "run"]

_INTERRUPTED = 130
GROUPS = {
    "memories": ("remember", "recall", "load", "forget", "resume", "standup", "review"),
    "secrets": ("scan", "audit", "allow", "guard"),
    "transfer": ("export", "import", "promote", "demote", "migrate"),
    "team server": ("backend", "login", "logout", "whoami", "outbox"),
    "vector search": ("model", "reembed"),
    "this installation": ("status", "doctor", "on", "off", "install", "uninstall"),
    "started by clients": ("mcp", "hook"),
}


def run(argv: Sequence[str]) -> int:
    """Run one command and return its exit status; without a command, print the help."""
    root, known = build_parser(), [name for names in GROUPS.values() for name in names]
    if argv[:1] == ["help"]:
        argv = [*argv[1:2], "--help"]
    if argv and not argv[0].startswith("-") and argv[0] not in known:
        root.error(helptext.unknown(argv[0], known))
    arguments, rest = root.parse_known_args(argv or ["--help"])
    if rest:
        arguments.refuse(f"unrecognized arguments: {' '.join(rest)}")  # prints the usage of this command only
    return _guarded(arguments.run, arguments, argv)


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands; the reference documentation is rendered from it."""
    root: argparse.ArgumentParser = helptext.Parser(
        prog="keepmum",
        usage="keepmum COMMAND ...",
        description="One memory that coding agents share and that never keeps a secret.",
    )
    root.add_argument("--version", action="version", version=f"keepmum {VERSION}", help="show the version and exit")
    commands = root.add_subparsers(metavar="COMMAND", required=True, help=argparse.SUPPRESS, prog="keepmum")
    for family in (
        memories,
        review,
        standup,
        transfer,
        promote,
        migrate,
        audit,
        allow,
        login,
        backend,
        outbox,
        switches,
        guard,
        model,
    ):
        family.register(commands)
    commands.add_parser("mcp", help="run the MCP server on standard input and output (started by clients)")
    hook = commands.add_parser("hook", help="run one hook (started by clients)")
    hook.add_argument("event", metavar="EVENT", help="stop, session-start or guard")
    hook.add_argument("--client", metavar="NAME", help="the client that starts it", required=True)
    _add_scan(commands)
    from keepmum_installers import commands as installers

    installers.register(commands, Probes())
    root.epilog = (
        helptext.listed(GROUPS, helptext.describe(commands))
        + "\n\n`keepmum COMMAND --help` shows the options of a command."
    )
    return root


class Probes:
    """Facts of the core for `keepmum status` and `doctor`, whose package must not import it."""

    def store(self) -> dict[str, JsonValue]:
        """Health facts of the store, and how many items are to be reviewed in this project."""
        with console.Session(notices=False) as memory:  # the facts include the notices
            facts = memory.health()
            sound = facts.get("integrity") == "ok"  # a damaged store is reported, and repaired by the next use
            return {**facts, "review": sum(memory.review_counts().values()) if sound else 0}

    def settings(self) -> list[tuple[str, str, str]]:
        """Name, value as in a TOML file, and source of every setting in effect."""
        chosen = resolve(os.environ).settings
        values = {name: chosen.value_of(name) for name in settings.SETTINGS}
        texts = {name: "" if value is None else toml_file.literal(value) for name, value in values.items()}
        return [(name, value, chosen.source_of(name)) for name, value in texts.items()]

    def project(self) -> tuple[str, str, str, str]:
        """Id, name, root and source of the project of the working folder."""
        found = resolve(os.environ).project
        shown = masking.Redactor(allowlist.AllowlistScanner(None), {}).text
        root, source = (shown(path) if project.holds_key(path) else path for path in (found.root, found.source))
        return found.id, found.name, root, source


def _add_scan(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command for help and documentation; the scanner parses its own arguments."""
    scan = commands.add_parser("scan", help="scan files or standard input for secrets; stores nothing")
    scan.add_argument("paths", nargs="*", metavar="FILE", help="files and folders; default: standard input")
    scan.add_argument("--explain", action="store_true", help="say what decided about each finding, without the text")
    scan.add_argument(
        "--mask", action="store_true", help="print FILE or FILE:LINE with generated text of the same shape"
    )
    scan.add_argument("--staged", action="store_true", help="the added lines of what is staged for the next commit")
    scan.add_argument("--no-ignore", action="store_true", help="in folders, also scan files that git ignores")
    scan.add_argument("--json", action="store_true", help="print every finding as JSON")
    scan.add_argument("--sarif", action="store_true", help="print SARIF, for code hosts")


def _guarded(command: Callable[[argparse.Namespace], int], arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    """Run the command; map every exception to a message and an exit status."""
    try:
        status = command(arguments)
        sys.stdout.flush()  # a failure here can still be reported
    except KeepmumError as error:
        console.err(helptext.without_secrets(str(error), argv))
        return 1
    except KeyboardInterrupt:
        console.err("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:  # the reader closed the pipe
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        where = f"{error.filename}: " if isinstance(error.filename, str) else ""
        why = f"{helptext.without_secrets(where, argv)}{error.strerror or type(error).__name__}"
        console.err(f"failed: {why}. Fix that, then try again")
        return 1
    except Exception as error:  # noqa: BLE001 - a bug becomes a report
        _report(error)
        return 3
    return status


def _drop_output() -> None:
    """Redirect standard output to the null device, so that flushing it at exit does not fail again."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError):  # it may have no file descriptor
        os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def _report(error: BaseException) -> None:
    """Print a bug report: type and stack only, because the message of an exception may quote a memory."""
    console.err(f"internal error: {type(error).__name__}. Please report these lines (they contain no memory):")
    console.err(f"  keepmum {VERSION}, Python {sys.version.split()[0]}, {sys.platform}")
    for step in traceback.extract_tb(error.__traceback__):
        console.err(f"  {os.path.basename(step.filename)}:{step.lineno} {step.name}")
