"""Writes to the client: the server's bytes as they come, and the guard's messages between its lines."""

from __future__ import annotations

import _thread
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    Json = dict[str, object]

__all__ = ["Output"]


class Output:
    """A descriptor for two threads that never interleaves their lines."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: Final = descriptor
        self._lock: Final = _thread.allocate_lock()
        self._between_lines = True
        self._queued: list[bytes] = []
        self._closed = False

    def write(self, chunk: bytes) -> None:
        """Forward bytes of the server; send the guard's messages at the end of a line.

        Raises: OSError when the client has closed its end.
        """
        with self._lock:
            if self._queued and b"\n" in chunk:
                whole, _, chunk = chunk.rpartition(b"\n")
                self._write_all(b"".join([whole, b"\n", *self._queued]))
                self._queued = []
            self._write_all(chunk)

    def send(self, message: Json | list[Json]) -> None:
        """Send a message of the guard, as soon as the server is between two lines.

        Raises: OSError when the client has closed its end.
        """
        from keepmum.core import jsonrpc  # imports json, which the handshake does not need

        line = jsonrpc.encode(message)
        with self._lock:
            if self._between_lines:
                self._write_all(line)
            else:
                self._queued.append(line)

    def finish(self) -> None:
        """Flush queued messages; ends a line that the server left unfinished.

        Raises: OSError when the client has closed its end.
        """
        with self._lock:
            if self._queued:
                self._write_all(b"".join([b"\n", *self._queued]))
                self._queued = []

    def close(self) -> None:
        """Close the descriptor; later writes are dropped."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self._descriptor)

    def _write_all(self, data: bytes) -> None:
        if self._closed or not data:
            return
        self._between_lines = data.endswith(b"\n")
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
