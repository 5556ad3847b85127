"""A team's server as a store, with a mirror of what is known of it on this machine.

The server has the memories; the mirror has what was seen of them, what the server cannot hold (keys, kinds, history,
the trash of this machine), and answers while the server cannot be reached. A write goes to the server first; when that
cannot be reached it goes into the outbox, and the mirror shows it as it will be.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from keepmum.core.errors import KeyRefused, StoreError, StoreReadOnly
from keepmum.core.memory import Activity, Change, Filter, JsonValue, Memory, Order, Revision
from keepmum.stores.base import Capabilities, Features, LocalStore, Receipt, Redact, Store
from keepmum.stores.outbox import Outbox
from keepmum.stores.outbox.drainer import Turn
from keepmum.stores.rest import mapping, promises
from keepmum.stores.rest.contact import Contact
from keepmum.stores.rest.learning import Learning
from keepmum.stores.rest.projects import Projects
from keepmum.stores.rest.reading import WHOLE, Reading, here, is_asked
from keepmum.stores.rest.writing import Keep, Writing

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api
    from keepmum.workspace.credentials import Server

__all__ = ["RestStore"]


class RestStore:
    """A `Store` over the first API (see `keepmum.stores.base.Store` for what each method gives)."""

    def __init__(  # noqa: PLR0913 - what a server's store stands on, most of it by keyword
        self,
        server: Server,
        mirror: LocalStore,
        box: Outbox,
        turn: Turn,
        *,
        connect: Callable[[Server], Api],
        drains: bool = False,
        trailer: bool = False,
        projects: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server = server
        self._mirror = mirror
        self._box = box
        self.features = Features(remote=self, aging=self, maintenance=self, erasure=self, local_state=mirror)
        self._contact = Contact(server, connect, clock)
        self._learning = Learning(mirror)
        named = Projects(mirror, projects or {})
        self._reading = Reading(
            self._contact, mirror=mirror, learning=self._learning, projects=named, box=box, clock=clock
        )
        self._writing = Writing(
            self._contact, mirror=mirror, reading=self._reading, projects=named, box=box, turn=turn, drains=drains,
            trailer=trailer,
        )  # fmt: skip

    @property
    def capabilities(self) -> Capabilities:
        """What this store can promise just now."""
        inner = self._mirror.capabilities
        if not self._server.key:
            return Capabilities(writable=False, reason=self._server.no_key, cannot=promises.cannot(full=False))
        cannot = promises.cannot(full=bool(self._contact.is_full))
        return Capabilities(writable=inner.writable, reason=inner.reason, cannot=cannot)

    @property
    def notice(self) -> str:
        """What the user should know: a key that is refused, writes that the server will not take, fields left out."""
        origin = self._server.origin
        paused, refused = self._box.paused(origin), self._box.refused(origin)
        parts = [self._mirror.notice, self._writing.told]
        if paused:
            parts.append(f"nothing is sent to the server until this is mended, {self._waiting()}: {paused}")
        if refused:
            which = "1 write that was queued" if refused == 1 else f"{refused} writes that were queued"
            parts.append(f"{origin} refused {which}; `keepmum outbox list` tells why")
        return " ".join(filter(None, parts))

    @property
    def caveat(self) -> str:
        """That the last answer was not the server's, and why."""
        return self._contact.caveat

    @property
    def local(self) -> Store:
        """The mirror."""
        return self._mirror

    # -- writing

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Apply changes at the server, or queue them for it, and keep what the server cannot hold here."""
        return self._apply(changes, self._writing.put, activity)

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
        """Apply changes at the server and leave no byte of before here; what the server keeps of it is its own."""
        removed: list[str] = []

        def keep(settled: Sequence[Change], entries: Sequence[Activity]) -> None:
            removed.extend(self._mirror.cleanse(settled, entries, redact))

        self._apply(changes, keep, activity)
        return removed

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        """Note it here; the server counted when it was asked for the text."""
        self._mirror.reinforce(ids, now)

    def log(self, activity: Sequence[Activity]) -> None:
        """Append to the activity log of this machine."""
        self._mirror.log(activity)

    def upkeep(self, now: int) -> None:
        """Tidy what is kept here, and look what is new at the server."""
        self._mirror.upkeep(now)
        with contextlib.suppress(StoreError):
            self._reading.catch_up(None, now, everywhere=True)

    # -- reading

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in that order, as they were last seen: the server is not asked again."""
        names = [self._box.name(one) for one in ids]
        seen = {memory.id: memory for memory in self._mirror.get(names)} | self._learning.held(names)
        return [seen[name] for name in names if name in seen]

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        """Memories by the beginning of an id among those known here; by a whole id, whatever the server has."""
        if first != last:
            if limit >= WHOLE:
                self._reading.catch_up(None, time.time_ns() // 1_000_000, everywhere=True)
            self._learning.flush()
            found = self._mirror.between(first, last, limit)
            return self._reading.whole(found) if limit >= WHOLE else found
        kept = self._box.name(first)
        known = self._mirror.get([kept])
        if known and known[0].status != "active":
            return known
        return list(self._reading.load([kept]).values())

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory under a key, among those that were written here."""
        return self._reading.still_there(self._mirror.by_key(space, key))

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The memory that held a key last, among those that were written here."""
        return self._mirror.last_by_key(space, key)

    def same_text(self, space: str, text: str) -> Memory | None:
        """The active memory with just this text, among those known here."""
        found = self._reading.still_there(self._mirror.same_text(space, text))
        return found if found is not None and mapping.same_words(found.text, text) else None

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """What the server finds, with its scores; what is known here when it cannot be asked."""
        if not words:
            return []
        looking = self._reading if is_asked(wanted) else self._mirror
        return looking.search(words, wanted, limit)

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """What is known here, after a look at what is new at the server."""
        if is_asked(wanted):
            self._reading.catch_up(wanted.project, wanted.now, everywhere=wanted.everywhere)
        found = self._mirror.browse(here(wanted), order=order, limit=limit, offset=offset)
        return self._reading.whole(found) if limit >= WHOLE else found

    def count(self, wanted: Filter) -> int:
        """How many memories are known here."""
        return self._mirror.count(here(wanted))

    def history(self, memory: str) -> list[Revision]:
        """What a memory was before each change that was made here."""
        past = self._mirror.history(self._box.name(memory))
        return [one for one in past if one.before.get("origin") != mapping.LISTED]  # a title is no earlier text

    def activity(self, limit: int, project: str | None = None) -> list[Activity]:
        """The latest activity of this machine."""
        return self._mirror.activity(limit, project)

    def fading(self, now: int, trashed_by: int, limit: int) -> list[Memory]:
        """What has expired or lies in the trash here; the server lets the others fade by itself."""
        found = self._mirror.fading(now, trashed_by, limit)
        return [one for one in found if one.status == "trashed" or (one.expires_at or now + 1) <= now]

    def health(self) -> dict[str, JsonValue]:
        """Facts for the doctor: what is kept here, and how the server answers."""
        facts = dict(self._mirror.health())
        origin = self._server.origin
        facts |= {"server": origin, "queued": self._box.waiting(origin), "refused": self._box.refused(origin)}
        try:
            collection, ready = self._contact.api.collection()
            facts |= {"reached": True, "collection": collection, "model_ready": ready}
        except StoreError as error:
            facts |= {"reached": False, "problem": str(error), "key_refused": isinstance(error, KeyRefused)}
        return facts

    def close(self) -> None:
        """Leave everything on disk and let go."""
        self._writing.close()
        self._learning.flush()
        self._contact.close()
        self._box.close()
        self._mirror.close()

    def _apply(self, changes: Sequence[Change], keep: Keep, activity: Sequence[Activity]) -> Receipt:
        capabilities = self.capabilities
        if not capabilities.writable:
            raise StoreReadOnly(f"{capabilities.reason}. Nothing was stored.")
        self._learning.flush()
        return self._writing.apply(changes, keep, activity)

    def _waiting(self) -> str:
        count = self._box.waiting(self._server.origin)
        return f"{count} writes wait" if count != 1 else "1 write waits"
