"""A background thread that runs one task at a time while the caller continues."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

__all__ = ["BackgroundTask"]

_Result = TypeVar("_Result")


class BackgroundTask:
    """A thread for one task at a time. It is started by the first task and reused, since starting one is slow."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._idle = threading.Lock()
        self._tasks: queue.SimpleQueue[_Task[Any] | None] = queue.SimpleQueue()  # Any: tasks differ in their results
        self._thread: threading.Thread | None = None

    def start(self, work: Callable[[], _Result]) -> Callable[[], _Result]:
        """Start `work`; returns a function that waits for its result, or raises what `work` raised.

        While the thread is busy, `work` itself is returned, so that the caller runs it when it needs the result.
        """
        if not self._idle.acquire(blocking=False):
            return work
        task = _Task(work, self._idle)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._tasks.put(task)
        return task.result

    def close(self) -> None:
        """End the thread after its current task."""
        if self._thread is not None:
            self._tasks.put(None)

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            task.run()


class _Task(Generic[_Result]):
    """One task and its result."""

    def __init__(self, work: Callable[[], _Result], idle: threading.Lock) -> None:
        self._work = work
        self._idle = idle
        self._done = threading.Event()
        self._result: _Result
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self._error = error
        finally:
            self._idle.release()
            self._done.set()

    def result(self) -> _Result:
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._result
