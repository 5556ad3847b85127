"""The operator's drill on both engines: back up, lose, restore, erase, restore an older backup, move."""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import postgres_server
from contract.stores import NOW, a_memory, an_event
from keepmum.cli.main import main
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Change
from keepmum.service import team_backup
from keepmum.service.team import open_shared
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.shared import PostgresSpec, SharedSpec, SharedStore, TeamSqliteSpec


class Site(NamedTuple):
    home: Path
    spec: SharedSpec

    @contextlib.contextmanager
    def opened(self) -> Iterator[SharedStore]:
        with contextlib.closing(open_shared(self.spec)) as shared:
            yield shared

    def write(self, text: str, by: str = "ada", project: str = "alpha") -> str:
        memory = a_memory(text, created_by=by, updated_by=by, project=project)
        with self.opened() as shared:
            store = shared.acting(Grant(ORGANISATION))
            store.commit([Change(None, memory)], [an_event(memory, agent=by)])
        return memory.id

    def texts(self) -> set[str]:
        with self.opened() as shared:
            return {memory.text for memory in shared.acting(Grant(ORGANISATION)).between("", "~", 100)}


def _database(name: str) -> postgres_server.Addresses:
    """A database of its own with the tables."""
    import psycopg

    from keepmum.stores.postgres import create_roles, migrate

    admin = postgres_server.server().admin
    with psycopg.connect(admin, autocommit=True) as db:
        db.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
        db.execute(f"CREATE DATABASE {name}".encode())
    addresses = postgres_server.Addresses(admin.replace("/postgres?", f"/{name}?"))
    create_roles(addresses.admin, "owner", "app")
    migrate(addresses.owner)
    return addresses


@pytest.fixture(params=["postgres", "sqlite"])
def site(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    for name in list(os.environ):
        if name.startswith(("KEEPMUM", "CLAUDE", "CODEX", "CURSOR", "GEMINI", "OPENCODE", "COPILOT")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("KEEPMUM_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    spec: SharedSpec = TeamSqliteSpec(str(tmp_path / "server" / "memory.db"))
    if request.param == "postgres":
        spec = PostgresSpec(_database("drill").app)
        monkeypatch.setenv("KEEPMUM_SERVER_DATABASE_URL", spec.dsn)
    assert main(["serve", "init"]) == 0
    assert main(["people", "add", "ada", "--role", "writer", "--all"]) == 0
    return Site(tmp_path, spec)


def _wipe(site: Site) -> None:
    if isinstance(site.spec, PostgresSpec):
        _database("drill")
    else:
        for path in (site.home / "server").glob("memory.db*"):
            path.unlink()


def test_a_backup_restores_everything(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.write("Deploys go through the blue pool")
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    with site.opened() as shared:
        people, keys, head = shared.records.people(), shared.records.keys(), shared.records.seal()
    _wipe(site)
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert site.texts() == {"Deploys go through the blue pool"}
    with site.opened() as shared:
        assert (shared.records.people(), shared.records.keys()) == (people, keys)
    capsys.readouterr()
    assert main(["serve", "verify", "--head", str(head)]) == 0
    assert capsys.readouterr().out.startswith("intact: ")


def test_a_restore_does_not_bring_back_what_was_erased(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.write("Written by ada", "ada")
    kept = site.write("Written by bob", "bob")
    site.write("Of a secret project", "bob", "skunkworks")
    backup = str(site.home / "one.backup")
    assert main(["serve", "backup", backup]) == 0
    capsys.readouterr()
    assert main(["serve", "erase", "--person", "ada", "--yes"]) == 0
    assert '"memories": 1' in capsys.readouterr().out
    assert main(["serve", "erase", "--project", "skunkworks", "--yes"]) == 0
    assert site.texts() == {"Written by bob"}
    _wipe(site)
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert "2 erasures repeated" in capsys.readouterr().out
    assert site.texts() == {"Written by bob"}
    with site.opened() as shared:
        rows = shared.records.audit(limit=1_000)
        assert "ada" not in {row.actor for row in rows}
        assert "skunkworks" not in {row.project for row in rows}
        assert any(row.subject == kept for row in rows)
        assert {person.name for person in shared.records.people() if person.removed_at is None} == {"admin"}
    assert main(["serve", "verify"]) == 0


def test_an_erased_name_is_in_no_file(site: Site) -> None:
    if isinstance(site.spec, PostgresSpec):
        pytest.skip("the files belong to the database server, which overwrites them when it vacuums")
    name = "wilhelmina"
    assert main(["people", "add", name, "--role", "writer", "--all"]) == 0
    site.write(f"{name} wrote this", name)
    other = site.write("Written by bob", "bob")
    with site.opened() as shared:
        store = shared.acting(Grant(ORGANISATION))
        (memory,) = store.get([other])
        import dataclasses

        changed = dataclasses.replace(memory, text="Revised", updated_by=name, revision=memory.revision + 1)
        store.commit([Change(memory, changed)], [an_event(changed, action="updated", agent=name)])
        again = dataclasses.replace(changed, text="Revised again", updated_by="bob", revision=changed.revision + 1)
        store.commit([Change(changed, again)], [an_event(again, action="updated", agent="bob")])
    assert main(["serve", "erase", "--person", name, "--yes"]) == 0
    for path in (site.home / "server").rglob("*"):
        if path.is_file():
            assert name.encode() not in path.read_bytes(), path


def test_a_name_given_again_keeps_what_is_new(site: Site) -> None:
    """A restore repeats an erasure for what was there then, not for another person of the name."""
    site.write("Written by the first ada")
    assert main(["serve", "erase", "--person", "ada", "--yes"]) == 0
    assert main(["people", "add", "ada", "--role", "writer", "--all"]) == 0
    memory = a_memory("Written by the second ada", at=NOW * 2, created_by="ada", updated_by="ada")
    with site.opened() as shared:
        shared.acting(Grant(ORGANISATION)).commit([Change(None, memory)], [an_event(memory, agent="ada")])
    backup = str(site.home / "two.backup")
    assert main(["serve", "backup", backup]) == 0
    _wipe(site)
    assert main(["serve", "restore", backup, "--yes"]) == 0
    assert site.texts() == {"Written by the second ada"}


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


def test_a_backup_is_private(backup: Path) -> None:
    assert backup.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", ["no archive", "truncated", "database", "longer", "manifest", "newer", "audit"])
def test_a_damaged_backup_is_refused(backup: Path, damage: str) -> None:
    manifest = json.loads(zipfile.ZipFile(backup).read("manifest.json"))
    database = zipfile.ZipFile(backup).read("memory.db")
    match damage:
        case "no archive":
            backup.write_bytes(b"not an archive")
        case "truncated":
            backup.write_bytes(backup.read_bytes()[:-100])
        case "database":
            backup = _changed(backup, **{"memory.db": database[:-1] + b"x"})
        case "longer":
            backup = _changed(backup, **{"memory.db": database + b"x"})
        case "manifest":
            backup = _changed(backup, **{"manifest.json": b"[]"})
        case "newer":
            backup = _changed(backup, **{"manifest.json": json.dumps({**manifest, "form": 2}).encode()})
        case "audit":
            backup = _changed(backup, **{"manifest.json": json.dumps({**manifest, "head": "9:" + "0" * 64}).encode()})
    with pytest.raises(InvalidInput, match="backup"), team_backup.opened(str(backup), str(backup.parent / "work")):
        pass


def test_a_sqlite_file_moves_into_postgres(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    if isinstance(site.spec, PostgresSpec):
        pytest.skip("moves from a file")
    site.write("Deploys go through the blue pool")
    target = _database("moved").app
    capsys.readouterr()
    assert main(["serve", "move", "--to", target]) == 0
    assert "moved and compared: 1 memory, 2 people, 1 key" in capsys.readouterr().out.replace("keys", "key")
    assert main(["serve", "move", "--to", target]) == 0
    assert Site(site.home, PostgresSpec(target)).texts() == site.texts()
