"""Work beside its caller's: begun at once, answered when asked, by whoever is free."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from keepmum.system.background import BackgroundTask

LIMIT = 60.0  # seconds


@pytest.fixture
def beside() -> Iterator[BackgroundTask]:
    made = BackgroundTask("beside")
    yield made
    made.close()


def test_work_is_done_in_another_thread(beside: BackgroundTask) -> None:
    assert beside.begin(threading.current_thread)().name == "beside"


def test_work_begins_before_its_answer_is_asked_for(beside: BackgroundTask) -> None:
    begun = threading.Event()
    beside.begin(begun.set)
    assert begun.wait(LIMIT)


def test_what_the_work_raises_is_raised_where_its_answer_is_asked_for(beside: BackgroundTask) -> None:
    answer = beside.begin(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        answer()


def test_an_error_does_not_end_the_thread(beside: BackgroundTask) -> None:
    with pytest.raises(ZeroDivisionError):
        beside.begin(lambda: 1 // 0)()
    assert beside.begin(threading.current_thread)().name == "beside"


def test_one_thread_serves_one_piece_after_the_other(beside: BackgroundTask) -> None:
    assert len({beside.begin(threading.get_ident)() for _ in range(20)}) == 1


def test_who_comes_while_it_is_at_work_does_the_work_alone(beside: BackgroundTask) -> None:
    go_on = threading.Event()
    first = beside.begin(lambda: go_on.wait(LIMIT))
    assert beside.begin(threading.current_thread)() is threading.current_thread()
    go_on.set()
    assert first()


def test_its_thread_ends_when_it_is_closed(beside: BackgroundTask) -> None:
    thread = beside.begin(threading.current_thread)()
    beside.close()
    thread.join(LIMIT)
    assert not thread.is_alive()
