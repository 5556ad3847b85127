"""Splits a byte stream into lines, without changing a byte."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

__all__ = ["Lines"]


class Lines:
    """Collects chunks into lines, each with its line feed.

    Only the first `limit + 1` bytes of a longer line are kept, so that the caller sees that it is too long.
    """

    def __init__(self, limit: int) -> None:
        self._limit: Final = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that end in this chunk; consume them before the next call."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._append(part + b"\n")
            yield self._take()
        self._append(rest)

    def rest(self) -> bytes:
        """The bytes after the last line feed."""
        return self._take()

    def _append(self, part: bytes) -> None:
        room = self._limit + 1 - self._size
        if part and room > 0:
            self._parts.append(part[:room])
            self._size += len(self._parts[-1])

    def _take(self) -> bytes:
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        return line
