"""`keepmum serve`: the server of a team."""

from __future__ import annotations

import argparse
import os

from keepmum.cli import console
from keepmum.core.errors import SettingsError
from keepmum.workspace import allowlist

__all__ = ["register"]


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; each of its actions sets `run`."""
    serve = commands.add_parser("serve")
    actions = serve.add_subparsers(metavar="ACTION", required=True)
    run = actions.add_parser("run", help="serve until the process is told to stop")
    run.add_argument("--bind", metavar="ADDRESS", help="the address to listen on; default: 127.0.0.1")
    run.add_argument("--port", metavar="PORT", type=int, help="the port, 0 for any free one; default: 3100")
    run.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    try:
        from keepmum.server import lifecycle, settings
    except ImportError as error:
        raise SettingsError(
            f"{error.name} is missing; install the server with: pip install 'keepmum[server]'"
        ) from None
    home = console.state_home()
    given = {name: value for name in ("bind", "port") if (value := getattr(arguments, name)) is not None}
    lifecycle.run(settings.load(home, os.environ, given), allowlist.AllowlistScanner(home))
    return 0
