"""The parser of every command, and the one place where errors become exit statuses.

Exit status: 0 done, 1 refused or failed, with the reason on standard error, 2 wrong usage, 3 a bug, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from keepmum.cli import console
from keepmum.cli import help as helptext
from keepmum.cli.commands import ALIASES, COMMANDS, answer, module_of, suggestion
from keepmum.core.errors import KeepmumError
from keepmum.core.version import VERSION

__all__ = ["build_parser", "run"]

_INTERRUPTED = 130


def run(argv: Sequence[str]) -> int:
    """Run one command and return its exit status; without a command, print the help."""
    if (status := answer(argv)) is not None:
        return status
    if argv[:1] == ["help"]:
        argv = [*argv[1:2], "--help"]
    command = ALIASES.get(argv[0], argv[0])
    if command not in COMMANDS:
        build_parser(()).error("unrecognized option" if command.startswith("-") else suggestion(command))
    arguments, rest = build_parser([command]).parse_known_args([command, *argv[1:]])
    if rest:
        arguments.refuse(f"unrecognized arguments: {' '.join(rest)}")  # prints the usage of this command only
    return _guarded(arguments.run, arguments, argv)


def build_parser(names: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of these commands, whose modules are imported; the reference is rendered from that of all."""
    root: argparse.ArgumentParser = helptext.Parser(prog="keepmum", usage="keepmum COMMAND ...", add_help=False)
    commands = root.add_subparsers(metavar="COMMAND", required=True, prog="keepmum", action=_Commands)
    for module in dict.fromkeys(map(module_of, names)):
        importlib.import_module(module).register(commands)
    return root


class _Commands(console.Subparsers):  # type: ignore[type-arg]  # it is generic for type checkers only
    """Describes each command by its line in the table of commands."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser:
        """Add a command of the table."""
        says = COMMANDS[name]
        options |= {"help": says, "description": f"{says[:1].upper()}{says[1:]}."}
        command: argparse.ArgumentParser = super().add_parser(name, **options)
        command.set_defaults(refuse=command.error)
        return command


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
