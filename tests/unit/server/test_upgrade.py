"""`keepmum serve upgrade` and `serve run --migrate`: backup, steps, check; what is refused, and what is interrupted."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

import postgres_server
from contract.stores import NOW, a_memory, an_event
from keepmum.cli.main import main
from keepmum.core import audit_chain
from keepmum.core.errors import StoreError
from keepmum.core.memory import Change, Embedding, WrongMark
from keepmum.service import team_backup, team_upgrade
from keepmum.service.team import PostgresSpec, TeamSqliteSpec, open_shared
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.postgres import schema as postgres_schema
from keepmum.stores.shared import SharedSpec, SharedStore
from keepmum.stores.sqlite import team_schema
from keepmum.stores.team import Claim, Entry, Erasure, Key, Person, Session, claiming

ENGINES = ("sqlite", "postgres")
DAY_MS = 24 * 3600 * 1000
ROOT = Path(__file__).resolve().parents[3]


class Site(NamedTuple):
    """A server whose tables lack the last step of its engine."""

    home: Path
    spec: SharedSpec
    step: str
    owner: str

    @property
    def backups(self) -> list[Path]:
        return sorted((self.home / "server" / "backups").glob("*.backup"))

    def texts(self) -> set[str]:
        with contextlib.closing(open_shared(self.spec)) as shared:
            return {memory.text for memory in shared.acting(Grant(ORGANISATION)).between("", "~", 1_000)}


def _older(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This program as the version before, which knows one step less."""
    with monkeypatch.context() as patch:
        for module in (postgres_schema, team_schema):
            patch.setattr(module, "MIGRATIONS", module.MIGRATIONS[:-1])
        yield


@pytest.fixture(params=ENGINES)
def site(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("KEEPMUM_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    spec: SharedSpec = TeamSqliteSpec(str(tmp_path / "server" / "memory.db"))
    owner, step = "", team_schema.MIGRATIONS[-1].name
    last = postgres_schema.MIGRATIONS[-1].name
    for _ in _older(monkeypatch):
        if request.param == "postgres":
            addresses = postgres_server.database("upgraded")
            spec, owner, step = PostgresSpec(addresses.app), addresses.owner, last
            monkeypatch.setenv("KEEPMUM_SERVER_DATABASE_URL", addresses.app)
            monkeypatch.setenv("KEEPMUM_SERVER_DATABASE_OWNER_URL", owner)
        with contextlib.closing(open_shared(spec)) as shared:
            for number in range(20):
                memory = a_memory(f"Rule {number} of the release")
                shared.acting(Grant(ORGANISATION)).commit([Change(None, memory)], [an_event(memory)])
    return Site(tmp_path, spec, step, owner)


def _run(*words: str) -> int:
    return main(["serve", *words])


def test_it_backs_up_applies_and_checks(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("upgrade") == 0
    said = capsys.readouterr().out
    (backup,) = site.backups
    assert said.splitlines()[:2] == [f"backup   {backup}", f"applied  {site.step}"]
    with team_backup.opened(str(backup), str(site.home / "work")) as (manifest, _, _):
        assert manifest.memories == 20
    assert len(site.texts()) == 20
    assert _run("upgrade") == 0
    assert "nothing to do" in capsys.readouterr().out
    assert site.backups == [backup]


def test_a_file_of_the_step_before_keeps_every_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = TeamSqliteSpec(str(tmp_path / "memory.db"))
    for _ in _older(monkeypatch):
        with contextlib.closing(open_shared(spec)) as shared:
            _fill(shared)
    before = _rows(spec.path)
    assert [name for name, rows in before.items() if not rows] == []
    assert _migrated(spec, tmp_path / "backups") == [team_schema.MIGRATIONS[-1].name]
    after = _rows(spec.path)
    assert {name: after[name] for name in before if name != "team_migrations"} == {
        name: rows for name, rows in before.items() if name != "team_migrations"
    }
    with contextlib.closing(open_shared(spec)) as shared:
        (known,) = shared.acting(_of("alpha")).between("", "~", 9)
        other = replace(known, project="beta", text="of beta", key=None)
        shared.acting(_of("beta")).commit([Change(None, other)], [an_event(other)])
        assert shared.acting(_of("alpha")).get([known.id]) == [known]
        assert shared.acting(_of("beta")).get([known.id]) == [other]
        shared.records.seal()
        assert [row.subject for row in shared.records.audit(projects=["beta"])] == [known.id]
        assert audit_chain.verify(shared.records.chain()).problem == ""


def _fill(shared: SharedStore) -> None:
    """Write rows of every table that a server has by itself."""
    records, store, entry = shared.records, shared.acting(_of("alpha")), Entry(NOW, "root", "person-added", "p_1")
    records.add_person(Person("p_1", "ada", {"alpha": "writer"}, created_at=NOW), entry)
    records.add_key(Key("kkkkkkkk", "p_1", "laptop", b"digest"), entry)
    records.secret_digest(b"digest")
    records.add_session(Session(b"digest", "p_1", "kkkkkkkk", {}, "alpha", NOW + 1), 9, NOW)
    memory = a_memory("The release is on Fridays", tags=("release",), session="s-1", key="release/day")
    with claiming(Claim("p_1", "key", b"request", NOW)):
        store.commit([Change(None, memory, Embedding("model", b"\0" * 8))], [an_event(memory)])
    changed = replace(memory, text="The release is on Mondays", revision=2)
    store.commit([Change(memory, changed)], [an_event(changed, action="updated")])
    reviews = store.features.review_state
    assert reviews is not None
    reviews.mark_wrong(changed, WrongMark(memory.id, NOW, "ada", "not so"), None)
    reviews.postpone("item", NOW, None)
    records.add_erasure(Erasure(NOW, "project", "digest", {}))
    records.seal()


def _rows(path: str) -> dict[str, list[tuple[object, ...]]]:
    """The rows of each table that a team uses; those of a full-text index are of the index."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        tables = [name for name in names if not name.startswith(("words", "sqlite_")) and name != "roots"]
        return {name: sorted(db.execute(f"SELECT * FROM {name}"), key=repr) for name in tables}


def _migrated(spec: TeamSqliteSpec, backups: Path) -> list[str]:
    return team_upgrade.upgrade(spec, "", str(backups), "backup").steps


def _of(project: str) -> Grant:
    return Grant(ORGANISATION, frozenset({project}), frozenset({project}))


def test_run_migrates_only_with_a_backup_of_the_last_day(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("run", "--migrate") == 1
    said = capsys.readouterr().err
    assert "no backup younger than a day" in said
    assert "`--without-backup`" in said
    folder = site.home / "server" / "backups"
    folder.mkdir(parents=True, exist_ok=True)
    now = time.time_ns() // 1_000_000
    _write_backup(folder / "old.backup", now - DAY_MS - 1000)
    (folder / "broken.backup").write_bytes(b"no archive")
    assert _run("run", "--migrate") == 1
    _write_backup(folder / "new.backup", now - DAY_MS + 60_000)
    capsys.readouterr()
    assert _run("run", "--migrate") == 1
    assert "there is no key" in capsys.readouterr().err  # it went on to serve
    assert _run("upgrade") == 0
    assert "nothing to do" in capsys.readouterr().out


def _write_backup(path: Path, at: int) -> None:
    """A file that says of itself when it was made."""
    manifest = team_backup.Manifest(1, "0.1.0", at, "", 0, 0, "")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest._asdict()))


def test_who_says_so_goes_on_without_a_backup(site: Site) -> None:
    assert _run("upgrade", "--without-backup") == 0
    assert site.backups == []
    assert len(site.texts()) == 20


def test_two_that_begin_in_one_second_keep_both_backups(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on PostgreSQL, where nothing keeps a second one from running."""
    folder, make = site.home / "server" / "backups", team_upgrade._make_backup
    inner: list[str] = []

    def make_two(spec: SharedSpec, path: str) -> str:
        inner.append(make(spec, path))  # the other upgrade, which is first
        return make(spec, path)

    monkeypatch.setattr(team_upgrade, "_make_backup", make_two)
    done = team_upgrade.upgrade(site.spec, site.owner, str(folder), "backup")
    assert [str(path) for path in site.backups] == sorted([*inner, done.backup])
    assert done.backup == inner[0].replace(".backup", "-2.backup")
    for backup in site.backups:
        with team_backup.opened(str(backup), str(site.home / "work")) as (manifest, _, _):
            assert manifest.memories == 20
    assert list(folder.glob(".*")) == []


def test_a_full_disk_stops_it_before_anything_is_changed(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 10**12, 1000))
        assert _run("upgrade") == 1
    said = capsys.readouterr().err
    assert "0 MB free" in said
    assert "Nothing was changed" in said
    assert site.backups == []
    assert _run("upgrade") == 0
    assert site.step in capsys.readouterr().out


@pytest.mark.usefixtures("site")
def test_a_newer_schema_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("upgrade") == 0
    with monkeypatch.context() as patch:
        for module in (postgres_schema, team_schema):
            patch.setattr(module, "MIGRATIONS", module.MIGRATIONS[: 2 if module is postgres_schema else 1])
        for words in (("upgrade",), ("run", "--migrate"), ("check",)):
            capsys.readouterr()
            assert _run(*words) == 1
            assert "newer version of Keepmum; upgrade this one" in capsys.readouterr().err


def test_the_version_before_uses_the_tables_after_an_upgrade(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(site.spec, TeamSqliteSpec):
        pytest.skip("one process uses a file; it goes back by a restore")
    assert _run("upgrade") == 0
    for _ in _older(monkeypatch):
        memory = a_memory("Written by the version before")
        with contextlib.closing(open_shared(site.spec)) as shared:
            shared.acting(Grant(ORGANISATION)).commit([Change(None, memory)])
        assert len(site.texts()) == 21


def test_the_owner_is_needed(site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if isinstance(site.spec, TeamSqliteSpec):
        pytest.skip("a file has no owner of its own")
    monkeypatch.delenv("KEEPMUM_SERVER_DATABASE_OWNER_URL")
    assert _run("upgrade") == 1
    assert "database.owner_url is missing" in capsys.readouterr().err
    assert site.backups == []


def test_a_file_in_use_is_not_upgraded(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    from keepmum.server.alone import alone

    if isinstance(site.spec, PostgresSpec):
        pytest.skip("servers go on meanwhile")
    with alone(str(site.home / "server")):
        assert _run("upgrade") == 1
    assert "another process serves" in capsys.readouterr().err


def test_a_step_waits_for_a_table_only_for_moments(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long transaction holds a table; requests for it do not queue behind the step."""
    if isinstance(site.spec, TeamSqliteSpec):
        pytest.skip("has no other processes")
    step = postgres_schema.Migration("m999_colour", "ALTER TABLE memories ADD COLUMN colour text;", needs=1)
    monkeypatch.setattr(postgres_schema, "MIGRATIONS", (*postgres_schema.MIGRATIONS, step))
    for name, value in (("_LOCK_MS", 50), ("_ATTEMPTS", 3), ("_PAUSE", 0.01)):
        monkeypatch.setattr(postgres_schema, name, value)
    with psycopg.connect(site.owner) as held:
        held.execute("SELECT count(*) FROM memories")
        with pytest.raises(StoreError, match="m999_colour found no moment"):
            postgres_schema.migrate(site.owner)
    assert postgres_schema.migrate(site.owner) == ["m999_colour"]


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_any_moment_it_can_be_repeated(site: Site, seed: int) -> None:
    """Ended by SIGKILL at random; the last run completes."""
    dice = random.Random(seed)
    command = [sys.executable, "-I", str(ROOT / "plugin" / "launch.py"), "serve", "upgrade"]
    started = time.monotonic()
    subprocess.run([*command, "--help"], check=True, capture_output=True, timeout=60)
    least = time.monotonic() - started
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(least + dice.random() * 0.8)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(site.texts()) == 20
    for backup in site.backups:
        with team_backup.opened(str(backup), str(site.home / "work")) as (manifest, _, _):
            assert manifest.memories == 20
    assert _run("verify") == 0
