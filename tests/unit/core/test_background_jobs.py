"""Jobs run in order in one thread, and closing does not wait for those that were not begun."""

from __future__ import annotations

import threading

from keepmum.system.background import JobQueue

LIMIT = 60.0  # seconds


def test_jobs_run_in_order_and_announce_their_end() -> None:
    jobs, ran = JobQueue("test"), list[int]()
    for number in range(3):
        done = jobs.add(lambda number=number: ran.append(number))  # type: ignore[misc]
    assert done.wait(LIMIT)
    assert ran == [0, 1, 2]
    jobs.close(LIMIT)


def test_closing_drops_what_was_not_begun() -> None:
    jobs, started, release, ran = JobQueue("test"), threading.Event(), threading.Event(), list[str]()

    def first() -> None:
        started.set()
        release.wait(LIMIT)
        ran.append("first")

    jobs.add(first)
    dropped = jobs.add(lambda: ran.append("second"))
    assert started.wait(LIMIT)
    jobs.closing.set()
    release.set()
    assert dropped.wait(LIMIT)
    assert ran == ["first"]
    jobs.close(LIMIT)
