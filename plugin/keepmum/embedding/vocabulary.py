"""A vocabulary of tens of thousands of pieces, in half a megabyte where a dict of them takes four."""

from __future__ import annotations

import zlib
from array import array

__all__ = ["Vocabulary"]

_END = b"\n"
_NOBODY = 0  # in a place of the table that holds no piece; one that holds piece 0 says 1
_ROOM = 2  # places for each piece, at least: most are found at the first look


class Vocabulary:
    """The number of each piece. A look takes a microsecond; a text of a page takes some hundred."""

    def __init__(self, content: bytes) -> None:
        """`content` has a piece a line, whose number is that of its line."""
        self._content = content if content.endswith(_END) or not content else content + _END
        count = self._content.count(_END)
        self._begins = array("I", [0])
        self._mask = (1 << (count * _ROOM).bit_length()) - 1
        self._table = array("I", bytes(4 * (self._mask + 1)))
        for number in range(count):
            begin = self._begins[number]
            end = self._content.index(_END, begin)
            self._begins.append(end + 1)
            self._table[self._place(self._content[begin:end])] = number + 1

    def get(self, piece: str, /) -> int | None:
        """The number of a piece, or None; of lines that say the same the last one's."""
        held = self._table[self._place(piece.encode("utf-8", "replace"))]
        return None if held == _NOBODY else held - 1

    def _place(self, piece: bytes) -> int:
        """The place of a piece in the table, or the one where it belongs."""
        place = zlib.crc32(piece) & self._mask
        while (held := self._table[place]) != _NOBODY:
            if self._content[self._begins[held - 1] : self._begins[held] - 1] == piece:
                break
            place = (place + 1) & self._mask
        return place
