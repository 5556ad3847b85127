"""Requests without a response yet, needed only when the server ends.

Lines are buffered and parsed in batches, so that no message waits for parsing.
"""

from __future__ import annotations

import _thread

from keepmum.guard.lines import Lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from keepmum.core.jsonrpc import RequestId

__all__ = ["Pending"]

_LONGEST = 4 * 1024 * 1024  # bytes; longer lines are not parsed
_UNREAD = 256 * 1024  # bytes buffered before parsing


class Pending:
    """Tracks requests and responses; both directions report the lines they forward.

    A response too long to be parsed leaves its request pending. If the server ends later, the client gets a second
    response to that request, which clients ignore.
    """

    def __init__(self) -> None:
        self._lock: Final = _thread.allocate_lock()
        self._unread: list[tuple[bytes, bool]] = []  # (line, whether it came from the client)
        self._size = 0
        self._asked: Final[dict[RequestId, None]] = {}
        self._lines: Final = Lines(_LONGEST)

    def add_requests(self, line: bytes) -> None:
        """Record a line from the client; call before forwarding it."""
        self._note(line, asks=True)

    def add_responses(self, chunk: bytes) -> None:
        """Record a chunk from the server."""
        for line in self._lines.feed(chunk):
            self._note(line, asks=False)

    def unanswered(self) -> list[RequestId]:
        """The ids of unanswered requests, in order."""
        with self._lock:
            self._read()
            return list(self._asked)

    def _note(self, line: bytes, *, asks: bool) -> None:
        if len(line) > _LONGEST or b'"id"' not in line:
            return
        with self._lock:
            self._unread.append((line, asks))
            self._size += len(line)
            if self._size > _UNREAD:
                self._read()

    def _read(self) -> None:
        from keepmum.guard import message

        for line, asks in self._unread:
            for request_id in message.requests(line) if asks else message.responses(line):
                if asks:
                    self._asked[request_id] = None
                else:
                    self._asked.pop(request_id, None)
        self._unread, self._size = [], 0
