"""Background threads: one that runs a task at a time while the caller continues, and one that works off a queue."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from keepmum.core.errors import report_unexpected

__all__ = ["BackgroundTask", "JobQueue"]

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


class JobQueue:
    """A thread that runs jobs in order. It is started by the first job and does not keep the process alive."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: queue.SimpleQueue[tuple[Callable[[], None], threading.Event] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.closing = threading.Event()  # a long job ends early when it is set

    def add(self, job: Callable[[], None]) -> threading.Event:
        """Run `job` after those before it; the event is set when it has ended."""
        done = threading.Event()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._jobs.put((job, done))
        return done

    def close(self, timeout: float) -> None:
        """Drop the jobs that were not begun, and wait up to `timeout` seconds for the current one."""
        self.closing.set()
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join(timeout)

    def _run(self) -> None:
        while (entry := self._jobs.get()) is not None:
            job, done = entry
            try:
                if not self.closing.is_set():
                    job()
            except Exception as error:  # noqa: BLE001 - an error in one job must not stop those after it
                report_unexpected("background", error)
            finally:
                done.set()
