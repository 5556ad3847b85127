"""A background task starts at once; its result is waited for, or computed by the caller while the thread is busy."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from keepmum.system.background import BackgroundTask

LIMIT = 60.0  # seconds


@pytest.fixture
def background() -> Iterator[BackgroundTask]:
    made = BackgroundTask("background")
    yield made
    made.close()


def test_a_task_runs_in_another_thread(background: BackgroundTask) -> None:
    assert background.start(threading.current_thread)().name == "background"


def test_a_task_starts_before_its_result_is_requested(background: BackgroundTask) -> None:
    started = threading.Event()
    background.start(started.set)
    assert started.wait(LIMIT)


def test_an_exception_is_raised_where_the_result_is_requested(background: BackgroundTask) -> None:
    result = background.start(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        result()


def test_an_exception_does_not_end_the_thread(background: BackgroundTask) -> None:
    with pytest.raises(ZeroDivisionError):
        background.start(lambda: 1 // 0)()
    assert background.start(threading.current_thread)().name == "background"


def test_one_thread_runs_all_tasks(background: BackgroundTask) -> None:
    assert len({background.start(threading.get_ident)() for _ in range(20)}) == 1


def test_the_caller_runs_a_task_while_the_thread_is_busy(background: BackgroundTask) -> None:
    go_on = threading.Event()
    first = background.start(lambda: go_on.wait(LIMIT))
    assert background.start(threading.current_thread)() is threading.current_thread()
    go_on.set()
    assert first()


def test_close_ends_the_thread(background: BackgroundTask) -> None:
    thread = background.start(threading.current_thread)()
    background.close()
    thread.join(LIMIT)
    assert not thread.is_alive()
