"""`keepmum serve`: the server of a team."""

from __future__ import annotations

import argparse
import os

from keepmum.cli import console, serve_admin
from keepmum.cli.login import refuse_in_session
from keepmum.cli.server_parts import server_modules
from keepmum.workspace import allowlist

__all__ = ["register"]


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; each of its actions sets `run`."""
    serve = commands.add_parser("serve")
    actions = serve.add_subparsers(metavar="ACTION", required=True)
    init = actions.add_parser("init", help="make the server's secret, a first administrator, and a key for them")
    init.set_defaults(run=_init)
    run = actions.add_parser("run", help="serve until the process is told to stop")
    run.add_argument("--bind", metavar="ADDRESS", help="the address to listen on; default: 127.0.0.1")
    run.add_argument("--port", metavar="PORT", type=int, help="the port, 0 for any free one; default: 3100")
    run.set_defaults(run=_run)
    serve_admin.register(actions)


def _init(_: argparse.Namespace) -> int:
    refuse_in_session()
    settings, lifecycle = server_modules()
    from keepmum.server.people import first

    home = console.state_home()
    chosen, scan = settings.load(home, os.environ), allowlist.AllowlistScanner(home)
    with first.administration(lifecycle.open_memory(chosen, scan), chosen.home, os.environ, scan) as admin:
        made = first.first_key(admin)
    if made is None:
        console.err("this server has people already; `keepmum keys make` makes another key")
        return 0
    console.out(made.text)
    console.err(
        "this is the key of the person admin, who may do everything; it is shown only now. Next: `keepmum serve run`, "
        "and in another terminal `keepmum people add` for each person"
    )
    return 0


def _run(arguments: argparse.Namespace) -> int:
    settings, lifecycle = server_modules()
    home = console.state_home()
    given = {name: value for name in ("bind", "port") if (value := getattr(arguments, name)) is not None}
    lifecycle.run(settings.load(home, os.environ, given), allowlist.AllowlistScanner(home))
    return 0
