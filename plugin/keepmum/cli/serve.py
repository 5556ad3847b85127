"""`keepmum serve`: the server of a team."""

from __future__ import annotations

import argparse
import contextlib
import os

from keepmum.cli import console, serve_admin, serve_import
from keepmum.cli.login import refuse_in_session
from keepmum.cli.server_parts import server_modules
from keepmum.workspace import allowlist

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.server.settings import ServerSettings
    from keepmum.service.team_upgrade import Safety, Upgraded

__all__ = ["register"]


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command to a parser; each of its actions sets `run`."""
    serve = commands.add_parser("serve")
    actions = serve.add_subparsers(metavar="ACTION", required=True)
    init = actions.add_parser("init", help="make the server's secret, a first administrator, and a key for them")
    init.add_argument(
        "--database",
        metavar="URL",
        help="make roles and tables in this PostgreSQL database, as a superuser, whose address is not stored; or keep "
        "the memories in this Qdrant, such as http://localhost:6333",
    )
    init.set_defaults(run=_init)
    run = actions.add_parser("run", help="serve until the process is stopped")
    run.add_argument("--bind", metavar="ADDRESS", help="the address to listen on; default: 127.0.0.1")
    run.add_argument("--port", metavar="PORT", type=int, help="the port, 0 for any free one; default: 3100")
    run.add_argument(
        "--migrate", action="store_true", help="first apply the migrations that PostgreSQL lacks, as `serve upgrade`"
    )
    _add_without_backup(run, "with --migrate: even if no backup was made in the last day")
    run.set_defaults(run=_run)
    check = actions.add_parser("check", help="check settings, database and keys without serving")
    check.set_defaults(run=_check)
    upgrade = actions.add_parser("upgrade", help="back up, then apply the migrations that the tables lack")
    _add_without_backup(upgrade, "make no backup, and look for none")
    upgrade.set_defaults(run=_upgrade)
    serve_admin.register(actions)
    serve_import.register(actions)


def _add_without_backup(action: argparse.ArgumentParser, says: str) -> None:
    action.add_argument("--without-backup", action="store_true", help=says)


def _init(arguments: argparse.Namespace) -> int:
    refuse_in_session()
    from keepmum.server import opening, settings

    home = console.state_home()
    if arguments.database:
        _use_database(settings.load(home, os.environ, {"database_url": arguments.database}))
    from keepmum.server.people import first

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


def _use_database(asked: ServerSettings) -> None:
    """Prepare the database that was asked for, and store how to reach it."""
    from keepmum.server.opening import packages_needed
    from keepmum.server.settings import store_value
    from keepmum.service import team

    home = console.state_home()
    if asked.engine == "qdrant":
        with packages_needed():
            found = team.create_collection(asked.database_url, asked.database_key, asked.database_collection)
        has = "was made, without memories" if found is None else f"has {console.memory_count(found)}"
        console.err(f"the collection {asked.database_collection} {has}")
        store_value(home, "database.url", asked.database_url)
        return
    with packages_needed():
        owner, app = team.create_database(asked.database_url)
    serve_admin.store_database(owner, app)


def _run(arguments: argparse.Namespace) -> int:
    settings, lifecycle = server_modules()
    home = console.state_home()
    given = {name: value for name in ("bind", "port") if (value := getattr(arguments, name)) is not None}
    chosen = settings.load(home, os.environ, given)
    if arguments.migrate:
        _apply_migrations(chosen, "none" if arguments.without_backup else "recent")
    lifecycle.run(chosen, allowlist.AllowlistScanner(home))
    return 0


def _check(_: argparse.Namespace) -> int:
    settings, lifecycle = server_modules()
    home = console.state_home()
    for line in lifecycle.check(settings.load(home, os.environ), allowlist.AllowlistScanner(home)):
        console.out(line)
    return 0


def _upgrade(arguments: argparse.Namespace) -> int:
    refuse_in_session()
    from keepmum.server import settings

    chosen = settings.load(console.state_home(), os.environ)
    done = _apply_migrations(chosen, "none" if arguments.without_backup else "backup")
    if not done.steps:
        console.out("nothing to do: the tables are of this version")
        return 0
    if done.backup:
        console.out(f"backup   {done.backup}")
    console.out(f"applied  {', '.join(done.steps)}")
    console.out("checked  the tables can be used, and the audit log is intact")
    console.err(
        "next: start this version; on PostgreSQL replace one process after the other"
        if chosen.engine == "postgres"
        else "next: `keepmum serve run`"
    )
    return 0


def _apply_migrations(chosen: ServerSettings, safety: Safety) -> Upgraded:
    """Apply the migrations that the tables lack; a SQLite file must not be in use."""
    from keepmum.server import opening
    from keepmum.server.alone import alone
    from keepmum.service import team_upgrade

    with contextlib.nullcontext() if chosen.engine == "postgres" else alone(chosen.home), opening.packages_needed():
        return team_upgrade.upgrade(opening.spec_of(chosen), chosen.database_owner_url, chosen.backup_folder, safety)
