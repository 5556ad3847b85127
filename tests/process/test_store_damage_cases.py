"""After a crash and damage to any file of the store, an acknowledged write is readable or its loss is reported.

A server stores memories and is killed with a WAL that was not folded; then its files are damaged, 200 times.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import bytecode
from keepmum.core.memory import Filter
from keepmum.stores.sqlite import SqliteStore, salvage
from mcp_process import ServerProcess, text_of
from store_damages import DAMAGES, damages

CASES = 200
EVERYTHING = Filter(now=0, everywhere=True)
SESSIONS = (20, 20, 24)  # memories that each stores; the last one is killed
NAMES = ("memory.db", "memory.db-wal", "memory.db-shm")
WORDS = ("zebra", "lantern", "copper", "meadow", "signal", "harbor", "velvet", "canyon", "pepper", "summit", "orbit")


class Killed(NamedTuple):
    """A home whose server was killed."""

    home: Path
    texts: list[str]  # all that was acknowledged
    older: list[Path]  # earlier versions of the files


def a_text(number: int) -> str:
    first, second = WORDS[number % len(WORDS)], WORDS[number * 7 % len(WORDS)]
    return f"Fact {number}: the {first} service {number * 13} reads the {second} queue before step {number * 31}."


def command(root: Path, *words: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(root / "plugin" / "launch.py"), *words]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "KEEPMUM_HOME": str(home), "KEEPMUM_PROJECT": "damages"}


@contextlib.contextmanager
def a_server(root: Path, home: Path) -> Iterator[ServerProcess]:
    with ServerProcess(command(root, "mcp", "--client", "claude"), environment(home)) as server:
        server.greet(client="claude-code")
        yield server


@pytest.fixture(scope="module")
def killed(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    folder = tmp_path_factory.mktemp("killed")
    home = folder / "home"
    texts: list[str] = []
    older: list[Path] = []
    bytecode.share(home)

    def keep_version() -> None:
        version = folder / f"older-{len(older)}"
        version.mkdir()
        for name in NAMES:
            if (home / name).exists():
                shutil.copyfile(home / name, version / name)
        older.append(version)

    for session, count in enumerate(SESSIONS):
        with a_server(root, home) as server:
            for number in range(count):
                text = a_text(len(texts))
                assert "mem_" in text_of(server.call("remember", text=text))
                texts.append(text)
                if number == count // 2:
                    keep_version()
            if session < len(SESSIONS) - 1:
                server.close_input()
                assert server.end() == 0
                keep_version()
                made_hours_ago(home, 6 - session)
    return Killed(home, texts, older)


def made_hours_ago(home: Path, hours: int) -> None:
    """Date the backups back, since those of a day are few."""
    for number, backup in enumerate(sorted((home / "backups").glob("*.db"))):
        when = time.time() - hours * 3600 + number
        os.utime(backup, (when, when))
        backup.rename(backup.with_name(time.strftime("memory-%Y%m%dT%H%M%SZ.db", time.gmtime(when))))


def a_copy(killed: Killed, folder: Path) -> Path:
    home = folder / "home"
    shutil.copytree(killed.home, home, symlinks=True)
    return home


def lost(home: Path, texts: list[str]) -> tuple[list[str], str]:
    """The acknowledged texts that cannot be read or found, and what the store reports."""
    with contextlib.closing(SqliteStore(str(home / "memory.db"))) as store:
        read = {memory.text for memory in store.browse(EVERYTHING, limit=len(texts) * 2)}
        found = {
            memory.text
            for number in range(len(texts))
            for memory, _ in store.search([str(number * 31), str(number * 13)], EVERYTHING, 9)
        }
        return [text for text in texts if text not in read or text not in found], store.notice


@pytest.fixture
def gives_up_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a salvage skip 1,000 unreadable row numbers instead of 100,000: the stores here have 64."""
    monkeypatch.setattr(salvage, "_MAX_MISSES", 1_000)


def test_an_undamaged_home_loses_and_reports_nothing(killed: Killed, tmp_path: Path) -> None:
    assert lost(a_copy(killed, tmp_path), killed.texts) == ([], "")


@pytest.mark.usefixtures("gives_up_sooner")
@pytest.mark.parametrize("part", range(4))
def test_no_acknowledged_write_is_lost_silently(killed: Killed, tmp_path: Path, part: int) -> None:
    silent, readable = [], 0
    chosen = damages(CASES)[part::4]
    for seed, damage in chosen:
        home = a_copy(killed, tmp_path / f"{seed}")
        damage.apply(home, seed, killed.older)
        missing, notice = lost(home, killed.texts)
        with contextlib.closing(SqliteStore(str(home / "memory.db"))) as store:  # as the doctor does later
            reported = bool(notice) and notice in str(store.health()["notice"])
        if missing and not reported:
            silent.append(f"{seed} {damage.name}: {len(missing)} missing")
        readable += len(killed.texts) - len(missing)
        shutil.rmtree(home)
    assert silent == []
    assert readable > 0.7 * len(chosen) * len(killed.texts)


PROCESSES = (
    "delete memory.db",
    "delete memory.db-wal",
    "flips memory.db-wal",
    "all_junk memory.db",
    "older memory.db",
)


@pytest.mark.parametrize("name", PROCESSES)
def test_the_server_and_the_doctor_report_a_loss(killed: Killed, tmp_path: Path, root: Path, name: str) -> None:
    home = a_copy(killed, tmp_path)
    damage = next(damage for damage in DAMAGES if damage.name == name)
    damage.apply(home, 1, killed.older)
    with a_server(root, home) as server:
        answer = text_of(server.call("recall", query="zebra service queue"))
        server.close_input()
        assert server.end() == 0
        errors = server.errors()
    assert "Tell the user: the memory store was damaged" in answer
    assert "keepmum: the memory store was damaged" in errors
    with a_server(root, home) as server:  # a later session
        assert "Tell the user: the memory store was damaged" in text_of(server.call("resume"))
    doctor = subprocess.run(
        command(root, "doctor"), env=environment(home), capture_output=True, text=True, check=False, timeout=60
    )
    assert "the memory store was damaged" in doctor.stdout


JSON_CALLS = {
    "koi": ("recall", {"query": "zebra"}),
    "token-saver": ("list_memories", {}),
    "hackathon": ("memory-stats", {}),
    "shared": ("list_recent", {}),
    "per-user": ("MemoryList", {"userId": "ada"}),
}


@pytest.mark.parametrize("dialect", JSON_CALLS)
def test_every_dialect_reports_a_loss(killed: Killed, tmp_path: Path, root: Path, dialect: str) -> None:
    home = a_copy(killed, tmp_path)
    (home / "memory.db").unlink()
    with ServerProcess(command(root, "mcp", "--dialect", dialect), environment(home)) as server:
        server.greet(client="claude-code")
        tools = server.ask("tools/list", {})
        name, arguments = JSON_CALLS[dialect]
        answer = server.call(name, **arguments)
    assert "Tell the user: the memory store was damaged" in str(answer), (answer, tools)


def test_a_report_ends_when_it_is_deleted(killed: Killed, tmp_path: Path) -> None:
    home = a_copy(killed, tmp_path)
    (home / "memory.db").unlink()
    assert lost(home, killed.texts)[1]
    (report,) = home.glob("memory.db.damage-*")
    assert f"Delete {report}" in lost(home, killed.texts)[1]
    report.unlink()
    assert lost(home, killed.texts)[1] == ""


def test_a_home_of_which_only_backups_are_left_is_restored(killed: Killed, tmp_path: Path) -> None:
    home = a_copy(killed, tmp_path)
    for path in home.glob("memory.db*"):
        path.unlink()
    missing, notice = lost(home, killed.texts)
    assert "from a backup" in notice
    assert len(missing) <= SESSIONS[-1]


def test_a_loss_without_any_copy_is_reported(killed: Killed, tmp_path: Path, root: Path) -> None:
    home = a_copy(killed, tmp_path)
    shutil.rmtree(home / "backups")
    for name in NAMES:
        (home / name).unlink(missing_ok=True)
    with a_server(root, home) as server:
        answer = text_of(server.call("recall", query="zebra"))
    assert "Nothing is remembered" not in answer
    assert f"It had about {len(killed.texts)}" in answer


def test_a_restore_that_is_killed_at_any_moment_is_finished_later(killed: Killed, tmp_path: Path) -> None:
    """The process ends at the n-th rename, unlink or file that a restore makes, for every n."""
    for step in itertools.count(1):
        home = a_copy(killed, tmp_path / f"{step}")
        (home / "memory.db").unlink()
        (home / "memory.db-wal").unlink()
        died = os.waitpid(restore_until(home, step), 0)[1]
        missing, notice = lost(home, killed.texts)
        assert len(missing) <= SESSIONS[-1], step
        assert "the memory store was damaged" in notice, step
        shutil.rmtree(home)
        if died == 0:
            assert step > 5
            return


def restore_until(home: Path, step: int) -> int:
    """A process that opens the store and ends at a step of the restore, if it gets so far; its id."""
    process = os.fork()
    if process:
        return process
    counted = itertools.count(1)

    def count(event: str, arguments: tuple[object, ...]) -> None:
        is_step = event in {"os.rename", "os.remove", "os.truncate", "open", "sqlite3.connect"}
        if is_step and str(home) in str(arguments) and next(counted) == step:
            os._exit(9)

    try:
        sys.addaudithook(count)
        SqliteStore(str(home / "memory.db")).close()
    except BaseException:  # noqa: BLE001 - the child must not run the rest of the tests
        os._exit(1)
    os._exit(0)
