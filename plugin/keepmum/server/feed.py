"""Says when memories changed, for streams that wait for it; one task asks the database for all of them."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import NamedTuple

import anyio
import anyio.to_thread

from keepmum.core import ids
from keepmum.core.errors import StoreError, report_unexpected
from keepmum.server.edge.at_once import AtOnce
from keepmum.server.people.roles import Principal
from keepmum.server.state import ServerState
from keepmum.service.team import ORGANISATION, AuditRow, TeamRecords

__all__ = ["Changes", "Feed"]

_POLL = 0.25  # seconds
_CHECK = 2.0  # seconds after which the key of a stream is checked again
_MOST = 64  # streams of one key
_AT_ONCE = 500  # rows


class Changes(NamedTuple):
    """What happened to memories since the last look."""

    rows: list[AuditRow]  # about memories that the principal may read
    principal: Principal  # the owner of the stream, with its present roles


class Feed:
    """The audit log as it grows. Its sealed rows have numbers without gaps, in the order of commits: none is missed."""

    def __init__(self, records: TeamRecords, state: ServerState) -> None:
        self._records = records
        self._state = state
        self._last = 0
        self._changed = anyio.Event()
        self.streams = AtOnce(_MOST, "streams")
        self._task: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def stream(self, key: str) -> Iterator[None]:
        """Count a stream of a key while the block runs; the first one starts the task.

        Raises: TooManyAtOnce.
        """
        try:
            with self.streams.holding(key):
                if self._task is None:
                    self._task = asyncio.get_running_loop().create_task(self._poll())
                yield
        finally:
            if not self.streams and self._task is not None:
                self._task.cancel()
                self._task = None

    def head(self) -> int:
        """The number of the last row, now."""
        return self._records.seal().number

    async def follow(
        self, principal: Principal, current_principal: Callable[[], Awaitable[Principal | None]], after: int
    ) -> AsyncGenerator[Changes]:
        """The changes after a number; one without rows when there were none for some seconds. For use within `stream`.

        It ends when the server stops, when the database cannot be read, and within 5 seconds after the key was
        withdrawn: `current_principal` then returns None.
        """
        checked = time.monotonic()
        with contextlib.suppress(StoreError):
            while not self._state.stopping:
                rows, after = await self._rows(after, principal)
                yield Changes(rows, principal)
                await self._wait(after)
                if time.monotonic() - checked >= _CHECK:
                    checked = time.monotonic()
                    known = await current_principal()
                    if known is None:  # the key was withdrawn
                        return
                    principal = known

    async def _wait(self, after: int) -> None:
        """Return when there are rows after this number, the server stops, or the key is to be checked."""
        with anyio.move_on_after(_CHECK):
            while self._last <= after and not self._state.stopping:
                await self._changed.wait()

    async def _rows(self, after: int, principal: Principal) -> tuple[list[AuditRow], int]:
        """Rows after a number about memories that may be read, and the number to go on from."""
        last, projects = self._last, principal.grant(ORGANISATION).read

        def read() -> list[AuditRow]:
            return self._records.audit(after, _AT_ONCE, projects=projects)

        found = await anyio.to_thread.run_sync(read)
        reached = found[-1].number if len(found) == _AT_ONCE else max(last, after, *(row.number for row in found))
        return [row for row in found if row.subject is not None and row.subject.startswith(ids.PREFIX)], reached

    async def _poll(self) -> None:
        while True:
            try:
                last = await anyio.to_thread.run_sync(self.head)
                if last > self._last or self._state.stopping:
                    self._last = last
                    self._changed.set()
                    self._changed = anyio.Event()
            except StoreError:
                pass  # busy or away: the next round tries again
            except Exception as error:  # noqa: BLE001 - a bug must not end the task that all streams wait for
                report_unexpected("feed", error)
            await anyio.sleep(_POLL)
