"""`keepmum serve import`: move the memories of a shared-agent-memory server into this one."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator, Mapping

from keepmum.cli import console
from keepmum.cli.login import refuse_in_session
from keepmum.core.errors import InvalidInput, KeepmumError
from keepmum.workspace import settings as user_settings
from keepmum.workspace.resolve import resolve, server_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.server.settings import ServerSettings
    from keepmum.service import MemoryService
    from keepmum.service.server_import import Source

__all__ = ["register"]

_EVERY = 1_000  # memories between two progress messages


def register(actions: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the action to those of `keepmum serve`; it sets `run`."""
    imported = actions.add_parser(
        "import",
        help="move the memories of a shared-agent-memory server into this one; run it again to go on",
    )
    imported.add_argument(
        "source", metavar="SOURCE", help="the server's address, after `keepmum login` there, or a file with its points"
    )
    imported.add_argument(
        "--project", metavar="NAME=ID", action="append", default=[],
        help="the id here of a project there; may be repeated; default: its name there",
    )  # fmt: skip
    imported.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    imported.set_defaults(run=_import)


def _import(arguments: argparse.Namespace) -> int:
    refuse_in_session()
    from keepmum.server import settings
    from keepmum.service import server_import

    names = dict(_renamed(given) for given in arguments.project)
    chosen = settings.load(console.state_home(), os.environ)
    with _service(chosen) as service, _source(arguments.source, service, names) as source:
        if unknown := sorted({*names} - {*source.projects.values()}):
            raise InvalidInput("--project", f"no memory there is of the project {unknown[0]}")
        if not arguments.yes:
            console.confirm(f"Import {console.memory_count(len(source.projects))}?", "nothing was imported")
        done = server_import.move(source, service, names, _print_progress)
    console.print_refused(done.imports.refusals)
    for name, (there, here) in done.counts.items():
        place = names.get(name, name)
        console.out(f"{name}{'' if place == name else f' as {place}'}: {there:,} there, {here:,} here")
    counts = done.imports
    console.out(
        f"{counts.imported} imported, {counts.updated} updated, {counts.unchanged} unchanged, {counts.refused} refused"
    )
    if done.problem:
        console.err(f"the list of the server is not complete: {done.problem}. Run the command again to continue")
    is_whole = not done.problem and all(there == here for there, here in done.counts.values())
    return 0 if is_whole and not counts.refused else 1


@contextlib.contextmanager
def _service(settings: ServerSettings) -> Iterator[MemoryService]:
    """The whole memory of this server, while no other process has it."""
    from keepmum.server import opening
    from keepmum.server.alone import alone
    from keepmum.server.people.first import operator
    from keepmum.service import Place
    from keepmum.service.team import ORGANISATION, Grant
    from keepmum.workspace import allowlist

    scan = allowlist.AllowlistScanner(console.state_home())
    with (
        contextlib.nullcontext() if settings.engine == "postgres" else alone(settings.home),
        contextlib.closing(opening.open_memory(settings, scan)) as team,
        team.service(Grant(ORGANISATION), actor=operator(), place=Place(), origin="import") as service,
    ):
        yield service


@contextlib.contextmanager
def _source(source: str, service: MemoryService, names: Mapping[str, str]) -> Iterator[Source]:
    from keepmum.service import server_import

    if "://" not in source:
        yield server_import.exported_points(source)
        return
    environ = {**os.environ, "MEMORY_API_URL": user_settings.origin_of(source)}
    server = server_of(resolve(environ).settings, environ)
    if not server.key:
        raise KeepmumError(server.no_key)
    with server_import.of_server(server, service, names) as found:
        yield found


def _renamed(given: str) -> tuple[str, str]:
    name, equals, place = given.partition("=")
    if not (name and equals and place):
        raise InvalidInput("--project", f"must be NAME=ID, such as api=github.com/acme/api, and is {given}")
    return name, place


def _print_progress(done: int, _: int) -> None:
    if done and done % _EVERY == 0:
        console.err(f"{done:,} read")
