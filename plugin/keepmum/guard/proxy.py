"""The two directions, a thread for each, and the end. The main thread waits for the server and hears the signals.

Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio, read 2026-11-21: a message is
a line.
"""

from __future__ import annotations

import _thread
import os
import sys

from keepmum.guard import child as processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Final

    from keepmum.guard.child import Child
    from keepmum.guard.output import Output
    from keepmum.guard.pending import Pending

__all__ = ["run"]

_CHUNK = 64 * 1024  # the capacity of a pipe on Linux: one read takes what is there
_STACK = 16 * 1024 * 1024  # bytes for each thread; deep JSON recurses in C, and some systems give threads 128 KiB
_SWITCH = 0.0005  # seconds that one thread may keep another waiting: loading the scanner must not slow down a message
_HALF_CLOSED = 0.2  # seconds after the end of its output in which a server is taken to be ending, not just silent
_DRAIN = 1.0  # seconds for the last words of a server that has ended; a child of its own may hold the pipe open


def run(command: Sequence[str], *, mask_results: bool) -> int:
    """Exit status of the server, once it has ended and all it said was passed on.

    To be called on the main thread, once a process: it takes descriptors 0 and 1.
    """
    server = processes.start(command)
    # Only now, while the server starts on its own.
    from keepmum.guard.output import Output
    from keepmum.guard.pending import Pending

    for descriptor in (0, 1):
        _make_blocking(descriptor)
    proxy = _Proxy(server, Output(1), Pending(), mask_results=mask_results)
    sys.setswitchinterval(_SWITCH)
    before = _thread.stack_size(_STACK)
    _thread.start_new_thread(proxy.carry_in, ())
    _thread.start_new_thread(proxy.carry_out, ())
    _thread.stack_size(before)
    return proxy.wait()


class _Proxy:
    """One server and one client."""

    def __init__(self, server: Child, output: Output, pending: Pending, *, mask_results: bool) -> None:
        self._server: Final = server
        self._output: Final = output
        self._pending: Final = pending
        self._mask: Final = mask_results
        self._input_ended = False
        self._ended: Final = _locked()
        self._drained: Final = _locked()
        self._heard = 0  # chunks of the server's output
        self._at_work = True  # whether the last of them is still being passed on; at first, what does that is loaded

    def carry_in(self) -> None:
        """From the client to the server: line by line, since only a whole line can be judged."""
        from keepmum.guard.lines import Lines
        from keepmum.guard.verdict import LONGEST

        lines = Lines(LONGEST)
        try:
            while chunk := _read(0):
                for line in lines.feed(chunk):
                    self._pass_in(line)
            rest = lines.rest()
            if rest:
                self._pass_in(rest)
            self._input_ended = True
        except OSError:
            os.close(0)  # the server reads no more, so the client is to see that nobody does
        finally:
            os.close(self._server.into)

    def carry_out(self) -> None:
        """From the server to the client: as it comes, or by lines where they are masked first."""
        try:
            self._pass_out()
        except OSError:
            pass  # the client reads no more, and the server is to see that
        finally:
            os.close(self._server.out)
            self._drained.release()
        if not self._ended.acquire(timeout=_HALF_CLOSED):
            self._output.close()

    def wait(self) -> int:
        """The server's exit status; whoever still waits for an answer of it is told that it ended."""
        status = self._server.wait()
        self._ended.release()
        self._drain()
        try:
            if status or not self._input_ended:
                self._answer_for(status)
            self._output.finish()
        except OSError:
            pass  # the client went first
        return status

    def _drain(self) -> None:
        """Return when all is passed on, or when nothing more came for a while; masking may take longer than that."""
        heard = -1
        while not self._drained.acquire(timeout=_DRAIN) and (self._at_work or self._heard != heard):
            heard = self._heard

    def _pass_in(self, line: bytes) -> None:
        from keepmum.guard.gate import judge

        verdict = judge(line)
        if verdict.answer is not None:
            self._output.answer(verdict.answer)
        self._pending.ask(verdict.forward)
        _write(self._server.into, verdict.forward)

    def _pass_out(self) -> None:
        write = self._masking() if self._mask else self._output.write
        warmed = False
        while chunk := self._next():
            write(chunk)
            self._pending.hear(chunk)
            if not warmed:
                warmed = True
                _thread.start_new_thread(_warm, ())
        write(b"")

    def _next(self) -> bytes:
        self._at_work = False
        chunk = _read(self._server.out)
        self._heard += 1
        self._at_work = True
        return chunk

    def _masking(self) -> Callable[[bytes], None]:
        """A way to write that holds a line back until it is whole, and clean; no bytes stand for the end."""
        from keepmum.guard.lines import Lines
        from keepmum.guard.results import masked

        lines = Lines(sys.maxsize)

        def write(chunk: bytes) -> None:
            for line in lines.feed(chunk):
                self._output.write(masked(line))
            if not chunk:
                self._output.write(masked(lines.rest()))

        return write

    def _answer_for(self, status: int) -> None:
        from keepmum.guard import refusal

        how = f"ended with status {status} before it answered; start a new session, or see its own log"
        for request_id in self._pending.left():
            self._output.answer(refusal.server_ended(request_id, how))


def _warm() -> None:
    """Load the scanner once the server is there, so that neither its start nor the first call waits for it."""
    try:  # noqa: SIM105 - contextlib would be imported for this alone
        import keepmum.guard.fields  # noqa: F401 - for its effect
    except Exception:  # noqa: BLE001, S110 - each call will find out, and be refused
        pass


def _locked() -> _thread.LockType:
    lock = _thread.allocate_lock()
    lock.acquire()
    return lock


def _make_blocking(descriptor: int) -> None:
    if os.name == "posix":
        os.set_blocking(descriptor, True)  # some parents hand on pipes that do not block


def _read(descriptor: int) -> bytes:
    """What is there to read, at least a byte; nothing at the end, also where the other side went without closing."""
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
