"""Sending what waits: by one process, until it has arrived, and what becomes of what does not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keepmum.core.errors import KeyRefused, StoreError, StoreUnavailable
from keepmum.stores.outbox import Drainer, Item, Outbox
from keepmum.stores.outbox.drainer import Turn
from unit.outbox.outbox_parts import ORIGIN, an_item

LIMIT = 20.0  # seconds
Make = Callable[[Callable[[Item], str | None]], Drainer]


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Outbox]:
    made = Outbox(str(tmp_path / "outbox.db"))
    yield made
    made.close()


@pytest.fixture
def arrived() -> list[tuple[str, str | None]]:
    """What the owner of the queue was told: memory and name."""
    return []


@pytest.fixture
def make(box: Outbox, tmp_path: Path, arrived: list[tuple[str, str | None]]) -> Iterator[Make]:
    """Makes a drainer that sends by the function it is given, as another process would."""
    made: list[Drainer] = []

    def make_one(send: Callable[[Item], str | None]) -> Drainer:
        turn = Turn(str(tmp_path / "turn"))
        made.append(Drainer(box, ORIGIN, turn, send, lambda item, name: arrived.append((item.memory, name))))
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


def test_what_arrived_leaves_the_queue_after_its_owner_was_told(
    box: Outbox, make: Make, arrived: list[tuple[str, str | None]]
) -> None:
    item = an_item()
    box.put([item])
    assert make(lambda _: "a-name").step() == 0.0
    assert box.items() == []
    assert arrived == [(item.memory, "a-name")]


def test_a_server_that_is_down_is_left_alone_for_a_random_while(box: Outbox, make: Make) -> None:
    box.put([an_item()])
    drainer = make(failing(StoreUnavailable("down", unsent=True)))
    pauses = [drainer.step() for _ in range(40)]
    assert all(0 <= pause <= 300 for pause in pauses)
    assert max(pauses[8:]) > 10, "it grows"
    assert (box.waiting(ORIGIN), box.items()[0].tries) == (1, 0)


def test_a_server_that_asks_for_time_gets_it(box: Outbox, make: Make) -> None:
    box.put([an_item()])
    assert make(failing(StoreUnavailable("busy", retry_after=42.0))).step() >= 42.0


def test_a_key_that_is_refused_pauses_the_server(box: Outbox, make: Make) -> None:
    box.put([an_item(), an_item()])
    drainer = make(failing(KeyRefused("the key is not taken")))
    drainer.step()
    assert box.paused(ORIGIN) == "the key is not taken"
    tries = [item.tries for item in box.items()]
    drainer.step()
    assert [item.tries for item in box.items()] == tries == [0, 0]


def test_what_is_refused_for_good_is_laid_aside_and_the_next_goes_on(box: Outbox, make: Make) -> None:
    box.put([an_item(title="bad"), an_item(title="good")])
    sent: list[str] = []

    def send(item: Item) -> str | None:
        if item.title == "bad":
            raise StoreError("no such project")
        sent.append(item.title)
        return None

    drainer = make(send)
    assert [drainer.step(), drainer.step()] == [0.0, 0.0]
    assert sent == ["good"]
    assert [(item.title, item.reason) for item in box.items()] == [("bad", "no such project")]


def test_only_one_sends_at_a_time(box: Outbox, make: Make) -> None:
    box.put([an_item(), an_item()])
    sent: list[str] = []
    here, there = make(noting(sent, "here")), make(noting(sent, "there"))
    here.step()
    assert there.step() > 0
    here.close()
    there.step()
    assert sent == ["here", "there"]


def test_a_server_that_was_paused_is_tried_once_by_a_new_process(box: Outbox, make: Make) -> None:
    box.put([an_item()])
    box.pause(ORIGIN, "the key was not taken")
    done = threading.Event()
    make(setting(done)).start()
    assert done.wait(LIMIT)


def test_what_is_queued_later_is_sent_in_the_background(box: Outbox, make: Make) -> None:
    done = threading.Event()
    drainer = make(setting(done))
    drainer.start()
    box.put([an_item()])
    drainer.wake()
    assert done.wait(LIMIT)
