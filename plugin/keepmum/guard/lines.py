"""A stream, cut at its line feeds, with every byte kept."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

__all__ = ["Lines"]


class Lines:
    """Cuts what it is fed into lines, each with its line feed.

    Of a line of more than `limit` bytes only the first `limit + 1` are kept, so that it shows as too long.
    """

    def __init__(self, limit: int) -> None:
        self._limit: Final = limit
        self._kept: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that end in this chunk; to be used up before the next."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._keep(part + b"\n")
            yield self._take()
        self._keep(rest)

    def rest(self) -> bytes:
        """What came after the last line feed; empty when nothing did."""
        return self._take()

    def _keep(self, part: bytes) -> None:
        room = self._limit + 1 - self._size
        if part and room > 0:
            self._kept.append(part[:room])
            self._size += len(self._kept[-1])

    def _take(self) -> bytes:
        line = b"".join(self._kept)
        self._kept, self._size = [], 0
        return line
