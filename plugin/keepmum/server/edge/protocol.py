"""HTTP/1.1 with limits on the time that a client may take to send the head of a request, and to read an answer.

When the server stops, it answers also what a client has sent by then and nobody has read yet.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["END_SECONDS", "HEAD_SECONDS", "READ_SECONDS", "TimedProtocol"]

END_SECONDS = 0.5  # that an idle connection stays open when the server stops: a request may be on its way
HEAD_SECONDS = 10.0
READ_SECONDS = 30.0  # in which a client must read something of what waits for it


class TimedProtocol(H11Protocol):
    """uvicorn's protocol; a connection whose request has not begun in time, or whose answer is not read, is closed.

    uvicorn itself limits only the time between two requests, and closes idle connections at once when it stops.
    """

    _head_timer: asyncio.TimerHandle | None = None
    _read_timer: asyncio.TimerHandle | None = None
    _is_ending = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Stop waiting once the head of a request is complete."""
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Wait for the next request only if a part of it is here; idle connections are uvicorn's to close."""
        super().on_response_complete()
        self._follow()

    def shutdown(self) -> None:
        """Serve one more request if it is here soon, and close the connection."""
        self._is_ending = True
        self._follow()
        if self._is_idle():
            self.loop.call_later(END_SECONDS, self._end)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timer."""
        self._stop_waiting()
        self._stop_watching()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Watch whether the client reads: it has not for a while."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Stop watching: the client has read nearly everything."""
        super().resume_writing()
        self._stop_watching()

    def _is_idle(self) -> bool:
        return bool(getattr(self.cycle, "response_complete", True))  # before the first request there is no cycle

    def _end(self) -> None:
        has_begun = bool(self.conn.trailing_data[0])  # then the head has its own limit
        if self._is_idle() and not has_begun and not self.transport.is_closing():
            super().shutdown()

    def _follow(self) -> None:
        if self._is_ending and not self._is_idle() and self.cycle.keep_alive:
            self.cycle.keep_alive = False
            self.cycle.default_headers = [*self.cycle.default_headers, (b"connection", b"close")]
        is_in_head = self.conn.their_state is h11.IDLE
        has_begun = bool(self.conn.trailing_data[0])
        if not is_in_head:
            self._stop_waiting()
        elif has_begun and self._head_timer is None:
            self._wait_for_head()

    def _wait_for_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def _watch(self) -> None:
        size = self.transport.get_write_buffer_size()
        self._read_timer = self.loop.call_later(READ_SECONDS, self._check_read, size)

    def _check_read(self, earlier: int) -> None:
        if self.transport.get_write_buffer_size() < earlier:
            self._watch()
        else:
            self.transport.abort()  # closing would wait for the client

    def _stop_watching(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None
