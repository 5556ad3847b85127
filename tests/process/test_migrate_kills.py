"""A migration that is killed repeatedly copies each memory once, with its history.

KEEPMUM_TEST_FULL=1 kills it twenty times; the default of four takes less than a minute.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

import patient_launch
from contract.stores import a_memory, an_event
from keepmum.core import ids
from keepmum.core.memory import Change, Memory
from keepmum.stores.sqlite import SqliteStore
from keepmum.workspace import credentials
from keepmum.workspace.git.remote_url import folder_id
from rest_server import KEY, FakeServer, behind

pytestmark = [pytest.mark.disk, pytest.mark.heavy, pytest.mark.usefixtures("shared_bytecode")]

FULL = bool(os.environ.get("KEEPMUM_TEST_FULL"))
MEMORIES, KILLS = (1_500, 20) if FULL else (300, 4)
LIMIT = 500.0  # seconds


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    """A folder, and a database with memories of it, each changed once."""
    folder = tmp_path / "shop"
    folder.mkdir()
    with contextlib.closing(SqliteStore(str(home / ".keepmum" / "memory.db"))) as store:
        new = [
            a_memory(f"memory number{number}", project=folder_id(str(folder)), key=f"k{number}")
            for number in range(MEMORIES)
        ]
        store.commit([Change(None, memory) for memory in new])
        store.commit([Change(memory, later(memory)) for memory in new], [an_event(memory) for memory in new])
    return folder


def later(memory: Memory) -> Memory:
    return replace(memory, text=f"{memory.text} as it is now", revision=2)


def start(root: Path, project: Path, target: str) -> subprocess.Popen[bytes]:
    launch = root / "plugin" / "launch.py"
    command = patient_launch.command(launch, "migrate", "sqlite", target, python=[sys.executable])
    return subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def migrate_with_kills(root: Path, project: Path, target: str) -> str:
    """The output of the last run, after others were killed at random moments."""
    chance = random.Random(5)
    whole = 1.0
    for _ in range(KILLS):
        began, running = time.monotonic(), start(root, project, target)
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(chance.uniform(0.1, whole))
            whole = max(0.3, time.monotonic() - began)
        running.kill()
        running.communicate()
    output, problem = start(root, project, target).communicate(timeout=LIMIT)
    assert problem.count(b"Traceback") == 0, problem.decode()
    return output.decode()


def test_a_migration_to_files_survives_kills(root: Path, home: Path, project: Path) -> None:
    output = migrate_with_kills(root, project, "markdown")
    assert "0 refused, 0 differing" in output, output
    texts = [path.read_text(encoding="utf-8") for path in project.glob(".memories/*/*.md")]
    numbers = Counter(text.split("number")[-1].split()[0] for text in texts)
    assert (len(numbers), set(numbers.values())) == (MEMORIES, {1})
    from keepmum.stores import markdown

    with contextlib.closing(
        markdown.MarkdownStore(str(project), str(home / ".keepmum" / "cache"), folder_id(str(project)))
    ) as store:
        names = [memory.id for memory in store.between("", "~", MEMORIES)]
        assert {len(store.history(name)) for name in names} == {1}


def test_a_migration_to_a_server_survives_kills(
    root: Path, home: Path, project: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeServer()
    origin = behind(httpserver, fake)
    monkeypatch.setenv("MEMORY_API_URL", origin)
    monkeypatch.setenv("KEEPMUM_BACKEND", "sqlite")
    credentials.store(str(home / ".keepmum"), origin, KEY)
    output = migrate_with_kills(root, project, "rest")
    assert "0 refused, 0 differing" in output, output
    if "queued for the server" in output:  # which answered too late for some, as on a busy machine
        launch = root / "plugin" / "launch.py"
        retry = patient_launch.command(launch, "outbox", "retry", python=[sys.executable])
        environ = {**os.environ, "KEEPMUM_BACKEND": "rest"}
        subprocess.run(retry, cwd=project, env=environ, check=True, capture_output=True, timeout=LIMIT)
    arrived = Counter(memory["text"] for memory in fake.memories.values())
    assert (len(arrived), set(arrived.values())) == (MEMORIES, {1})
    assert all(ids.id_range(name) for name in fake.memories)
