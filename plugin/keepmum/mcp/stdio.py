"""The process around a session: descriptors, threads, signals, and the end.

The main thread owns the handlers and does jobs; a second thread reads. So a signal, which Python delivers on the main
thread, wakes it when it waits and never cuts a job short; and a read that never returns holds up no end.
No `select` (Windows has none for pipes), no `threading`, no `queue`: the handshake would pay milliseconds for them.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
from _queue import SimpleQueue  # what `queue.SimpleQueue` is, without the imports of `queue`

from keepmum.core import jsonrpc
from keepmum.mcp.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from keepmum.mcp.surface import OpenHandlers, Surface

    Job = Callable[[], None]

__all__ = ["serve"]

_STACK = 16 * 1024 * 1024  # bytes for the reader; deep JSON recurses in C, and some systems give threads 128 KiB
GRACE = 5.0  # seconds from the end of input to the end of the process, whatever hangs: no server outlives its client
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")  # Windows lacks the last


def serve(surface: Surface, open_handlers: OpenHandlers, *, name: str, version: str) -> int:
    """Exit status of a conversation over standard input and output, when it is over.

    It is over at the end of input, once what was asked is answered; or at a signal or a closed output, once the
    request in hand is done. To be called on the main thread, once a process: it takes descriptors 0 and 1 for good.
    """
    source, sink = _take_descriptors()
    jobs = _Jobs()
    line = _Line(sink, jobs.stop)
    session = Session(surface, open_handlers, name=name, version=version, send=line.send, submit=jobs.submit)
    for signal_name in _SIGNALS:
        if hasattr(signal, signal_name):
            signal.signal(getattr(signal, signal_name), lambda *_: jobs.stop())
    before = _thread.stack_size(_STACK)
    _thread.start_new_thread(_read, (source, session, jobs))
    _thread.stack_size(before)
    jobs.work()
    session.close()
    jobs.finish()
    return 0


class _Jobs:
    """What is to be done on the main thread, in order, until there is no more."""

    def __init__(self) -> None:
        self._queue: Final[SimpleQueue[Job | None]] = SimpleQueue()
        self._stopped = False
        self._ending = False
        self._finished: Final = _thread.allocate_lock()
        self._finished.acquire()

    def submit(self, job: Job) -> None:
        """Put a job behind the others."""
        self._queue.put(job)

    def end(self) -> None:
        """Say that no more will come; those that wait are still done, if they take no longer than the grace."""
        self._queue.put(None)
        if not self._ending:
            self._ending = True
            _thread.start_new_thread(self._force_the_end, ())

    def stop(self) -> None:
        """Say that the job in hand is the last. Safe in a signal handler: `SimpleQueue.put` is reentrant."""
        self._stopped = True
        self.end()

    def work(self) -> None:
        """Do the jobs; returns after the last."""
        while (job := self._queue.get()) is not None and not self._stopped:
            job()

    def finish(self) -> None:
        """Say that all is done and the end need not be forced."""
        self._finished.release()

    def _force_the_end(self) -> None:
        if not self._finished.acquire(timeout=GRACE):
            os._exit(1)


class _Line:
    """The way to the client: whole messages, one after the other, from any thread."""

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        self._descriptor: Final = descriptor
        self._on_broken: Final = on_broken
        self._lock: Final = _thread.allocate_lock()

    def send(self, message: object) -> None:
        """Write one message. When nobody reads any more it is dropped, and the end begins."""
        rest = memoryview(jsonrpc.encode(message))
        with self._lock:
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:
                self._on_broken()


def _read(source: int, session: Session, jobs: _Jobs) -> None:
    try:
        for line in jsonrpc.lines(lambda size: os.read(source, size)):
            if line is None or line.strip():
                session.receive(line)
    except OSError:
        pass  # the other side went without closing, which ends the input as well
    finally:
        jobs.end()


def _take_descriptors() -> tuple[int, int]:
    """Private descriptors of the input and output; 0 leads to nothing from here on, 1 and `sys.stdout` to stderr.

    So neither a library that prints nor a child process that reads can break the protocol.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    while nothing <= 2:  # a descriptor that we were started without: now it leads to nothing too
        nothing = os.open(os.devnull, os.O_RDWR)
    source, sink = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    if os.name == "posix":
        for descriptor in (source, sink):
            os.set_blocking(descriptor, True)  # some parents hand on pipes that do not block
    sys.stdout = sys.stderr
    return source, sink
