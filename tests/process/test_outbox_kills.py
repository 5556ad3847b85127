"""What waits for a server arrives exactly once, whatever the server does and whoever is killed while sending.

KEEPMUM_TEST_FULL=1 runs the numbers that the product promises; otherwise smaller ones stay within a minute.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request

from contract.stores import a_memory
from keepmum.core import ids
from keepmum.stores.outbox import Item, Outbox, file_of
from process.outbox_actor import start_drainer
from rest_server import Answer, FakeServer, behind
from unit.stores.rest_parts import open_at, put

pytestmark = pytest.mark.heavy

FULL = bool(os.environ.get("KEEPMUM_TEST_FULL"))
WRITES, KILLS = (10_000, 100) if FULL else (250, 6)
FAULTS = 0.3  # of all requests, half of them after the server did what was asked
SENDERS = 2
_LOOK = 0.05  # seconds between two looks
LIMIT = 3_000.0 if FULL else 120.0  # seconds, for the last of them to be done


@pytest.fixture
def server() -> FakeServer:
    """A server that fails three times in ten."""
    chance = random.Random(7)
    fake = FakeServer()

    def early(_: Request) -> Answer | None:
        return Answer(chance.choice([500, 502, 503, 504])) if chance.random() < FAULTS / 2 else None

    def late(_: Request) -> Answer | None:
        return Answer(chance.choice([500, 502, 504])) if chance.random() < FAULTS / 2 else None

    fake.fault, fake.late_fault = early, late
    return fake


def send_all(origin: str, folder: Path, box: Outbox) -> None:
    """Let several processes send what waits, and kill one of them again and again."""
    chance = random.Random(11)
    senders = [start_drainer(origin, folder) for _ in range(SENDERS)]
    first, ends = box.waiting(origin), time.monotonic() + LIMIT
    for kill in range(KILLS):
        aim = first - (kill + 1) * first // (KILLS + 1)  # spread over the whole work, not over its first second
        while box.waiting(origin) > aim:
            assert time.monotonic() < ends, "it takes too long"
            with contextlib.suppress(subprocess.TimeoutExpired):
                senders[0].wait(_LOOK)
                raise AssertionError(senders[0].communicate()[1].decode())
        victim = chance.randrange(SENDERS)
        senders[victim].kill()
        senders[victim].communicate()
        senders[victim] = start_drainer(origin, folder)
    for sender in senders:
        try:
            _, said = sender.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            sender.kill()
            sender.communicate()
            raise
        assert sender.returncode == 0, said.decode()


def test_every_write_arrives_exactly_once(httpserver: HTTPServer, server: FakeServer, tmp_path: Path) -> None:
    origin = behind(httpserver, server)
    box = Outbox(file_of(str(tmp_path)), most_items=WRITES)
    texts = [f"memory number{number}" for number in range(WRITES)]
    box.put([
        Item(
            id=ids.to_uuid(ids.new_id()), origin=origin, project="alpha", action="create", memory=ids.new_id(),
            queued_at=1, title=text, text=text, agent="tester",
        )
        for text in texts
    ])  # fmt: skip
    send_all(origin, tmp_path, box)
    arrived = Counter(memory["text"] for memory in server.memories.values())
    assert [text for text, count in arrived.items() if count > 1] == [], "sent twice"
    assert [text for text in texts if text not in arrived] == [], "lost"
    assert box.items() == []
    box.close()


def test_what_was_written_offline_is_known_here_by_the_servers_ids(
    httpserver: HTTPServer, server: FakeServer, tmp_path: Path
) -> None:
    origin = behind(httpserver, server)
    works, server.fault = server.fault, lambda _: Answer(503)
    store = open_at(origin, tmp_path)
    count = min(WRITES, 200)
    names = []
    for number in range(count):
        memory = a_memory(f"memory number{number}")
        names.append(memory.id)
        put(store, memory)
    server.fault = works
    box = Outbox(file_of(str(tmp_path)))
    send_all(origin, tmp_path, box)
    kept = {name: store._mirror.get([box.name(name)]) for name in names}
    assert [name for name, found in kept.items() if not found] == []
    assert {ids.to_uuid(found[0].id) for found in kept.values()} == set(server.memories)
    store.close()
    box.close()
