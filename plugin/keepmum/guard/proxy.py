"""The guard of a local server: one thread per direction; the main thread waits for the server and handles signals.

One message is one line.
Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio, read 2026-11-21.
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

_CHUNK = 64 * 1024  # bytes; the capacity of a pipe on Linux
_STACK = 16 * 1024 * 1024  # bytes for each thread; deep JSON recurses in C, and some systems give threads 128 KiB
_SWITCH = 0.0005  # seconds until a thread yields: loading the scanner must not delay a message
_HALF_CLOSED = 0.2  # seconds after the end of its output, in which the server may still be exiting
_DRAIN = 1.0  # seconds to read remaining output after the server ended; a grandchild may keep the pipe open
_PARTS = 10  # of these times


def run(command: Sequence[str], *, mask_results: bool) -> int:
    """Run the server and forward both directions; return its exit status.

    Call it on the main thread, once per process: it uses descriptors 0 and 1.
    """
    server = processes.start(command)
    # Imported while the server starts.
    from keepmum.guard.output import Output
    from keepmum.guard.pending import Pending

    for descriptor in (0, 1):
        _make_blocking(descriptor)
    proxy = _Proxy(server, Output(1), Pending(), mask_results=mask_results)
    sys.setswitchinterval(_SWITCH)
    before = _thread.stack_size(_STACK)
    _thread.start_new_thread(proxy.forward_input, ())
    _thread.start_new_thread(proxy.forward_output, ())
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
        self._chunks = 0  # read from the server
        self._forwarding = True  # whether the last chunk is still being forwarded; True until the modules are loaded

    def forward_input(self) -> None:
        """Client to server, line by line, because only a whole line can be checked."""
        from keepmum.guard.lines import Lines
        from keepmum.guard.verdict import LONGEST

        lines = Lines(LONGEST)
        try:
            while chunk := _read(0):
                for line in lines.feed(chunk):
                    self._forward_line(line)
            rest = lines.rest()
            if rest:
                self._forward_line(rest)
            self._input_ended = True
        except OSError:
            os.close(0)  # the server has closed its input: show that to the client
        finally:
            os.close(self._server.into)

    def forward_output(self) -> None:
        """Server to client: as it comes, or by lines when they are masked."""
        try:
            self._forward_chunks()
        except OSError:
            pass  # the client has closed its input: show that to the server
        finally:
            os.close(self._server.out)
            self._drained.release()
        if not _acquire(self._ended, _HALF_CLOSED):
            self._output.close()

    def wait(self) -> int:
        """Wait for the server; answer pending requests with an error; return the exit status."""
        status = self._server.wait()
        self._ended.release()
        self._drain()
        try:
            if status or not self._input_ended:
                self._answer_for(status)
            self._output.finish()
        except OSError:
            pass  # the client has exited
        return status

    def _drain(self) -> None:
        """Wait until all output is forwarded, or no chunk came for `_DRAIN` seconds while none was being masked."""
        chunks = -1
        while not _acquire(self._drained, _DRAIN) and (self._forwarding or self._chunks != chunks):
            chunks = self._chunks

    def _forward_line(self, line: bytes) -> None:
        from keepmum.guard.gate import judge

        verdict = judge(line)
        if verdict.answer is not None:
            self._output.send(verdict.answer)
        self._pending.add_requests(verdict.forward)
        _write(self._server.into, verdict.forward)

    def _forward_chunks(self) -> None:
        write = self._masking() if self._mask else self._output.write
        preloading = False
        while chunk := self._next():
            write(chunk)
            self._pending.add_responses(chunk)
            if not preloading:
                preloading = True
                _thread.start_new_thread(_preload, ())
        write(b"")

    def _next(self) -> bytes:
        self._forwarding = False
        chunk = _read(self._server.out)
        self._chunks += 1
        self._forwarding = True
        return chunk

    def _masking(self) -> Callable[[bytes], None]:
        """A write function that buffers and masks whole lines; empty bytes mark the end."""
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
        for request_id in self._pending.unanswered():
            self._output.send(refusal.server_ended(request_id, how))


def _preload() -> None:
    """Load the scanner after the server's first output, so that neither its start nor the first call waits."""
    try:  # noqa: SIM105 - contextlib would be imported for this alone
        import keepmum.guard.fields  # noqa: F401 - imported for its side effect
    except Exception:  # noqa: BLE001, S110 - each call then refuses by itself
        pass


def _locked() -> _thread.LockType:
    lock = _thread.allocate_lock()
    lock.acquire()
    return lock


def _acquire(lock: _thread.LockType, seconds: float) -> bool:
    """Whether the lock was released in this time.

    A machine that stops the process takes away one part of the time; the thread that is awaited runs in the others.
    """
    return any(lock.acquire(timeout=seconds / _PARTS) for _ in range(_PARTS))


def _make_blocking(descriptor: int) -> None:
    if os.name == "posix":
        os.set_blocking(descriptor, True)  # some parents pass non-blocking pipes


def _read(descriptor: int) -> bytes:
    """The available bytes, at least one; empty at the end of the stream or when the peer is gone."""
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
