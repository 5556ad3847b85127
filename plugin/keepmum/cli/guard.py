"""`keepmum guard add`, `remove` and `list`: put the guard in front of servers that a client has, or take it away.

The guard itself, `keepmum guard -- COMMAND`, is started by clients and lies in `keepmum.guard`.
"""

from __future__ import annotations

import argparse

from keepmum.cli import console
from keepmum.core.errors import InvalidInput
from keepmum.guard.options import USAGE

__all__ = ["register"]

_ACTIONS = ("add", "remove", "list")


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; it sets `run`."""
    guard = commands.add_parser(
        "guard",
        help="refuse secrets in front of another memory server: `guard -- COMMAND` runs it, `guard add` arranges that",
        usage=USAGE.removeprefix("usage: ").rstrip(),
    )
    guard.add_argument("action", choices=_ACTIONS, help="put the guard in front of a server, take it away, or look")
    guard.add_argument("client", nargs="?", metavar="CLIENT", help="the client that has the server, as claude-code")
    guard.add_argument("server", nargs="?", metavar="SERVER", help="the server's name in that client")
    guard.add_argument("--scope", choices=("user", "project", "local"), help="where, if it is in several places")
    guard.add_argument("--dry-run", action="store_true", help="show what would be done")
    guard.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    # Few runs of the command line need these.
    from keepmum_installers import guarding
    from keepmum_installers.errors import InstallError
    from keepmum_installers.machine import Machine
    from keepmum_installers.voice import Voice

    voice = Voice()
    try:
        machine = Machine.this()
        if arguments.action == "list":
            return guarding.show(arguments.client, machine, voice)
        if not arguments.client or not arguments.server:
            raise InvalidInput("SERVER", f"is missing: keepmum guard {arguments.action} CLIENT SERVER")
        change = guarding.add if arguments.action == "add" else guarding.remove
        wanted = guarding.Wanted(arguments.client, arguments.server, arguments.scope)
        return change(wanted, machine, voice, dry_run=arguments.dry_run)
    except InstallError as error:
        voice.problem(error)
        return 1
