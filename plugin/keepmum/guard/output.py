"""The way to the client: what the server says as it says it, and between its lines what the guard says."""

from __future__ import annotations

import _thread
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    Json = dict[str, object]

__all__ = ["Output"]


class Output:
    """A descriptor that two threads write to without cutting into each other's lines."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: Final = descriptor
        self._lock: Final = _thread.allocate_lock()
        self._between_lines = True
        self._waiting: list[bytes] = []
        self._closed = False

    def write(self, chunk: bytes) -> None:
        """Pass on bytes of the server; answers that waited for the end of its line go out there.

        Raises: OSError when nobody reads any more.
        """
        with self._lock:
            if self._waiting and b"\n" in chunk:
                whole, _, chunk = chunk.rpartition(b"\n")
                self._put(b"".join([whole, b"\n", *self._waiting]))
                self._waiting = []
            self._put(chunk)

    def answer(self, message: Json | list[Json]) -> None:
        """Say something of the guard's own, as soon as the server is between two lines.

        Raises: OSError when nobody reads any more.
        """
        from keepmum.core import jsonrpc  # with it comes json, and the handshake needs none of it

        line = jsonrpc.encode(message)
        with self._lock:
            if self._between_lines:
                self._put(line)
            else:
                self._waiting.append(line)

    def finish(self) -> None:
        """Say what still waits; a line that the server left open is ended for it.

        Raises: OSError when nobody reads any more.
        """
        with self._lock:
            if self._waiting:
                self._put(b"".join([b"\n", *self._waiting]))
                self._waiting = []

    def close(self) -> None:
        """Let the client see the end; what is said later is dropped."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self._descriptor)

    def _put(self, data: bytes) -> None:
        if self._closed or not data:
            return
        self._between_lines = data.endswith(b"\n")
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
