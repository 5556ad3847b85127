"""The requests that a server still owes an answer to."""

from __future__ import annotations

import _thread

from keepmum.guard import message
from keepmum.guard.lines import Lines
from keepmum.mcp import rpc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

__all__ = ["Pending"]


class Pending:
    """What was asked and not answered; both directions tell it what they saw.

    An answer too long to be read leaves its request here. Should the server die later, the client hears of that
    request a second time, and drops what it hears.
    """

    def __init__(self) -> None:
        self._lock: Final = _thread.allocate_lock()
        self._asked: Final[dict[rpc.RequestId, None]] = {}
        self._lines: Final = Lines(rpc.MAX_LINE)

    def ask(self, ids: Sequence[rpc.RequestId]) -> None:
        """Remember requests, before they are passed on."""
        with self._lock:
            self._asked.update(dict.fromkeys(ids))

    def hear(self, chunk: bytes) -> None:
        """Take note of what the server said."""
        for line in self._lines.feed(chunk):
            if self._asked and b'"id"' in line and len(line) <= rpc.MAX_LINE:
                self._settle(line)

    def left(self) -> list[rpc.RequestId]:
        """What was never answered, in the order in which it was asked."""
        with self._lock:
            return list(self._asked)

    def _settle(self, line: bytes) -> None:
        try:
            value = message.decode(line.decode())
        except (ValueError, RecursionError):
            return
        for one in value if isinstance(value, list) else [value]:
            request_id = message.request_id(one)
            if request_id is not None and not message.named(one, "method"):
                with self._lock:
                    self._asked.pop(request_id, None)
