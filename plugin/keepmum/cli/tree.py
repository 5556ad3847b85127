"""Every command of the command line, and how one is run.

Exit status: 0 done, 1 refused or failed with a sentence that says why, 2 wrong usage, 3 a bug, 130 interrupted.
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
    parsing,
    promote,
    review,
    standup,
    switches,
    transfer,
)
from keepmum.cli.probes import Probes
from keepmum.core.errors import KeepmumError
from keepmum.core.version import VERSION

__all__ = ["GROUPS", "parser", "run"]

_INTERRUPTED = 130
GROUPS = {
    "memories": ("remember", "recall", "load", "forget", "resume", "standup", "review"),
    "secrets": ("scan", "audit", "allow", "guard"),
    "taking them elsewhere": ("export", "import", "promote", "demote", "migrate"),
    "a team's server": ("backend", "login", "logout", "whoami", "outbox"),
    "search by meaning": ("model", "reembed"),
    "this installation": ("status", "doctor", "on", "off", "install", "uninstall"),
    "started by clients": ("mcp", "hook"),
}


def run(argv: Sequence[str]) -> int:
    """Exit status of one command; without any, the help is shown."""
    root, known = parser(), [name for names in GROUPS.values() for name in names]
    if argv and not argv[0].startswith("-") and argv[0] not in known:
        root.error(parsing.unknown(argv[0], known))
    arguments, rest = root.parse_known_args(argv or ["--help"])
    if rest:
        arguments.refuse(f"unrecognized arguments: {' '.join(rest)}")  # with the usage of this command, not of all
    return _guarded(arguments.run, arguments, argv)


def parser() -> argparse.ArgumentParser:
    """The whole command line, for `main` and for the documentation."""
    root: argparse.ArgumentParser = parsing.Parser(
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
    commands.add_parser("mcp", help="serve a client over standard input and output (clients start this)")
    hook = commands.add_parser("hook", help="run one hook of a client (clients start this)")
    hook.add_argument("event", metavar="EVENT", help="stop, session-start or guard")
    hook.add_argument("--client", metavar="NAME", help="the client that starts it", required=True)
    _add_scan(commands)
    from keepmum_installers import commands as installers

    installers.register(commands, Probes())
    root.epilog = parsing.listed(GROUPS, parsing.describe(commands)) + "\n\n`keepmum COMMAND --help` says more of each."
    return root


def _add_scan(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command for help and documentation; the scanner reads its words itself."""
    scan = commands.add_parser("scan", help="look for secrets in files or standard input; stores nothing")
    scan.add_argument("paths", nargs="*", metavar="FILE", help="files and folders; standard input when missing")
    scan.add_argument("--staged", action="store_true", help="what is staged for the next commit: its new lines")
    scan.add_argument("--no-ignore", action="store_true", help="of a folder, also the files that git ignores")
    scan.add_argument("--json", action="store_true", help="every place, for programs")
    scan.add_argument("--sarif", action="store_true", help="the same as SARIF, for code hosts")


def _guarded(command: Callable[[argparse.Namespace], int], arguments: argparse.Namespace, argv: Sequence[str]) -> int:
    """The one place where errors become exit statuses."""
    try:
        status = command(arguments)
        sys.stdout.flush()  # here, where a failure can still be told
    except KeepmumError as error:
        console.tell(parsing.without_secrets(str(error), argv))
        return 1
    except KeyboardInterrupt:
        console.tell("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of our output has seen enough
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        where = f"{error.filename}: " if isinstance(error.filename, str) else ""
        why = f"{parsing.without_secrets(where, argv)}{error.strerror or type(error).__name__}"
        console.tell(f"could not go on: {why}. Mend that, then try again")
        return 1
    except Exception as error:  # noqa: BLE001 - a bug becomes a report
        _report(error)
        return 3
    return status


def _drop_output() -> None:
    """Lead standard output to nothing, so that what is left of it fails no second time as the process ends."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError):  # it may be no file at all
        os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def _report(error: BaseException) -> None:
    """A bug as a report ready to paste: places only, since the words of an exception may quote a memory."""
    console.tell(f"a bug, sorry: {type(error).__name__}. Please report these lines (they hold no memory):")
    console.tell(f"  keepmum {VERSION}, Python {sys.version.split()[0]}, {sys.platform}")
    for step in traceback.extract_tb(error.__traceback__):
        console.tell(f"  {os.path.basename(step.filename)}:{step.lineno} {step.name}")
