"""`keepmum guard add`, `remove` and `list`: configure the guard for the servers of a client.

Clients start the guard itself, `keepmum guard -- COMMAND`; it is in `keepmum.guard`.
"""

from __future__ import annotations

import argparse

from keepmum.cli import console
from keepmum.cli.help import without_secrets
from keepmum.core.errors import InvalidInput
from keepmum.guard.main import USAGE

__all__ = ["register"]

_ACTIONS = ("add", "remove", "list")


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    guard = commands.add_parser(
        "guard",
        usage=USAGE.removeprefix("usage: ").rstrip(),
    )
    guard.add_argument(
        "action",
        nargs="?",
        default="list",
        choices=_ACTIONS,
        help="add the guard to a server, remove it, or list servers (default)",
    )
    guard.add_argument(
        "client", nargs="?", metavar="CLIENT", help="the client that uses the server, such as claude-code"
    )
    guard.add_argument("server", nargs="?", metavar="SERVER", help="the server's name in that client")
    guard.add_argument(
        "--scope", choices=("user", "project", "local"), help="which configuration, if several name the server"
    )
    guard.add_argument("--dry-run", action="store_true", help="show the changes, do nothing")
    guard.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    # Imported here: few runs of the command line need them.
    from keepmum_installers import guarding
    from keepmum_installers.console import Console
    from keepmum_installers.errors import InstallError
    from keepmum_installers.machine import Machine

    output = Console()
    try:
        machine = Machine.this()
        if arguments.action == "list":
            return guarding.show(arguments.client, machine, output)
        if not arguments.client or not arguments.server:
            raise InvalidInput("SERVER", f"is missing: keepmum guard {arguments.action} CLIENT SERVER")
        change = guarding.add if arguments.action == "add" else guarding.remove
        target = guarding.Target(arguments.client, arguments.server, arguments.scope)
        return change(target, machine, output, dry_run=arguments.dry_run)
    except InstallError as error:
        output.problem(InstallError(without_secrets(str(error), [arguments.client or ""]), error.next_step))
        return 1
