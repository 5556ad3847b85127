"""`keepmum people` and `keepmum keys`: who may use the server of this machine, and with which keys."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime

from keepmum.cli import console
from keepmum.cli.login import refuse_in_session
from keepmum.core.errors import InvalidInput
from keepmum.workspace import allowlist

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.server.people.administration import Administration, NewKey
    from keepmum.service.team import Key, Person

__all__ = ["register"]

_ROLES = ("reader", "writer", "curator", "admin")
_ROLE_HELP = f"one of {', '.join(_ROLES)}; each may do what those before it may do"


def register(commands: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands to a parser; each of their actions sets `run`."""
    _register_people(commands.add_parser("people").add_subparsers(metavar="ACTION", required=True))
    _register_keys(commands.add_parser("keys").add_subparsers(metavar="ACTION", required=True))


def _register_people(actions: console.Subparsers[argparse.ArgumentParser]) -> None:
    add = actions.add_parser("add", help="add a person or a service")
    add.add_argument("name", metavar="NAME", help="the name in history and audit log")
    add.add_argument("--role", choices=_ROLES, required=True, help=_ROLE_HELP)
    _add_projects(add, "where the role counts")
    add.add_argument("--service", action="store_true", help="it is a service, such as a build")
    add.set_defaults(run=_add)
    listing = actions.add_parser("list", help="list people with their roles")
    listing.add_argument("--removed", action="store_true", help="list the removed people, who may be restored")
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(run=_list_people)
    remove = actions.add_parser("remove", help="remove a person with all keys; the memories stay")
    remove.add_argument("name", metavar="NAME", help="a name or an id")
    remove.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    remove.set_defaults(run=_remove)
    restore = actions.add_parser(
        "restore", help="admit a removed person again, with the same roles; the keys are withdrawn"
    )
    restore.add_argument("name", metavar="NAME", help="a name or an id")
    restore.set_defaults(run=_restore)
    role = actions.add_parser("role", help="change a role in a project")
    role.add_argument("name", metavar="NAME", help="a name or an id")
    role.add_argument("role", metavar="ROLE", choices=(*_ROLES, "none"), help=f"{_ROLE_HELP}; or none")
    _add_projects(role, "where the role changes")
    role.set_defaults(run=_set_role)


def _register_keys(actions: console.Subparsers[argparse.ArgumentParser]) -> None:
    make = actions.add_parser("make", help="make a key, which is shown once")
    make.add_argument("person", metavar="PERSON", help="whose key it is: a name or an id")
    make.add_argument("--name", metavar="NAME", default="key", help="to distinguish the person's keys, such as laptop")
    make.add_argument("--role", choices=_ROLES, help="the most that the key gives; default: the person's roles")
    make.add_argument(
        "--project", action="append", dest="projects", metavar="ID",
        help="where the key counts; repeatable; default: in every project where the person has a role",
    )  # fmt: skip
    make.add_argument("--agent", metavar="NAME", default="", help="label of memories, where the client names none")
    _add_days(make)
    make.set_defaults(run=_make)
    listing = actions.add_parser("list", help="list keys, without the keys themselves")
    listing.add_argument("person", metavar="PERSON", nargs="?", help="whose keys; default: everybody's")
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(run=_list_keys)
    withdraw = actions.add_parser("withdraw", help="withdraw a key; no server process accepts it after 5 seconds")
    withdraw.add_argument("id", metavar="ID", help="the 8 characters after kmt_")
    withdraw.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    withdraw.set_defaults(run=_withdraw)
    rotate = actions.add_parser("rotate", help="make a new key like another one, which stays valid for some days")
    rotate.add_argument("id", metavar="ID", help="the 8 characters after kmt_")
    rotate.add_argument("--overlap", metavar="DAYS", type=float, default=7.0, help="days that the old key stays valid")
    _add_days(rotate)
    rotate.set_defaults(run=_rotate)


def _add_projects(parser: argparse.ArgumentParser, about: str) -> None:
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--project", action="append", dest="projects", metavar="ID", help=f"{about}; repeatable")
    where.add_argument("--all", action="store_const", const=["*"], dest="projects", help="every project")


def _add_days(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--days", metavar="DAYS", default="365", help="days until the key expires, or none; default: 365"
    )


@contextlib.contextmanager
def _opened(*, changes: bool = True) -> Iterator[Administration]:
    """The people and keys of this machine's server.

    Raises: KeepmumError in a client's session when something is to be changed: only a person decides who has access.
    """
    if changes:
        refuse_in_session()
    from keepmum.server import opening, settings
    from keepmum.server.people import first

    home = console.state_home()
    chosen, scan = settings.load(home, os.environ), allowlist.AllowlistScanner(home)
    with first.administration(opening.open_memory(chosen, scan), chosen.home, os.environ, scan) as admin:
        yield admin


def _add(arguments: argparse.Namespace) -> int:
    with _opened() as admin:
        roles = dict.fromkeys(arguments.projects, arguments.role)
        person = admin.add(arguments.name, roles, "service" if arguments.service else "person")
    console.out(f"added: {person.name} ({person.id}), {_roles(person)}")
    console.err(f"`keepmum keys make {person.name}` makes a key")
    return 0


def _list_people(arguments: argparse.Namespace) -> int:
    with _opened(changes=False) as admin:
        people = admin.removed() if arguments.removed else admin.people()
    if arguments.json:
        console.print_json([person._asdict() for person in people])
        return 0
    for person in people:
        console.out(f"{person.name}  {person.id}  {person.kind}  {_roles(person)}")
    return 0


def _remove(arguments: argparse.Namespace) -> int:
    with _opened() as admin:
        person = admin.person(arguments.name)
        keys = [key for key in admin.keys_of(person.id) if key.withdrawn_at is None]
        if not arguments.yes:
            console.confirm(f"{person.name} has {len(keys)} keys, {_last_use(keys)}. Remove?", "nobody was removed")
        admin.remove(person.id)
    console.out(f"removed: {person.name}; the keys are refused within 5 seconds, the memories stay")
    return 0


def _restore(arguments: argparse.Namespace) -> int:
    with _opened() as admin:
        person = admin.restore(arguments.name)
    console.out(f"restored: {person.name} ({person.id}), {_roles(person)}")
    console.err("the former keys are withdrawn; `keepmum keys make` makes a new one")
    return 0


def _set_role(arguments: argparse.Namespace) -> int:
    role = None if arguments.role == "none" else arguments.role
    with _opened() as admin:
        for project in arguments.projects:
            person = admin.set_role(arguments.name, project, role)
    console.out(f"{person.name}: {_roles(person)}")
    return 0


def _make(arguments: argparse.Namespace) -> int:
    with _opened() as admin:
        made = admin.make_key(
            arguments.person, arguments.name, role=arguments.role, projects=arguments.projects,
            days=_days(arguments.days), agent=arguments.agent,
        )  # fmt: skip
        roles = admin.person(arguments.person).roles
    _show(made)
    if "*" not in roles and (without := [name for name in arguments.projects or () if name not in roles]):
        console.err(f"the person has no role in {', '.join(without)}, so the key gives nothing there")
    return 0


def _list_keys(arguments: argparse.Namespace) -> int:
    with _opened(changes=False) as admin:
        names = {person.id: person.name for person in admin.people()}
        keys = [key for key in admin.keys_of(arguments.person) if key.person in names]
    if arguments.json:
        console.print_json([{**key._asdict(), "digest": None, "person_name": names[key.person]} for key in keys])
        return 0
    for key in keys:
        scope = "" if key.projects is None else f"  in {', '.join(key.projects)}"
        console.out(f"{key.id}  {names[key.person]}  {key.name}  {_state(key)}  {_last_use([key])}{scope}")
    return 0


def _withdraw(arguments: argparse.Namespace) -> int:
    with _opened() as admin:
        found = [key for key in admin.keys_of() if key.id == arguments.id]
        if found and not arguments.yes:
            console.confirm(f"The key {arguments.id} was {_last_use(found)}. Withdraw?", "nothing was withdrawn")
        admin.withdraw_key(arguments.id)
    console.out(f"withdrawn: {arguments.id} is refused within 5 seconds")
    return 0


def _rotate(arguments: argparse.Namespace) -> int:
    with _opened() as admin:
        made = admin.rotate_key(arguments.id, days=_days(arguments.days), overlap=arguments.overlap)
    _show(made)
    console.err(f"the old key {arguments.id} stays valid for {arguments.overlap:g} days")
    return 0


def _show(made: NewKey) -> None:
    """Print a new key on standard output, and about it on standard error."""
    console.out(made.text)
    console.err(f"this is the only time that the key is shown; {_state(made.key)}. Its user runs `keepmum login URL`")


def _days(text: str) -> float | None:
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise InvalidInput("--days", "must be a number of days, or none") from None


def _roles(person: Person) -> str:
    from keepmum.server.people.administration import OF_PROVIDER

    there = ["roles of the identity provider"] if person.id.startswith(OF_PROVIDER) else []
    here = [f"{role} of {'every project' if name == '*' else name}" for name, role in sorted(person.roles.items())]
    return ", ".join([*there, *here]) or "no role"


def _state(key: Key) -> str:
    if key.withdrawn_at is not None:
        return f"withdrawn on {_day(key.withdrawn_at)}"
    if key.expires_at is None:
        return "does not expire"
    expired = key.expires_at <= datetime.now(UTC).timestamp() * 1000
    return f"{'expired' if expired else 'expires'} on {_day(key.expires_at)}"


def _last_use(keys: list[Key]) -> str:
    used = max((key.used_at or 0 for key in keys), default=0)
    return f"last used {_day(used, '%Y-%m-%d %H:00 UTC')}" if used else "never used"


def _day(at: int, form: str = "%Y-%m-%d") -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime(form)
