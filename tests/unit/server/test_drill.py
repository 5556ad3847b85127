"""The operator's drill on all engines: back up, lose, restore, restore an older backup, move."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import shutil
import sqlite3
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import postgres_server
from contract.stores import NOW, a_memory, an_event
from keepmum.cli.main import main
from keepmum.core import audit_chain
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Change
from keepmum.server import settings
from keepmum.service import team_backup
from keepmum.service.team import Key, Session
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.shared import PostgresSpec, SharedStore, TeamSqliteSpec
from keepmum.stores.sqlite import team_file
from keepmum.stores.team import AuditFilter, TeamRecords, seal_all
from unit.server.drill_sites import Site, wipe


def test_a_backup_restores_everything(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.write("Deploys go through the blue pool")
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    with site.opened() as shared:
        people, keys, head = shared.records.people(), shared.records.keys(), shared.records.seal()
    wipe(site)
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert site.texts() == {"Deploys go through the blue pool"}
    with site.opened() as shared:
        assert (shared.records.people(), shared.records.keys()) == (people, keys)
    capsys.readouterr()
    assert main(["serve", "verify", "--head", str(head)]) == 0
    assert capsys.readouterr().out.startswith("intact: ")


def test_a_restore_brings_back_no_session(site: Site) -> None:
    """Who has signed out since the backup must not be signed in again."""
    session = Session(bytes(32), "p_1", "kkkkkkkk", {}, "alpha", 2 * NOW)
    with site.opened() as shared:
        shared.records.add_session(session, 1, NOW)
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    wipe(site)
    assert main(["serve", "restore", backup, "--yes"]) == 0
    with site.opened() as shared:
        assert shared.records.session(session.digest, NOW) is None


def test_a_restore_brings_back_no_secret(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """A backup may be older than the rule that finds it, or made by somebody else."""
    now, before = ("ghp_" + f"{digit}wG7vQ2Lr9Xk4Bt6" * 2 + "Zd5Y" for digit in "18")
    ident = site.write(f"The token is {before}")
    site.write("Deploys go through the blue pool")
    with site.opened() as shared:
        store = shared.acting(Grant(ORGANISATION))
        (memory,) = store.get([ident])
        changed = replace(memory, text=f"The token is {now}", revision=memory.revision + 1)
        store.commit([Change(memory, changed)], [replace(an_event(changed), detail=f"found {now}")])
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    wipe(site)
    capsys.readouterr()
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert "secrets were redacted in 1 memory" in capsys.readouterr().err
    with site.opened() as shared:
        store = shared.acting(Grant(ORGANISATION))
        held = f"{store.between('', '~', 9)}{store.history(ident)}{store.activity(99)}"
        assert "The token is" in held
        assert "Deploys go through the blue pool" in held
        assert audit_chain.verify(shared.records.chain()).problem == ""
        shared.copy_to(str(site.home / "copy.db"))
    (site.home / "one.backup").unlink()
    files = [path for path in site.home.rglob("*") if path.is_file() and ".before-restore-" not in path.name]
    assert not any(each in held or each.encode() in path.read_bytes() for each in (now, before) for path in files)


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    site = Site(tmp_path, TeamSqliteSpec(str(tmp_path / "memory.db")))
    site.write("Deploys go through the blue pool")
    with site.opened() as shared:
        team_backup.back_up(shared, str(tmp_path / "one.backup"))
    return tmp_path / "one.backup"


def _changed(backup: Path, **entries: bytes) -> Path:
    """The backup with other entries in its archive."""
    with zipfile.ZipFile(backup) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    changed = backup.with_name("changed.backup")
    with zipfile.ZipFile(changed, "w") as archive:
        for name, kept in {**content, **entries}.items():
            archive.writestr(name, kept)
    return changed


def _packed(backup: Path, database: bytes) -> Path:
    """The backup with another database, whose digest it names."""
    manifest = json.loads(zipfile.ZipFile(backup).read("manifest.json"))
    named = {**manifest, "size": len(database), "digest": hashlib.sha256(database).hexdigest()}
    return _changed(backup, **{"manifest.json": json.dumps(named).encode(), "memory.db": database})


def test_a_backup_is_private(backup: Path) -> None:
    assert backup.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "damage", ["no archive", "truncated", "compressed", "database", "longer", "manifest", "secret", "schema"]
)
def test_a_damaged_backup_is_refused(backup: Path, damage: str) -> None:
    database = zipfile.ZipFile(backup).read("memory.db")
    match damage:
        case "no archive":
            backup.write_bytes(b"not an archive")
        case "truncated":
            backup.write_bytes(backup.read_bytes()[:-100])
        case "compressed":
            begin = backup.read_bytes().index(b"memory.db") + 9
            backup.write_bytes(backup.read_bytes()[:begin] + b"\xff" * 9 + backup.read_bytes()[begin + 9 :])
        case "database":
            backup = _changed(backup, **{"memory.db": database[:-1] + b"x"})
        case "longer":
            backup = _changed(backup, **{"memory.db": database + b"x"})
        case "manifest":
            backup = _changed(backup, **{"manifest.json": b"[]"})
        case "secret":
            backup = _changed(backup, **{"server.key": b"x" * 100_000})
        case "schema":
            begin = database.index(b"CREATE TABLE memories")
            backup = _packed(backup, database[:begin] + b"\xff" * 9 + database[begin + 9 :])
    with pytest.raises(InvalidInput, match="backup"), team_backup.opened(str(backup), str(backup.parent / "work")):
        pass


@pytest.mark.parametrize(
    ("field", "value"),
    [("form", 2), ("form", True), ("size", "1"), ("size", None), ("at", "now"), ("at", 10**30), ("at", -1),
     ("memories", None), ("head", "9:" + "0" * 64), ("head", 1), ("version", None), ("further", 1)],
)  # fmt: skip
def test_a_manifest_with_other_values_is_refused(backup: Path, field: str, value: object) -> None:
    manifest = json.loads(zipfile.ZipFile(backup).read("manifest.json"))
    changed = _changed(backup, **{"manifest.json": json.dumps({**manifest, field: value}).encode()})
    with pytest.raises(InvalidInput, match="backup"), team_backup.opened(str(changed), str(backup.parent / "work")):
        pass
    whole = team_backup.latest(str(backup.parent))  # compares the times of those that can be read
    assert whole is not None


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("CREATE TRIGGER grants AFTER INSERT ON team_keys BEGIN UPDATE team_people SET roles = '{}'; END", "grants"),
        ("CREATE VIEW extra AS SELECT 1", "extra"),
        ("DROP TRIGGER team_audit_stays", "team_audit_stays"),
        ("DROP TABLE team_keys", "team_keys"),
        ("ALTER TABLE memories RENAME TO others; CREATE VIEW memories AS SELECT * FROM others", "memories"),
        ("UPDATE memories SET tags = 'no list'", "a row"),
        ("INSERT INTO history VALUES (1, 'mem', 1, 1, 'ada', 'updated', '{')", "a row"),
        ("INSERT INTO team_people VALUES ('p_1', 'eve', '[1]', 'person', 1, NULL)", "a row"),
        ("INSERT INTO team_people VALUES ('p_1', 'eve' || char(27) || '[2J', '{}', 'person', 1, NULL)", "a row"),
        ("INSERT INTO team_people VALUES ('p_1', 'eve', '{\"\\u001b[2J\": \"reader\"}', 'person', 1, NULL)", "a row"),
    ],
)
def test_a_backup_with_tables_or_rows_that_do_not_work_is_refused(backup: Path, statement: str, says: str) -> None:
    file = backup.with_name("changed.db")
    file.write_bytes(zipfile.ZipFile(backup).read("memory.db"))
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.executescript(statement)
        db.execute("UPDATE history SET memory = (SELECT id FROM memories)")
    changed = _packed(backup, file.read_bytes())
    with pytest.raises(InvalidInput, match=says), team_backup.opened(str(changed), str(backup.parent / "work")):
        pass


def test_a_table_of_another_program_does_not_prevent_a_restore(backup: Path) -> None:
    file = backup.with_name("changed.db")
    file.write_bytes(zipfile.ZipFile(backup).read("memory.db"))
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE _replication (number INTEGER)")
    changed = _packed(backup, file.read_bytes())
    with team_backup.opened(str(changed), str(backup.parent / "work")) as (manifest, _, _):
        assert manifest.memories == 1


def test_a_backup_under_another_secret_is_refused(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """No key of it would be valid, and the digests of erased names would fit none."""
    site.write("Written by ada")
    backup, key = str(site.home / "one.backup"), site.home / "server" / "server.key"
    assert main(["serve", "backup", backup]) == 0
    assert main(["serve", "erase", "--person", "ada", "--yes"]) == 0
    wipe(site)
    kept = key.read_text()
    key.write_text(kept[::-1])
    assert main(["serve", "restore", backup, "--yes"]) == 1
    assert "nothing was replaced: the server's secret is not the one" in capsys.readouterr().err
    key.write_text(kept)
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert site.texts() == set()


def test_the_secret_in_a_backup_is_that_of_the_file(site: Site) -> None:
    """Also with a line break after it, which is no part of it: what was erased is found by it."""
    site.write("Written by ada")
    backup, key = str(site.home / "one.backup"), site.home / "server" / "server.key"
    key.write_text(f"{key.read_text()}\n")
    assert main(["serve", "backup", backup, "--with-secret"]) == 0
    assert main(["serve", "erase", "--person", "ada", "--yes"]) == 0
    wipe(site)
    key.unlink()
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert site.texts() == set()
    assert main(["serve", "check"]) == 0


def test_a_secret_in_a_backup_that_is_none_is_not_stored(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    backup, key = site.home / "one.backup", site.home / "server" / "server.key"
    assert main(["serve", "backup", str(backup)]) == 0
    wipe(site)
    key.unlink()
    for content, says in ((b"short", "must have 32"), (b"\xff" * 64, "is not text")):
        changed = _changed(backup, **{"server.key": content})
        assert main(["serve", "restore", str(changed), "--yes"]) == 1
        assert says in capsys.readouterr().err
    assert not key.exists()


def _keys(shared: SharedStore) -> list[Key]:
    return shared.records.keys()


def test_a_restore_makes_no_withdrawn_key_valid(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    if not isinstance(site.spec, TeamSqliteSpec):
        pytest.skip("is restored into an empty database, which says nothing of keys")
    assert main(["people", "add", "eve", "--role", "admin", "--all"]) == 0
    assert main(["keys", "make", "ada", "--name", "laptop"]) == 0
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    with site.opened() as shared:
        keys = {key.name: key.id for key in _keys(shared)}
    assert main(["keys", "withdraw", keys["laptop"], "--yes"]) == 0
    assert main(["people", "remove", "eve", "--yes"]) == 0
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert "withdrawn again, as since the backup: 1 person, 1 key" in capsys.readouterr().err
    with site.opened() as shared:
        assert {key.name: key.withdrawn_at is None for key in _keys(shared)} == {"first": True, "laptop": False}
        assert {each.name for each in shared.records.people() if each.removed_at is None} == {"admin", "ada"}
    assert main(["serve", "verify"]) == 0


def test_a_restore_that_is_refused_does_not_say_what_it_withdrew(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    if not isinstance(site.spec, PostgresSpec):
        pytest.skip("a file is replaced, whatever it holds")
    assert main(["keys", "make", "ada", "--name", "laptop"]) == 0
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    with site.opened() as shared:
        laptop = next(key.id for key in _keys(shared) if key.name == "laptop")
    assert main(["keys", "withdraw", laptop, "--yes"]) == 0
    capsys.readouterr()
    assert main(["serve", "restore", backup, "--yes"]) == 1
    assert "use an empty database" in (said := capsys.readouterr().err)
    assert "withdrawn again" not in said


def test_keys_that_are_valid_again_are_pointed_out(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    wipe(site)
    capsys.readouterr()
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert "keys that were withdrawn after this backup are valid again" in capsys.readouterr().err


def test_a_backup_has_every_audit_row(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """Also more than one call seals: a server may have been stopped right after an import."""
    memory = a_memory("Deploys go through the blue pool")
    with site.opened() as shared:
        store = shared.acting(Grant(ORGANISATION))
        store.commit([Change(None, memory)], [an_event(memory) for _ in range(5_500)])
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    with site.opened() as shared:
        assert shared.records.unsealed().rows == 0
        count = shared.records.seal().number
    assert count > 5_500
    assert f"audit head {count}:" in capsys.readouterr().out


def test_a_backup_has_the_audit_row_of_a_write_that_was_not_sealed_in_time(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers go on while the backup of PostgreSQL is made."""
    written: list[str] = []

    def seal_and_write(records: TeamRecords) -> None:
        seal_all(records)
        if not written:
            written.append(site.write("Written after the log was sealed", by="a new agent"))

    backup = str(site.home / "one.backup")
    with monkeypatch.context() as patch:
        patch.setattr(team_backup, "seal_all", seal_and_write)
        assert main(["serve", "backup", backup]) == 0
    wipe(site)
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert main(["serve", "verify"]) == 0
    assert site.texts() == {"Written after the log was sealed"}
    with site.opened() as shared:
        seal_all(shared.records)
        rows = shared.records.audit(wanted=AuditFilter(subject=written[0]))
    assert [(row.actor, row.action) for row in rows] == [("a new agent", "created")]


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> str:
    """The superuser's address of a database without tables, which no variable names."""
    monkeypatch.delenv("KEEPMUM_SERVER_DATABASE_URL", raising=False)
    return postgres_server.database("empty", migrated=False).admin


def _stored(site: Site) -> Site:
    """The server that server.toml names."""
    chosen = settings.load(str(site.home), {})
    assert chosen.database_owner_url
    return Site(site.home, PostgresSpec(chosen.database_url))


def test_a_lost_database_is_restored_into_an_empty_one(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site.write("Deploys go through the blue pool")
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    monkeypatch.delenv("KEEPMUM_SERVER_DATABASE_URL", raising=False)
    database = postgres_server.database("empty", migrated=False)
    monkeypatch.setenv("KEEPMUM_SERVER_DATABASE_URL", database.app)
    assert main(["serve", "restore", backup, "--yes"]) == 1
    assert "has no tables of Keepmum" in capsys.readouterr().err
    monkeypatch.delenv("KEEPMUM_SERVER_DATABASE_URL")
    assert main(["serve", "restore", backup, "--yes", "--database", database.admin]) == 0
    assert _stored(site).texts() == {"Deploys go through the blue pool"}
    assert main(["serve", "check"]) == 0


def test_a_move_makes_the_tables_and_names_the_database(
    site: Site, empty: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if isinstance(site.spec, PostgresSpec):
        pytest.skip("moves from a file")
    site.write("Deploys go through the blue pool")
    capsys.readouterr()
    assert main(["serve", "move", "--database", empty]) == 0
    assert f"{site.home}/server/memory.db still has what was moved" in capsys.readouterr().err
    assert _stored(site).texts() == site.texts()
    assert main(["serve", "check"]) == 0


def test_each_restore_keeps_the_file_that_it_replaces(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    if not isinstance(site.spec, TeamSqliteSpec):
        pytest.skip("replaces a file")
    backup = str(site.home / "one.backup")
    site.write("Written before")
    assert main(["serve", "backup", backup]) == 0
    site.write("Written after")
    kept = []
    for _ in range(2):
        capsys.readouterr()
        assert main(["serve", "restore", backup, "--yes"]) == 0
        kept.append(capsys.readouterr().err.partition("the former memory is in ")[2].partition(";")[0])
        assert site.texts() == {"Written before"}
    assert [_texts(path) for path in kept] == [{"Written before", "Written after"}, {"Written before"}]


def test_a_restore_of_an_empty_memory_stays_empty(site: Site) -> None:
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    site.write("Written after")
    if not isinstance(site.spec, TeamSqliteSpec):
        wipe(site)
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert [site.texts() for _ in range(2)] == [set(), set()]


def test_a_repair_after_a_restore_brings_back_nothing_of_the_former_file(site: Site) -> None:
    if not isinstance(site.spec, TeamSqliteSpec):
        pytest.skip("repairs a file")
    site.write("Written before")
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    site.write("Written after")
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert site.texts() == {"Written before"}
    Path(site.spec.path).write_bytes(b"")
    assert site.texts() <= {"Written before"}


def _texts(database: str) -> set[str]:
    """The texts in a SQLite file, read without opening it as a store."""
    with contextlib.closing(sqlite3.connect(database)) as db:
        return {text for (text,) in db.execute("SELECT text FROM memories")}


@pytest.mark.usefixtures("site")
def test_a_key_for_a_project_without_a_role_is_pointed_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["people", "add", "bob", "--role", "reader", "--project", "alpha"]) == 0
    capsys.readouterr()
    assert main(["keys", "make", "bob", "--project", "alpha", "--project", "beta"]) == 0
    assert "no role in beta, so the key gives nothing there" in capsys.readouterr().err
    assert main(["keys", "make", "ada", "--project", "beta"]) == 0  # she has a role in every project
    assert "no role" not in capsys.readouterr().err


@pytest.mark.parametrize("calls", range(8))
def test_a_replacement_that_was_interrupted_leaves_one_of_both(
    calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended before each of its changes to a folder; the server had been killed, so its last writes are in the WAL."""
    path, backup, again = (tmp_path / name for name in ("old.db", "new.db", "again.db"))
    old, new = (Site(tmp_path, TeamSqliteSpec(str(file))) for file in (path, backup))
    old.write("Of the former database")
    new.write("Of the backup")
    shutil.copyfile(backup, again)
    with old.opened():
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", tmp_path / f"copy{suffix}")
    for suffix in ("", "-wal"):
        (tmp_path / f"copy{suffix}").replace(f"{path}{suffix}")
    left = itertools.count(calls, -1)

    class Killed(BaseException):
        pass

    def counted(change: Any) -> Any:
        def run(*names: Any) -> Any:
            if next(left) == 0:
                raise Killed
            return change(*names)

        return run

    with monkeypatch.context() as patch:
        for name in ("replace", "unlink"):
            patch.setattr(os, name, counted(getattr(os, name)))
        with contextlib.suppress(Killed):
            team_file.replace(str(backup), str(path))
    assert old.texts() in ({"Of the former database"}, {"Of the backup"})
    team_file.replace(str(again), str(path))
    assert old.texts() == {"Of the backup"}


def test_a_file_and_qdrant_move_into_postgres(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    if isinstance(site.spec, PostgresSpec):
        pytest.skip("is where the others move to")
    site.write("Deploys go through the blue pool")
    target = postgres_server.database("moved").app
    capsys.readouterr()
    assert main(["serve", "move", "--to", target]) == 0
    assert "moved and compared: 1 memory, 2 people, 1 key" in capsys.readouterr().out.replace("keys", "key")
    assert main(["serve", "move", "--to", target]) == 0
    assert Site(site.home, PostgresSpec(target)).texts() == site.texts()
