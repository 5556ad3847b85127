"""The process of a session: descriptors, threads, signals, and shutdown.

The main thread owns the handlers and runs jobs, a second thread reads, and a third waits for signals: a blocked read
or a hanging job never delays shutdown.
No `select` (Windows lacks it for pipes), no `threading`, no `queue`: importing them takes milliseconds.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
from _queue import SimpleQueue  # the same class as queue.SimpleQueue, without the imports of `queue`

from keepmum.core import jsonrpc
from keepmum.mcp.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from keepmum.mcp.surface import OpenHandlers, Surface

    Job = Callable[[], None]

__all__ = ["serve"]

_STACK = 16 * 1024 * 1024  # bytes for the reading thread; deep JSON recurses in C, and some systems default to 128 KiB
GRACE = 5.0  # seconds from the end of input to a forced exit: a server must not outlive its client
_PARTS = 50  # of the grace period: of the time for which a process is stopped, as a laptop that sleeps, one part counts
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")  # Windows lacks SIGHUP


def serve(surface: Surface, open_handlers: OpenHandlers, *, name: str, version: str) -> int:
    """Run a session on standard input and output; return its exit status.

    It ends at the end of input, after pending requests are answered, or at a signal or a closed output, after the
    current request. Call it on the main thread, once per process: it takes over descriptors 0 and 1.
    """
    source, sink = _take_descriptors()
    jobs = _Jobs()
    output = _Output(sink, jobs.stop)
    session = Session(surface, open_handlers, name=name, version=version, send=output.send, submit=jobs.submit)
    _stop_on_signals(jobs)
    before = _thread.stack_size(_STACK)
    _thread.start_new_thread(_read, (source, session, jobs))
    _thread.stack_size(before)
    jobs.work()
    session.close()
    jobs.finish()
    return 0


class _Jobs:
    """The queue of the main thread."""

    def __init__(self) -> None:
        self._queue: Final[SimpleQueue[Job | None]] = SimpleQueue()
        self._stopped = False
        self._ending = False
        self._finished: Final = _thread.allocate_lock()
        self._finished.acquire()

    def submit(self, job: Job) -> None:
        """Append a job."""
        self._queue.put(job)

    def end(self) -> None:
        """Finish the queued jobs, within the grace period, and accept no more."""
        self._queue.put(None)
        if not self._ending:
            self._ending = True
            _thread.start_new_thread(self._force_exit, ())

    def stop(self) -> None:
        """Stop after the current job. Safe in a signal handler: `SimpleQueue.put` is reentrant."""
        self._stopped = True
        self.end()

    def work(self) -> None:
        """Run the jobs until the last."""
        while (job := self._queue.get()) is not None and not self._stopped:
            job()

    def finish(self) -> None:
        """Cancel the forced exit."""
        self._finished.release()

    def _force_exit(self) -> None:
        for _ in range(_PARTS):
            if self._finished.acquire(timeout=GRACE / _PARTS):
                self._finished.release()  # two threads may have ended the jobs at once, and each waits here
                return
        os._exit(1)


class _Output:
    """Writes whole messages to the client, from any thread."""

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        self._descriptor: Final = descriptor
        self._on_broken: Final = on_broken
        self._lock: Final = _thread.allocate_lock()

    def send(self, message: object) -> None:
        """Write one message; when the client has closed its end, drop it and start the shutdown."""
        rest = memoryview(jsonrpc.encode(message))
        with self._lock:
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:
                self._on_broken()


def _stop_on_signals(jobs: _Jobs) -> None:
    """Stop the jobs at a signal, also one that comes just before the main thread blocks in a system call.

    Python runs handlers on the main thread, between two instructions: in that case not before the call returns. So a
    second thread waits for the byte that Python's C handler writes.
    """
    reading, writing = os.pipe()
    if os.name == "posix":
        os.set_blocking(writing, False)  # required by set_wakeup_fd; Windows does not have it for pipes
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for name in _SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: jobs.stop())

    def wait() -> None:
        os.read(reading, 1)
        jobs.stop()

    _thread.start_new_thread(wait, ())


def _read(source: int, session: Session, jobs: _Jobs) -> None:
    try:
        for line in jsonrpc.lines(lambda size: os.read(source, size)):
            if line is None or line.strip():
                session.receive(line)
    except OSError:
        pass  # the client exited without closing, which also ends the input
    finally:
        jobs.end()


def _take_descriptors() -> tuple[int, int]:
    """Duplicates of input and output; afterwards 0 is the null device, and 1 and `sys.stdout` are stderr.

    A library that prints, or a child process that reads, then cannot break the protocol.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    while nothing <= 2:  # a standard descriptor was closed: open it on the null device
        nothing = os.open(os.devnull, os.O_RDWR)
    source, sink = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    if os.name == "posix":
        for descriptor in (source, sink):
            os.set_blocking(descriptor, True)  # some parents pass non-blocking pipes
    sys.stdout = sys.stderr
    return source, sink
