"""Queued writes are delivered exactly once, although the server fails often and senders are killed.

KEEPMUM_TEST_FULL=1 runs the full numbers; the default takes less than a minute.
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

pytestmark = [pytest.mark.disk, pytest.mark.heavy]

FULL = bool(os.environ.get("KEEPMUM_TEST_FULL"))
WRITES, KILLS = (10_000, 100) if FULL else (250, 6)
FAULTS = 0.3  # share of requests that fail; half of them after the server has done its work
SENDERS = 2
_INTERVAL = 0.05  # seconds between two checks
LIMIT = 3_000.0 if FULL else 600.0  # seconds until the queue is empty


@pytest.fixture
def server() -> FakeServer:
    """A server that fails 30 % of the requests."""
    chance = random.Random(7)
    fake = FakeServer()

    def early(_: Request) -> Answer | None:
        return Answer(chance.choice([500, 502, 503, 504])) if chance.random() < FAULTS / 2 else None

    def late(_: Request) -> Answer | None:
        return Answer(chance.choice([500, 502, 504])) if chance.random() < FAULTS / 2 else None

    fake.fault, fake.late_fault = early, late
    return fake


def send_all(origin: str, folder: Path, outbox: Outbox) -> None:
    """Send the queue with several processes, and kill one of them again and again."""
    chance = random.Random(11)
    senders = [start_drainer(origin, folder) for _ in range(SENDERS)]
    first, ends = outbox.count_waiting(origin), time.monotonic() + LIMIT
    for kill in range(KILLS):
        aim = first - (kill + 1) * first // (KILLS + 1)  # spreads the kills over the complete run
        while outbox.count_waiting(origin) > aim:
            assert time.monotonic() < ends, "it takes too long"
            with contextlib.suppress(subprocess.TimeoutExpired):
                ended = senders[0].wait(_INTERVAL)  # well only when nothing waits any more
                assert ended == 0, senders[0].communicate()[1].decode()
        victim = chance.randrange(SENDERS)
        senders[victim].kill()
        senders[victim].communicate()
        senders[victim] = start_drainer(origin, folder)
    for sender in senders:
        try:
            _, errors = sender.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            sender.kill()
            sender.communicate()
            raise
        assert sender.returncode == 0, errors.decode()


def test_every_write_is_delivered_exactly_once(httpserver: HTTPServer, server: FakeServer, tmp_path: Path) -> None:
    origin = behind(httpserver, server)
    outbox = Outbox(file_of(str(tmp_path)), max_items=WRITES)
    texts = [f"memory number{number}" for number in range(WRITES)]
    outbox.put([
        Item(
            id=ids.to_uuid(ids.new_id()), origin=origin, project="alpha", action="create", memory=ids.new_id(),
            queued_at=1, title=text, text=text, agent="tester",
        )
        for text in texts
    ])  # fmt: skip
    send_all(origin, tmp_path, outbox)
    delivered = Counter(memory["text"] for memory in server.memories.values())
    assert [text for text, count in delivered.items() if count > 1] == [], "sent twice"
    assert [text for text in texts if text not in delivered] == [], "lost"
    assert outbox.items() == []
    outbox.close()


def test_memories_written_offline_get_the_ids_of_the_server(
    httpserver: HTTPServer, server: FakeServer, tmp_path: Path
) -> None:
    origin = behind(httpserver, server)
    faults, server.fault = server.fault, lambda _: Answer(503)
    store = open_at(origin, tmp_path)
    count = min(WRITES, 200)
    names = []
    for number in range(count):
        memory = a_memory(f"memory number{number}")
        names.append(memory.id)
        put(store, memory)
    server.fault = faults
    outbox = Outbox(file_of(str(tmp_path)))
    send_all(origin, tmp_path, outbox)
    stored = {name: store._mirror.get([outbox.current_id(name)]) for name in names}
    assert [name for name, found in stored.items() if not found] == []
    assert {ids.to_uuid(found[0].id) for found in stored.values()} == set(server.memories)
    store.close()
    outbox.close()
