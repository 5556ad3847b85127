"""`keepmum serve`: the server of a team."""

from __future__ import annotations

import argparse
import os

from keepmum.cli import console, serve_admin
from keepmum.cli.login import refuse_in_session
from keepmum.cli.server_parts import server_modules
from keepmum.core.errors import SettingsError
from keepmum.workspace import allowlist

__all__ = ["register"]


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; each of its actions sets `run`."""
    serve = commands.add_parser("serve")
    actions = serve.add_subparsers(metavar="ACTION", required=True)
    init = actions.add_parser("init", help="make the server's secret, a first administrator, and a key for them")
    init.add_argument(
        "--database",
        metavar="URL",
        help="make roles and tables in this PostgreSQL database, as a superuser; the address is not stored",
    )
    init.set_defaults(run=_init)
    run = actions.add_parser("run", help="serve until the process is told to stop")
    run.add_argument("--bind", metavar="ADDRESS", help="the address to listen on; default: 127.0.0.1")
    run.add_argument("--port", metavar="PORT", type=int, help="the port, 0 for any free one; default: 3100")
    run.add_argument("--migrate", action="store_true", help="first apply the migrations that PostgreSQL lacks")
    run.set_defaults(run=_run)
    check = actions.add_parser("check", help="check settings, database and keys without serving")
    check.set_defaults(run=_check)
    migrate = actions.add_parser("migrate", help="apply the migrations that PostgreSQL lacks; make a backup before")
    migrate.set_defaults(run=_migrate)
    serve_admin.register(actions)


def _init(arguments: argparse.Namespace) -> int:
    refuse_in_session()
    from keepmum.server import opening, settings

    if arguments.database:
        from keepmum.service import team

        owner, app = team.create_database(arguments.database)
        settings.store_value(console.state_home(), "database.url", app)
        settings.store_value(console.state_home(), "database.owner_url", owner)
    from keepmum.server.people import first

    home = console.state_home()
    chosen, scan = settings.load(home, os.environ), allowlist.AllowlistScanner(home)
    with first.administration(opening.open_memory(chosen, scan), chosen.home, os.environ, scan) as admin:
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
    chosen = settings.load(home, os.environ, given)
    if arguments.migrate:
        _apply_migrations(chosen.database_url, chosen.database_owner_url)
    lifecycle.run(chosen, allowlist.AllowlistScanner(home))
    return 0


def _check(_: argparse.Namespace) -> int:
    settings, lifecycle = server_modules()
    home = console.state_home()
    for line in lifecycle.check(settings.load(home, os.environ), allowlist.AllowlistScanner(home)):
        console.out(line)
    return 0


def _migrate(_: argparse.Namespace) -> int:
    from keepmum.server import settings

    chosen = settings.load(console.state_home(), os.environ)
    done = _apply_migrations(chosen.database_url, chosen.database_owner_url)
    console.out("\n".join(done) if done else "nothing to do: the tables are of this version")
    return 0


def _apply_migrations(url: str, owner: str) -> list[str]:
    if not url:
        return []  # SQLite's tables are migrated when the file is opened
    if not owner:
        raise SettingsError("database.owner_url is missing: the address for keepmum_owner, who may change the tables")
    from keepmum.service import team

    return team.migrate_database(owner)
