"""A team's server as a store, with a mirror of it on this machine.

The server has the memories. The mirror has those that were seen and what the server cannot hold (keys, kinds, history,
this machine's trash), and answers while the server cannot be reached. A write goes to the server first. When the server
cannot be reached, the write is queued in the outbox, and the mirror has its result already.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from keepmum.core.errors import KeyRefused, StoreBusy, StoreError, StoreReadOnly
from keepmum.core.memory import (
    LISTED,
    Activity,
    Candidate,
    Change,
    DayCount,
    Facets,
    Filter,
    JsonValue,
    LogFilter,
    Memory,
    Order,
    Outline,
    Revision,
)
from keepmum.stores.base import (
    EVERY_ENTRY,
    Capabilities,
    Features,
    LocalStore,
    Near,
    QueryVector,
    Receipt,
    Redact,
    Store,
)
from keepmum.stores.outbox import Outbox, SendLock
from keepmum.stores.rest import limitations, mapping
from keepmum.stores.rest.circuit_breaker import CircuitBreaker
from keepmum.stores.rest.full_reader import FullReader
from keepmum.stores.rest.known_server import KnownServer
from keepmum.stores.rest.reader import BULK_LIMIT, PATIENT_LIMIT, ServerReader, can_ask_server, mirror_filter
from keepmum.stores.rest.write_behind import WriteBehindCache
from keepmum.stores.rest.writer import SaveLocally, ServerWriter
from keepmum.stores.specs import RestSpec

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api
    from keepmum.workspace.credentials import Server

__all__ = ["RestStore"]

_Result = TypeVar("_Result")


class RestStore:
    """A `Store` at a server (see `keepmum.stores.base.Store` for what each method returns)."""

    def __init__(  # noqa: PLR0913 - the parts of a server's store
        self,
        spec: RestSpec,
        mirror: LocalStore,
        outbox: Outbox,
        lock: SendLock,
        *,
        connect: Callable[[Server], Api],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.features = Features(
            remote=self,
            versions=self,
            aging=self,
            maintenance=self,
            erasure=self,
            local_state=mirror,
            review_state=mirror.features.review_state,
            questions=self,
        )
        self._server = spec.server
        self._mirror = mirror
        self._outbox = outbox
        self._breaker = CircuitBreaker(spec.server, connect, clock)
        self._cache = WriteBehindCache(mirror, clock)
        self._reader = ServerReader(
            self._breaker, mirror=mirror, cache=self._cache, outbox=outbox, projects=spec.projects, clock=clock,
            level="team" if spec.approved else "outside",
        )  # fmt: skip
        self._known = KnownServer(self._breaker, f"{spec.mirror.path}.server")
        self._full = FullReader(
            self._breaker, self._known, mirror=mirror, cache=self._cache, outbox=outbox, clock=clock,
            level="team" if spec.approved else "outside",
        )  # fmt: skip
        self._writer = ServerWriter(
            self._breaker, mirror=mirror, reader=self._reader, cache=self._cache, known=self._known,
            outbox=outbox, lock=lock, drains=spec.drains, trailer=spec.trailer,
        )  # fmt: skip

    @property
    def capabilities(self) -> Capabilities:
        """What this store guarantees right now; more once the server has shown that it supports API version 2."""
        mirror = self._mirror.capabilities
        if not self._server.key:
            return Capabilities(writable=False, reason=self._server.no_key, cannot=limitations.cannot(()))
        facts = self._known.facts()
        minimal = limitations.MINIMAL_V2 if self._breaker.is_v2 else ()
        cannot = limitations.cannot(minimal if facts is None else facts.promises)
        return Capabilities(writable=mirror.writable, reason=mirror.reason, cannot=cannot)

    @property
    def notice(self) -> str:
        """What the user should know: a refused key, refused writes, fields that the server left out."""
        origin = self._server.origin
        paused, refused = self._outbox.pause_reason(origin), self._outbox.count_refused(origin)
        parts = [self._mirror.notice, self._writer.notice]
        if paused:
            count = self._outbox.count_waiting(origin)
            waiting = "1 write waits" if count == 1 else f"{count} writes wait"
            parts.append(f"nothing is sent to the server until this is fixed, {waiting}: {paused}")
        if refused:
            which = "1 write that was queued" if refused == 1 else f"{refused} writes that were queued"
            parts.append(f"{origin} refused {which}; `keepmum outbox list` shows why")
        return " ".join(filter(None, parts))

    @property
    def caveat(self) -> str:
        """Says that the last result was not the server's, or not all that it has, and why."""
        return " ".join(filter(None, [self._breaker.caveat, self.cut]))

    @property
    def cut(self) -> str:
        """Why the server's last list lacks memories; empty when it is complete."""
        return self._reader.cut

    @property
    def local(self) -> Store:
        """The mirror."""
        return self._mirror

    # -- writing

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Apply changes at the server, or queue them for it, and in the mirror."""
        return self._apply(changes, self._mirror.commit, activity)

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], redact: Redact) -> list[str]:
        """Apply changes at the server and erase the past on this machine. The server's audit log stays as it is."""
        removed: list[list[str]] = []

        def save(applied: Sequence[Change], entries: Sequence[Activity]) -> None:
            removed.append(self._mirror.cleanse(applied, entries, redact))

        self._apply(changes, save, activity)
        if not removed:
            raise StoreBusy("others keep writing to this machine's copy, which still has the old words; run it again")
        return removed[0]

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        """Note the use in the mirror, and at Keepmum's own server; others counted it when the text was loaded."""
        self._mirror.reinforce(ids, now)
        if self._known.facts() is not None:
            self._full.report_use(ids)

    def log(self, activity: Sequence[Activity]) -> None:
        """Append to the activity log of this machine."""
        self._mirror.log(activity)

    def upkeep(self, now: int) -> None:
        """Do the mirror's upkeep, and update it from the server."""
        self._mirror.upkeep(now)
        with contextlib.suppress(StoreError):
            if self._known.ask() is None:
                self._reader.refresh(None, now, everywhere=True)

    # -- reading

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in that order, as last seen; makes no request."""
        current = [self._outbox.current_id(one) for one in ids]
        found = self._cache.get(current)
        return [found[one] for one in current if one in found]

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        """Memories by the beginning of an id; of a server of version 1 by a complete id, others of the mirror."""
        if first == last:
            one = self._outbox.current_id(first)
            return self._read(lambda full: list(full.load([one]).values()), lambda: self._between(first, last, limit))
        return self._read(lambda full: full.id_range(first, last, limit), lambda: self._between(first, last, limit))

    def _between(self, first: str, last: str, limit: int) -> list[Memory]:
        if first != last:
            if limit >= BULK_LIMIT:
                bulk = limit >= PATIENT_LIMIT
                self._reader.refresh(None, time.time_ns() // 1_000_000, everywhere=True, bulk=bulk)
            self._cache.flush()
            return self._loaded(lambda: self._mirror.between(first, last, limit), limit)
        self._reader.cut = ""
        current = self._outbox.current_id(first)
        known = self._mirror.get([current])
        if known and known[0].status != "active":
            return known
        return list(self._reader.load([current]).values())

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory under a key; of a server of version 1, if it was written on this machine."""
        return self._read(
            lambda full: full.by_key(space, key), lambda: self._reader.reload(self._mirror.by_key(space, key))
        )

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The memory that held a key last; of a server of version 1, if it was written on this machine."""
        return self._read(lambda full: full.last_by_key(space, key), lambda: self._mirror.last_by_key(space, key))

    def same_text(self, space: str, text: str) -> Memory | None:
        """The active memory with this text; of a server of version 1, if this machine knows it."""
        return self._read(lambda full: full.same_text(space, text), lambda: self._same_text(space, text))

    def _same_text(self, space: str, text: str) -> Memory | None:
        found = self._reader.reload(self._mirror.same_text(space, text))
        return found if found is not None and mapping.is_same_text(found.text, text) else None

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The server's matches with its scores, or those of the mirror when the server cannot be asked."""
        if not words:
            return []
        source = self._reader if can_ask_server(wanted) else self._mirror
        return self._read(lambda full: full.search(words, wanted, limit), lambda: source.search(words, wanted, limit))

    @property
    def model(self) -> str:
        """The model whose vectors the server compares; empty when it has none."""
        facts = self._known.facts()
        return "" if facts is None else facts.model

    def candidates(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """The server's candidates for a question, by words and by meaning."""
        return self._read(
            lambda full: full.candidates(words, vector, wanted, limit),
            lambda: [Candidate.lexical_only(*pair) for pair in self.search(words, wanted, limit)],
        )

    def near(
        self, memories: Sequence[Memory], wanted: Filter, cosine: float | None, among: Sequence[str] = ()
    ) -> list[Near]:
        """Of the memories `among`, those similar to one of `memories` by what this machine has of them.

        Others may be outdated here, and asking the server for each would take too long.
        """
        self._cache.flush()  # what the last answers of the server showed
        versions = self._mirror.features.versions
        found = versions.near(memories, mirror_filter(wanted), cosine, among) if versions is not None else []
        return [one for one in found if one.memory.id in among]

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """Memories that pass the filter; of a server of version 1 from the mirror, after it was updated."""
        return self._read(
            lambda full: full.browse(wanted, order, limit, offset),
            lambda: self._browse(wanted, order=order, limit=limit, offset=offset),
        )

    def _browse(self, wanted: Filter, *, order: Order, limit: int, offset: int) -> list[Memory]:
        if can_ask_server(wanted):
            bulk = limit >= PATIENT_LIMIT
            self._reader.refresh(wanted.project, wanted.now, everywhere=wanted.everywhere, bulk=bulk)
            self._reader.load_listed(wanted, bulk=bulk)
        return self._loaded(
            lambda: self._mirror.browse(mirror_filter(wanted), order=order, limit=limit, offset=offset), limit
        )

    def count(self, wanted: Filter) -> int:
        """Number of matching memories; of a server of version 1 in the mirror."""
        return self._read(
            lambda full: sum(full.facets(wanted).statuses.values()), lambda: self._mirror.count(mirror_filter(wanted))
        )

    def history(self, memory: str) -> list[Revision]:
        """The earlier revisions; of a server of version 1 those that were replaced on this machine."""
        return self._read(lambda full: full.history(self._outbox.current_id(memory)), lambda: self._history(memory))

    def _history(self, memory: str) -> list[Revision]:
        revisions = self._mirror.history(self._outbox.current_id(memory))
        return [one for one in revisions if one.before.get("origin") != LISTED]  # had a title in place of text

    def activity(
        self, limit: int, project: str | None = None, wanted: LogFilter = EVERY_ENTRY, after: str = ""
    ) -> list[Activity]:
        """The latest activity of this machine."""
        return self._mirror.activity(limit, project, wanted, after)

    def activity_days(self, since: int, project: str | None = None) -> list[DayCount]:
        """How often each agent did what on each day, on this machine."""
        return self._mirror.activity_days(since, project)

    def facets(self, wanted: Filter) -> Facets:
        """The numbers of memories with each value; of a server of version 1, among those that this machine has seen."""
        return self._read(lambda full: full.facets(wanted), lambda: self._mirror.facets(mirror_filter(wanted)))

    def outlines(self, wanted: Filter) -> list[Outline]:
        """All that pass the filter, without texts; of a server of version 1, of those that this machine has seen."""
        return self._read(lambda full: full.outlines(wanted), lambda: self._mirror.outlines(mirror_filter(wanted)))

    def changes(self) -> int:
        """A number that differs after the mirror has changed, also by what the server sent."""
        return self._mirror.changes()

    def fading(self, now: int, trashed_by: int, limit: int) -> list[Memory]:
        """Memories whose status may be due; a server of version 1 ages the active ones that do not expire itself."""
        found = self._mirror.fading(now, trashed_by, limit)
        facts = self._known.facts()
        if facts is not None:  # what others did with them counts
            present = self._full.load([one.id for one in found])
            return [one for one in present.values() if one.status == "active" or facts.curates]
        return [one for one in found if one.status == "trashed" or (one.expires_at or now + 1) <= now]

    def health(self) -> dict[str, JsonValue]:
        """Facts for the doctor, about the mirror and the server."""
        facts = dict(self._mirror.health())
        origin = self._server.origin
        queued, refused = self._outbox.count_waiting(origin), self._outbox.count_refused(origin)
        facts |= {"server": origin, "queued": queued, "refused": refused}
        try:
            collection, ready = self._breaker.api.collection()
            facts |= {"reached": True, "collection": collection, "model_ready": ready}
            if (known := self._known.facts()) is not None:
                facts["roles"] = dict(known.roles)
        except StoreError as error:
            facts |= {"reached": False, "problem": str(error), "key_refused": isinstance(error, KeyRefused)}
        return facts

    def close(self) -> None:
        """Flush everything to disk and close it."""
        self._writer.close()
        self._full.close()
        self._cache.flush()
        self._breaker.close()
        self._outbox.close()
        self._mirror.close()

    def _read(self, of_full: Callable[[FullReader], _Result], otherwise: Callable[[], _Result]) -> _Result:
        """The answer of Keepmum's own server, or `otherwise` of another one."""
        if self._known.facts() is not None:
            self._reader.cut = ""
            return of_full(self._full)
        result = otherwise()
        if self._breaker.is_v2 is None and not self._breaker.skips_reads:  # that was known here
            self._find_out()
        if self._known.facts() is None:
            return result
        self._reader.cut = ""
        return of_full(self._full)  # the answer has shown that the server is Keepmum's own

    def _find_out(self) -> None:
        """Ask a server that has not answered yet which version it has."""
        try:
            self._known.ask()
        except StoreError as error:
            self._breaker.record_failure(error)

    def _loaded(self, read: Callable[[], list[Memory]], limit: int) -> list[Memory]:
        """Memories of the mirror, in a read of many with their texts; those that are gone from the server give way."""
        found, before = read(), None
        while limit >= BULK_LIMIT and found != before:
            loaded = self._reader.with_texts(found, bulk=limit >= PATIENT_LIMIT)
            if len(loaded) == len(found):
                return loaded
            found, before = read(), found
        return found

    def _apply(self, changes: Sequence[Change], save: SaveLocally, activity: Sequence[Activity]) -> Receipt:
        capabilities = self.capabilities
        if not capabilities.writable:
            raise StoreReadOnly(f"{capabilities.reason}. Nothing was stored.")
        self._cache.flush()
        return self._writer.apply(changes, save, activity)
