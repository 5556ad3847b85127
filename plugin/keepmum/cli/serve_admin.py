"""`keepmum serve backup`, `restore`, `move`, `erase`, `verify`: what an operator does with a server's whole memory."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from keepmum.cli import console
from keepmum.cli.login import refuse_in_session
from keepmum.core import audit_chain
from keepmum.core.errors import InvalidInput, KeepmumError, SettingsError
from keepmum.core.wording import counted
from keepmum.workspace import allowlist

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.server.settings import ServerSettings
    from keepmum.service.team import Erasure, Key, Person, SharedStore, Team

__all__ = ["register", "store_database"]

_JOURNAL = "erasures.jsonl"


def register(actions: console.Subparsers[argparse.ArgumentParser]) -> None:
    """Add the actions of `keepmum serve`; each sets `run`."""
    backup = actions.add_parser("backup", help="write everything to one file")
    backup.add_argument(
        "file", metavar="FILE", nargs="?", help="default: a name with the time, in the folder of backups"
    )
    backup.add_argument("--with-secret", action="store_true", help="include the secret, without which no key counts")
    backup.set_defaults(run=_backup)
    restore = actions.add_parser("restore", help="replace the memory by that of a backup, after checking it")
    restore.add_argument("file", metavar="FILE", help="a file that `serve backup` wrote")
    restore.add_argument(
        "--database",
        metavar="URL",
        help="restore into this empty PostgreSQL database, as a superuser, who makes roles and tables there",
    )
    restore.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    restore.set_defaults(run=_restore)
    move = actions.add_parser("move", help="copy the memory, of SQLite or Qdrant, into an empty PostgreSQL database")
    target = move.add_mutually_exclusive_group(required=True)
    target.add_argument("--database", metavar="URL", help="its address for a superuser, who makes roles and tables")
    target.add_argument("--to", metavar="URL", help="its address for the role of requests, with tables; - reads it")
    move.set_defaults(run=_move)
    erase = actions.add_parser(
        "erase", help="erase the data of a person or a project; backups are erased when restored"
    )
    whose = erase.add_mutually_exclusive_group(required=True)
    whose.add_argument("--person", metavar="NAME", help="the memories that this person wrote, and the name elsewhere")
    whose.add_argument("--project", metavar="ID", help="the memories of this project, and its id in the audit log")
    erase.add_argument("--dry-run", action="store_true", help="only count")
    erase.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    erase.set_defaults(run=_erase)
    verify = actions.add_parser("verify", help="check that nobody changed the audit log")
    verify.add_argument(
        "--head", metavar="HEAD", help="a head from an older log or metric; shows what was cut off since"
    )
    verify.set_defaults(run=_verify)


class _Server(NamedTuple):
    """The server of this machine."""

    settings: ServerSettings
    open: Callable[[], Team]
    actor: str

    @property
    def journal(self) -> str:
        """The file that lists the erasures."""
        return os.path.join(self.settings.home, _JOURNAL)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Make sure that no server uses the SQLite file."""
        from keepmum.server.alone import alone

        with contextlib.nullcontext() if self.settings.engine == "postgres" else alone(self.settings.home):
            yield


def _server() -> _Server:
    from keepmum.server import opening, settings
    from keepmum.server.people.first import operator

    home = console.state_home()
    chosen = settings.load(home, os.environ)
    return _Server(chosen, lambda: opening.open_memory(chosen, allowlist.AllowlistScanner(home)), operator())


def _backup(arguments: argparse.Namespace) -> int:
    from keepmum.server.people.secret import secret_file
    from keepmum.service import team_backup, team_upgrade

    server = _server()
    path = arguments.file or os.path.join(server.settings.backup_folder, team_upgrade.backup_name())
    if os.path.exists(path):
        raise InvalidInput("file", f"{path} exists; name another one")
    secret = secret_file(server.settings.home) if arguments.with_secret else None
    if secret is not None and not os.path.exists(secret):
        raise InvalidInput("--with-secret", "the secret is in a variable and not in a file; keep it yourself")
    with contextlib.closing(server.open()) as team:
        path, manifest = team_backup.back_up(team.shared, path, secret)
    console.out(
        f"{path}: {console.memory_count(manifest.memories)}, {manifest.size:,} bytes, audit head {manifest.head}"
    )
    if secret is None:
        console.err(f"the server's secret is not in it: keep {secret_file(server.settings.home)} in another safe place")
    return 0


def _restore(arguments: argparse.Namespace) -> int:
    refuse_in_session()
    from keepmum.server.opening import packages_needed
    from keepmum.server.people.secret import checked_secret, read_secret, secret_file
    from keepmum.service import team_backup
    from keepmum.service.team import PostgresSpec, TeamSqliteSpec, create_database, open_shared
    from keepmum.system import private_files

    server = _server()
    home = server.settings.home
    with (
        packages_needed(),
        server.alone(),
        team_backup.opened(arguments.file, home) as (manifest, database, packed),
    ):
        made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(manifest.at / 1000))
        own = read_secret(home, os.environ)
        kept_secret = None if packed is None else checked_secret(packed, arguments.file)
        if not arguments.yes:
            console.confirm(
                f"The backup of {made} has {console.memory_count(manifest.memories)}. Replace the memory of {home}?",
                "nothing was replaced",
            )
        with contextlib.closing(open_shared(TeamSqliteSpec(database))) as shared:
            redacted = team_backup.redact(shared, allowlist.AllowlistScanner(console.state_home()), server.actor)
            repeated, remarks = _bring_up_to_date(server, shared, own or kept_secret)
            if arguments.database:
                owner, app = create_database(arguments.database)
                with contextlib.closing(open_shared(PostgresSpec(app))) as target:
                    team_backup.copy(shared, target)
                store_database(owner, app)
            elif server.settings.database_url:
                with contextlib.closing(server.open()) as team:
                    team_backup.copy(shared, team.shared)
        kept = ""
        if not arguments.database and not server.settings.database_url:
            kept = team_backup.replace_database(database, server.settings.database_file)
        if kept_secret is not None and own is None:
            private_files.create_file(secret_file(home), kept_secret)
    console.out(
        f"restored: {console.memory_count(manifest.memories)} of {made}, {counted(repeated, 'erasure')} repeated"
    )
    if redacted:
        console.err(f"secrets were redacted in {console.memory_count(redacted)}; the backup still holds them")
    for remark in remarks:
        console.err(remark)
    if kept:
        console.err(f"the former memory is in {kept}; delete it when you no longer need it")
    return 0


def _move(arguments: argparse.Namespace) -> int:
    refuse_in_session()
    from keepmum.server.opening import packages_needed
    from keepmum.service import team_backup
    from keepmum.service.team import PostgresSpec, create_database, open_shared

    server = _server()
    if server.settings.engine == "postgres":
        raise SettingsError("this server keeps its memory in PostgreSQL already; nothing is to be moved")
    owner = ""
    address = sys.stdin.readline().strip() if arguments.to == "-" else arguments.to
    with packages_needed(), server.alone(), contextlib.closing(server.open()) as team:
        if arguments.database:
            owner, address = create_database(arguments.database)
        with contextlib.closing(open_shared(PostgresSpec(address))) as target:
            copied = team_backup.copy(team.shared, target)
    console.out(
        f"moved and compared: {console.memory_count(copied.memories)}, {counted(copied.people, 'person', 'people')}, "
        f"{counted(copied.keys, 'key')}, {counted(copied.audit, 'audit row')}, "
        f"{counted(copied.traces, 'row')} of activity and reviews; digest {copied.digest}"
    )
    if owner:
        store_database(owner, address)
        console.err("server.toml names that database now; keep server.key: the keys need the same secret")
    else:
        console.err("set database.url to that address, and keep server.key: the keys need the same secret")
    console.err(
        f"{server.settings.database_file} still has what was moved, and no erasure reaches it there: delete it when "
        "the new database is backed up"
    )
    return 0


def store_database(owner: str, app: str) -> None:
    """Store the addresses of the PostgreSQL database that the server uses."""
    from keepmum.server.settings import store_value

    home = console.state_home()
    store_value(home, "database.url", app)
    store_value(home, "database.owner_url", owner)


class _Present(NamedTuple):
    """What the database says that a restore replaces; empty when it cannot be read."""

    people: list[Person]
    keys: list[Key]
    erasures: list[Erasure]


def _bring_up_to_date(server: _Server, shared: SharedStore, secret: bytes | None) -> tuple[int, list[str]]:
    """Erase and withdraw in a restored database what was since its backup.

    Returns the number of erasures, and what the operator has to know when the restore has succeeded.

    Raises: KeepmumError when the secret is missing that erasures need, or it is that of another server.
    """
    from keepmum.server.people.first import is_secret_of
    from keepmum.service.team_erasing import Erasing, read_journal

    try:
        erasures = read_journal(server.journal)
    except (OSError, ValueError, TypeError):
        raise KeepmumError(f"nothing was replaced: the journal of erasures, {server.journal}, is damaged") from None
    present = _present(server)
    erasures += present.erasures
    if erasures and secret is None:
        raise KeepmumError("nothing was replaced: erasures are repeated with the server's secret, which is missing")
    remarks = []
    if secret is None and shared.records.keys():
        remarks.append("the server's secret is missing: no key of this backup is valid until it is restored")
    if secret is not None and not is_secret_of(secret, shared.records):
        raise KeepmumError(
            "nothing was replaced: the server's secret is not the one under which the keys of this backup were made, "
            "so none of them would be valid, and no erasure could be repeated. Put the secret of that server into "
            "the place of this one first"
        )
    repeated = Erasing(shared, secret or b"", server.actor).replay(
        {(each.at, each.digest): each for each in erasures}.values()
    )
    remarks += _withdraw(shared, present, server.actor)
    if not present.people and shared.records.keys():
        remarks.append("keys that were withdrawn after this backup are valid again: `keepmum keys list` shows them")
    shared.records.seal()
    return repeated, remarks


def _present(server: _Server) -> _Present:
    if server.settings.database_url or os.path.exists(server.settings.database_file):
        with contextlib.suppress(KeepmumError), contextlib.closing(server.open()) as team:
            return _Present(team.records.people(), team.records.keys(), team.records.erasures())
    return _Present([], [], [])


def _withdraw(shared: SharedStore, present: _Present, actor: str) -> list[str]:
    """Remove people and withdraw keys in a restored database that were removed or withdrawn since its backup.

    Returns a remark that says how many, if there are any.
    """
    from keepmum.service.team import Entry

    records, at = shared.records, time.time_ns() // 1_000_000
    removed = {each.id: each.removed_at for each in present.people if each.removed_at is not None}
    withdrawn = {each.id: each.withdrawn_at for each in present.keys if each.withdrawn_at is not None}
    everybody, every_key = records.people(), records.keys()
    people = [each.id for each in everybody if each.removed_at is None and each.id in removed]
    keys = [each.id for each in every_key if each.withdrawn_at is None and each.id in withdrawn]
    for ident in people:
        records.change_person(ident, _removed(removed[ident]), Entry(at, actor, "person-removed", ident))
    for ident in keys:
        records.change_key(ident, _withdrawn(withdrawn[ident]), Entry(at, actor, "key-withdrawn", ident))
    if not people and not keys:
        return []
    withdrawn_again = f"{counted(len(people), 'person', 'people')}, {counted(len(keys), 'key')}"
    admits = "`keepmum people restore` admits a person again"
    return [f"withdrawn again, as since the backup: {withdrawn_again}; {admits}"]


def _removed(at: int) -> Callable[[Person], Person]:
    return lambda found: found._replace(removed_at=at)


def _withdrawn(at: int) -> Callable[[Key], Key]:
    return lambda found: found._replace(withdrawn_at=at)


def _erase(arguments: argparse.Namespace) -> int:
    refuse_in_session()
    from keepmum.server.people.first import secret_of
    from keepmum.service.team_erasing import Erasing, Named, open_journal

    server = _server()
    kind = "person" if arguments.person is not None else "project"
    named = Named(kind, arguments.person if kind == "person" else arguments.project)
    with contextlib.closing(server.open()) as team:
        secret = secret_of(server.settings.home, os.environ, team.records)
        erasing = Erasing(team.shared, secret, server.actor)
        counts = erasing.count(named)
        console.out(f"to erase: {', '.join(f'{count} {name}' for name, count in counts.items())}")
        if not any(counts.values()) and named.name not in {person.name for person in team.records.people()}:
            console.err("nothing here has that name: check it, unless only backups have it")
        if arguments.dry_run:
            return 0
        if not arguments.yes:
            console.confirm("This cannot be undone. Erase?", "nothing was erased")
        try:
            with open_journal(server.journal) as note:
                done = erasing.erase(named)
                note(done)
        except OSError as error:
            raise KeepmumError(
                f"the journal of erasures, {server.journal}, cannot be written: {error.strerror}; then repeat it"
            ) from None
    console.print_json({"at": done.at, "kind": done.kind, "digest": done.digest, **done.receipt})
    console.err(
        "that is the receipt. Backups that were made before still hold the data: a restore erases it again, by "
        f"{server.journal}, which must be kept with the backups"
    )
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    kept = None if arguments.head is None else audit_chain.read_head(arguments.head)
    with contextlib.closing(_server().open()) as team:
        team.records.seal()
        verdict = audit_chain.verify(team.records.chain(), kept)
    if verdict.problem:
        raise KeepmumError(f"{verdict.problem}; the rows up to {verdict.head} are intact")
    console.out(f"intact: {verdict.head}")
    return 0
