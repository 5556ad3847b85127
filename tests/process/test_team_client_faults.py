"""The client of our own server when the link or the server fails: nothing acknowledged is lost, nothing doubled."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import postgres_server
from contract.stores import a_memory, wanted
from keepmum.core.memory import Change
from keepmum.stores.rest import RestStore
from own_server import OwnServer
from server_process import TeamServer, lasting_port
from unit.stores.rest_parts import open_at

_FULL = os.environ.get("KEEPMUM_TEST_FULL") == "1"
_PATIENCE = 300.0  # seconds


class Link:
    """A TCP proxy with a delay, which resets some connections and can be cut."""

    def __init__(self, port: int, *, delay: float, resets: float) -> None:
        self._port = port
        self._delay = delay
        self._resets = resets
        self._chance = random.Random(7)
        self._open: set[socket.socket] = set()
        self.is_cut = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.origin = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self.is_cut = True
        for each in list(self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def restore(self) -> None:
        self.is_cut = False

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            if self.is_cut:
                return
            with socket.create_connection(("127.0.0.1", self._port)) as server:
                self._open |= {client, server}
                back = threading.Thread(target=self._pump, args=(server, client), daemon=True)
                back.start()
                self._pump(client, server)
                back.join()
                self._open -= {client, server}

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                time.sleep(self._delay / 2)
                if self.is_cut or self._chance.random() < self._resets:
                    break
                target.sendall(data)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@pytest.fixture(params=["sqlite", "postgres"] if _FULL else ["sqlite"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OwnServer]:
    (tmp_path / "server").mkdir()
    database = request.param == "postgres"
    environ = {"KEEPMUM_SERVER_DATABASE_URL": postgres_server.database("faults").app} if database else {}
    with OwnServer(tmp_path / "server", environ, port=lasting_port()) as running:
        running.wipe()
        yield running


def write(store: RestStore, writer: int, count: int, written: list[str]) -> None:
    for number in range(count):
        memory = a_memory(f"writer {writer} says {number}", at=1_790_000_000_000 + number)
        store.commit([Change(None, memory)])
        written.append(memory.text)


def until_sent(store: RestStore) -> None:
    """Wait until the queue of a client is empty."""
    ends = time.monotonic() + _PATIENCE
    while store.health()["queued"]:
        store.search(["writer"], wanted(), 1)  # an answer ends the pause of the sender
        assert time.monotonic() < ends, f"the queue is not sent: {store.notice}"
        time.sleep(0.1)
    assert not store.health()["refused"], store.notice


def texts_at(server: TeamServer, key: str) -> Counter[str]:
    lines = server.ask("GET", "/api/v2/export", key=key).raw.splitlines()
    return Counter(json.loads(line)["text"] for line in lines[:-1])


@pytest.mark.heavy
@pytest.mark.parametrize("cuts", [20 if _FULL else 3])
def test_over_a_bad_link_reads_fall_back_and_writes_arrive_once(server: OwnServer, tmp_path: Path, cuts: int) -> None:
    link = Link(server.port, delay=0.2 if _FULL else 0.02, resets=0.05)
    store = open_at(link.origin, tmp_path / "client", key=server.key, drains=True)
    written: list[str] = []
    write(store, 0, 1, written)
    for number in range(1, cuts + 1):
        link.cut()
        write(store, number, 2, written)
        assert store.search(["writer"], wanted(), 50)
        assert "not the server's answer" in store.caveat
        link.restore()
        write(store, number + cuts, 2, written)
    until_sent(store)
    link.close()
    store.close()
    assert texts_at(server, server.key) == Counter(written)


@pytest.mark.heavy
def test_a_killed_server_loses_nothing_and_stores_nothing_twice(server: OwnServer, tmp_path: Path) -> None:
    writers, count = (16, 60) if _FULL else (4, 12)
    stores = [open_at(server.origin, tmp_path / str(one), key=server.key, drains=True) for one in range(writers)]
    written: list[list[str]] = [[] for _ in stores]
    threads = [
        threading.Thread(target=write, args=(store, number, count, written[number]))
        for number, store in enumerate(stores)
    ]
    for thread in threads:
        thread.start()
    running: TeamServer = server
    for kill in range(1, 4):
        while sum(map(len, written)) < kill * writers * count // 5 and any(thread.is_alive() for thread in threads):
            time.sleep(0.01)
        running.process.send_signal(signal.SIGKILL)
        running.__exit__()
        running = TeamServer(tmp_path / "server", "--port", str(server.port), environ=server.environ)
    for thread in threads:
        thread.join(_PATIENCE)
    for store in stores:
        until_sent(store)
        store.close()
    with running:
        found = texts_at(running, server.key)
    assert found == Counter(text for each in written for text in each)
    assert len(found) == writers * count
