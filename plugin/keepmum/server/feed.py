"""Says when memories changed, for streams that wait for it; one task asks the database for all of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Collection, Iterator

import anyio
import anyio.to_thread

from keepmum.core.errors import StoreError
from keepmum.server.state import ServerState
from keepmum.service.team import AuditRow, TeamRecords

__all__ = ["Feed", "TooManyStreams"]

_POLL = 0.25  # seconds
_MOST = 64  # streams of one key
_AT_ONCE = 500  # rows


class TooManyStreams(Exception):
    """The key has as many streams as it may have."""


class Feed:
    """The audit log as it grows. Its sealed rows have numbers without gaps, in the order of commits: none is missed."""

    def __init__(self, records: TeamRecords, state: ServerState) -> None:
        self._records = records
        self._state = state
        self._last = 0
        self._changed = anyio.Event()
        self._streams: Counter[str] = Counter()
        self._task: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def stream(self, key: str) -> Iterator[None]:
        """Count a stream of a key while the block runs; the first one starts the task.

        Raises: TooManyStreams.
        """
        if self._streams[key] >= _MOST:
            raise TooManyStreams
        self._streams[key] += 1
        try:
            if self._task is None:
                self._task = asyncio.get_running_loop().create_task(self._poll())
            yield
        finally:
            self._streams[key] -= 1
            self._streams += Counter()  # drops keys without streams
            if not self._streams and self._task is not None:
                self._task.cancel()
                self._task = None

    def may_open(self, key: str) -> bool:
        """Whether a key may have one more stream."""
        return self._streams[key] < _MOST

    @property
    def is_stopping(self) -> bool:
        """Whether streams are to end."""
        return self._state.stopping

    def head(self) -> int:
        """The number of the last row, now."""
        return self._records.seal().number

    async def wait(self, after: int, seconds: float) -> None:
        """Return when there are rows after this number, the server stops, or the time is over."""
        with anyio.move_on_after(seconds):
            while self._last <= after and not self.is_stopping:
                await self._changed.wait()

    async def rows(self, after: int, projects: Collection[str] | None) -> tuple[list[AuditRow], int]:
        """Rows after a number in these projects, and the number to go on from."""
        last = self._last

        def read() -> list[AuditRow]:
            return self._records.audit(after, _AT_ONCE, projects=projects)

        found = await anyio.to_thread.run_sync(read)
        return found, found[-1].number if len(found) == _AT_ONCE else max(last, after, *(row.number for row in found))

    async def _poll(self) -> None:
        while True:
            with contextlib.suppress(StoreError):  # busy or away: the next round tries again
                last = await anyio.to_thread.run_sync(self.head)
                if last > self._last or self.is_stopping:
                    self._last = last
                    self._changed.set()
                    self._changed = anyio.Event()
            await anyio.sleep(_POLL)
