"""The drainer: one process sends; retries, pauses and refusals."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keepmum.core.errors import KeyRefused, StoreError, StoreUnavailable
from keepmum.stores.outbox import Drainer, Item, Outbox, SendLock
from unit.outbox.outbox_parts import ORIGIN, an_item

LIMIT = 60.0  # seconds
Make = Callable[[Callable[[Item], str | None]], Drainer]


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    made = Outbox(str(tmp_path / "outbox.db"))
    yield made
    made.close()


@pytest.fixture
def delivered() -> list[tuple[str, str | None]]:
    """The calls of `on_delivered`: memory and id at the server."""
    return []


@pytest.fixture
def make(outbox: Outbox, tmp_path: Path, delivered: list[tuple[str, str | None]]) -> Iterator[Make]:
    """Makes a drainer with this `send`, as another process would."""
    made: list[Drainer] = []

    def make_one(send: Callable[[Item], str | None]) -> Drainer:
        lock = SendLock(str(tmp_path / "send.lock"))
        made.append(Drainer(outbox, ORIGIN, lock, send, lambda item, name: delivered.append((item.memory, name))))
        return made[-1]

    yield make_one
    for drainer in made:
        drainer.close()


def failing(error: Exception) -> Callable[[Item], str | None]:
    def send(_: Item) -> str | None:
        raise error

    return send


def noting(sent: list[str], word: str) -> Callable[[Item], str | None]:
    def send(item: Item) -> str | None:
        sent.append(word)
        return item.memory

    return send


def setting(event: threading.Event) -> Callable[[Item], str | None]:
    def send(item: Item) -> str | None:
        event.set()
        return item.memory

    return send


def test_a_delivered_item_leaves_the_queue(outbox: Outbox, make: Make, delivered: list[tuple[str, str | None]]) -> None:
    item = an_item()
    outbox.put([item])
    assert make(lambda _: "a-name").step() == 0.0
    assert outbox.items() == []
    assert delivered == [(item.memory, "a-name")]


def test_pauses_grow_and_are_random_while_the_server_is_down(outbox: Outbox, make: Make) -> None:
    outbox.put([an_item()])
    drainer = make(failing(StoreUnavailable("down", unsent=True)))
    pauses = [drainer.step() for _ in range(40)]
    assert all(0 <= pause <= 300 for pause in pauses)
    assert max(pauses[8:]) > 10, "pauses grow"
    assert (outbox.count_waiting(ORIGIN), outbox.items()[0].tries) == (1, 0)


def test_retry_after_is_respected(outbox: Outbox, make: Make) -> None:
    outbox.put([an_item()])
    assert make(failing(StoreUnavailable("busy", retry_after=42.0))).step() >= 42.0


def test_a_refused_key_pauses_the_server(outbox: Outbox, make: Make) -> None:
    outbox.put([an_item(), an_item()])
    drainer = make(failing(KeyRefused("the key is not taken")))
    drainer.step()
    assert outbox.pause_reason(ORIGIN) == "the key is not taken"
    tries = [item.tries for item in outbox.items()]
    drainer.step()
    assert [item.tries for item in outbox.items()] == tries == [0, 0]


def test_a_refused_item_does_not_block_the_next(outbox: Outbox, make: Make) -> None:
    outbox.put([an_item(title="bad"), an_item(title="good")])
    sent: list[str] = []

    def send(item: Item) -> str | None:
        if item.title == "bad":
            raise StoreError("no such project")
        sent.append(item.title)
        return None

    drainer = make(send)
    assert [drainer.step(), drainer.step()] == [0.0, 0.0]
    assert sent == ["good"]
    assert [(item.title, item.reason) for item in outbox.items()] == [("bad", "no such project")]


def test_one_process_sends_at_a_time(outbox: Outbox, make: Make) -> None:
    outbox.put([an_item(), an_item()])
    sent: list[str] = []
    here, there = make(noting(sent, "here")), make(noting(sent, "there"))
    here.step()
    assert there.step() > 0
    here.close()
    there.step()
    assert sent == ["here", "there"]


def test_a_new_process_tries_a_paused_server_once(outbox: Outbox, make: Make) -> None:
    outbox.put([an_item()])
    outbox.pause(ORIGIN, "the key was not taken")
    done = threading.Event()
    make(setting(done)).start()
    assert done.wait(LIMIT)


def test_an_item_queued_later_is_sent_in_the_background(outbox: Outbox, make: Make) -> None:
    done = threading.Event()
    drainer = make(setting(done))
    drainer.start()
    outbox.put([an_item()])
    drainer.wake()
    assert done.wait(LIMIT)
