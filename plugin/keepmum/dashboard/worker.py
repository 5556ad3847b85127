"""One thread that opens the service, runs every call on it in turn, and closes it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Self, TypeVar

from keepmum.dashboard.desk import Desk

__all__ = ["Worker"]

_Answer = TypeVar("_Answer")


class Worker:
    """Runs jobs with the desk, one at a time; use it in a `with`.

    Raises: KeepmumError on entry, when the memory cannot be opened.
    """

    def __init__(self, open_desk: Callable[[], Desk]) -> None:
        self._open_desk = open_desk
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="keepmum-dashboard")
        self._closed = threading.Event()
        self._desk: Desk | None = None

    def __enter__(self) -> Self:
        try:
            self._desk = self._thread.submit(self._open_desk).result()
        except BaseException:
            self._thread.shutdown()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        if self._desk is not None:
            self._thread.submit(self._desk.close).result()
        self._thread.shutdown()

    def run(self, job: Callable[[Desk], _Answer]) -> _Answer:
        """The answer of `job`, which gets the desk.

        Raises: whatever the job raises; RuntimeError after the end.
        """
        desk = self._desk
        if desk is None or self._closed.is_set():
            raise RuntimeError("the dashboard is closed")
        return self._thread.submit(lambda: job(desk)).result()

    def each(self, start: Callable[[Desk], Iterator[_Answer]]) -> Iterator[_Answer]:
        """What an iterator over the desk yields; other calls run in between."""
        items = self.run(start)
        end = object()
        while (item := self.run(lambda _: next(items, end))) is not end:
            yield item  # type: ignore[misc]  # mypy does not know that this is no `end`
