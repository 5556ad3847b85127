"""The requests that a server still owes an answer to; needed only when it dies.

So lines are kept as they are, and read once there are enough of them: no message waits for that.
"""

from __future__ import annotations

import _thread

from keepmum.guard.lines import Lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    RequestId = str | int | float

__all__ = ["Pending"]

_LONGEST = 4 * 1024 * 1024  # bytes of a line that is read
_UNREAD = 256 * 1024  # bytes of lines that are kept before they are read


class Pending:
    """What was asked and not answered; both directions tell it what they pass on.

    An answer too long to be read leaves its request here. Should the server die later, the client hears of that
    request a second time, and drops what it hears.
    """

    def __init__(self) -> None:
        self._lock: Final = _thread.allocate_lock()
        self._unread: list[tuple[bytes, bool]] = []  # in their order, with whether the client said it
        self._size = 0
        self._asked: Final[dict[RequestId, None]] = {}
        self._lines: Final = Lines(_LONGEST)

    def ask(self, line: bytes) -> None:
        """Take note of what the client says, before it is passed on."""
        self._note(line, asks=True)

    def hear(self, chunk: bytes) -> None:
        """Take note of what the server said."""
        for line in self._lines.feed(chunk):
            self._note(line, asks=False)

    def left(self) -> list[RequestId]:
        """What was never answered, in the order in which it was asked."""
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
            for request_id in message.requests(line) if asks else message.answers(line):
                if asks:
                    self._asked[request_id] = None
                else:
                    self._asked.pop(request_id, None)
        self._unread, self._size = [], 0
