"""What a store acknowledged last, and a checksum of each of its pages, so that no loss goes unnoticed.

SQLite ignores what follows the first damaged frame of a WAL, and it has no checksums in the database file: it may not
notice that writes are gone or that bytes changed. The ledger is kept in the lock file, which every writer has open.
It is read and written under the writer lock only. It is not synced: after a power cut it may be older than the
database, which is harmless, or newer, which is the truth.

Layout: the last acknowledged write at byte 0, the state of the database file after the last checkpoint at byte 64, a
CRC-32 per page from byte 128 on; 0 stands for an unknown one.
"""

from __future__ import annotations

import array
import contextlib
import errno
import os
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from keepmum.stores.sqlite import wal

__all__ = ["ANY", "Acknowledged", "Ledger"]

ANY = 0  # in place of the identity of a store: a repair is about to give it another
_ACKNOWLEDGED = struct.Struct("<4sqqqI")  # magic, change, identity, memories, CRC-32
_FILE = struct.Struct("<4sqqI")  # magic, bytes, modification time in nanoseconds, CRC-32
_MAGIC = b"kml1"
_FILE_AT, _PAGES_AT = 64, 128
_HEADER = 100  # bytes of a database file's header


class Acknowledged(NamedTuple):
    """The state of a store after its last acknowledged write."""

    change: int  # number of the transaction
    identity: int  # random number of the store
    memories: int  # the highest row number: about how many memories it has had; 0 when it is empty


class Ledger:
    """The ledger of the database at `path`, in the file that `descriptor` has open."""

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def acknowledged(self) -> Acknowledged | None:
        """The last acknowledged write; None when it is unknown."""
        found = self._record(0, _ACKNOWLEDGED)
        return None if found is None else Acknowledged(*found)

    def acknowledge(self, state: Acknowledged) -> None:
        """Record an acknowledged write."""
        with contextlib.suppress(OSError):  # a full disk: an older record is harmless
            self._write_record(0, _ACKNOWLEDGED, *state)

    def start(self) -> None:
        """Record the pages of a database that has no ledger yet; no connection of this process may have it open."""
        if not self.has_file:
            sums = _sums(self._path)
            sums[:1] = array.array("I", [0])  # SQLite changes the header when it switches the file to WAL
            with self._all_or_nothing():
                self._write_sums(sums)
            self.folded()

    @property
    def has_file(self) -> bool:
        """Whether the state of the database file is known."""
        return self._record(_FILE_AT, _FILE) is not None

    def reset(self) -> None:
        """Forget the pages of a file that was replaced; what was acknowledged stays."""
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, _FILE_AT)

    def fold(self) -> None:
        """Record the checksums of the pages in the WAL; a checkpoint follows.

        Until it is done these pages are in the WAL, so the ledger is correct whenever the process is killed.
        """
        found, size = wal.latest(self._path + "-wal")
        if not found:
            return
        sums = self._read_sums()
        sums.frombytes(bytes(sums.itemsize * max(0, size - len(sums))))
        del sums[size:]
        for page, content in found.items():
            if page <= size:
                sums[page - 1] = _sum(content)
        with self._all_or_nothing():
            self._write_sums(sums)

    def folded(self) -> None:
        """Record size and time of the database file after a checkpoint."""
        with self._all_or_nothing():
            self._write_record(_FILE_AT, _FILE, *_state(self._path))

    def is_unchanged(self) -> bool:
        """Whether the database file has the size and time that it had after the last checkpoint."""
        return self._record(_FILE_AT, _FILE) == _state(self._path)

    def damaged_pages(self) -> list[int]:
        """The pages that differ from what was written, from 1; no connection of this process may have the file open.

        Pages in the WAL do not count, since a checkpoint replaces them.
        """
        expected, actual = self._read_sums(), _sums(self._path)
        newer = wal.latest(self._path + "-wal")[0]
        length = max(len(expected), len(actual))
        for sums in (expected, actual):
            sums.frombytes(bytes(sums.itemsize * (length - len(sums))))
        return [
            page
            for page, (one, other) in enumerate(zip(expected, actual, strict=True), start=1)
            if one not in (0, other) and page not in newer
        ]

    # -- records

    @contextlib.contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Forget the pages when they cannot be written, as on a full disk."""
        try:
            yield
        except OSError:
            self.reset()

    def _write(self, at: int, data: bytes) -> None:
        os.lseek(self._descriptor, at, os.SEEK_SET)
        if os.write(self._descriptor, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _record(self, at: int, layout: struct.Struct) -> tuple[int, ...] | None:
        os.lseek(self._descriptor, at, os.SEEK_SET)
        data = os.read(self._descriptor, layout.size)
        if len(data) < layout.size or data[:4] != _MAGIC:
            return None
        *values, check = layout.unpack(data)[1:]
        return tuple(values) if check == zlib.crc32(data[:-4]) else None

    def _write_record(self, at: int, layout: struct.Struct, *values: int) -> None:
        data = layout.pack(_MAGIC, *values, 0)[:-4]
        self._write(at, data + zlib.crc32(data).to_bytes(4, "little"))

    def _read_sums(self) -> array.array[int]:
        os.lseek(self._descriptor, _PAGES_AT, os.SEEK_SET)
        data = bytearray()
        while piece := os.read(self._descriptor, 1 << 20):
            data += piece
        sums = array.array("I")
        sums.frombytes(bytes(data[: len(data) // sums.itemsize * sums.itemsize]))
        return sums

    def _write_sums(self, sums: array.array[int]) -> None:
        self._write(_PAGES_AT, sums.tobytes())
        os.ftruncate(self._descriptor, _PAGES_AT + len(sums) * sums.itemsize)


def _sums(path: str) -> array.array[int]:
    """The checksum of each page of a database file; of no page when it cannot be read."""
    sums = array.array("I")
    try:
        with open(path, "rb") as file:
            size = _page_size(file.read(_HEADER))
            file.seek(0)
            while page := file.read(size):
                sums.append(_sum(page))
    except OSError:
        pass
    return sums


def _page_size(header: bytes) -> int:
    size = int.from_bytes(header[16:18], "big")
    return 65536 if size == 1 else size if size in wal.PAGE_SIZES else wal.DEFAULT_PAGE


def _sum(page: bytes | memoryview) -> int:
    return zlib.crc32(page) or 1


def _state(path: str) -> tuple[int, int]:
    """Bytes and modification time of a file; zeros when there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
