"""Writes to a server: sent, or queued when it cannot be reached, and then saved in the mirror."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from keepmum.core.errors import StoreError, StoreUnavailable
from keepmum.core.memory import Activity, Change, Memory
from keepmum.stores.base import Receipt, StaleWrite, Store
from keepmum.stores.outbox import Drainer, Item, Outbox, SendLock
from keepmum.stores.rest import limitations, mapping
from keepmum.stores.rest.circuit_breaker import CircuitBreaker
from keepmum.stores.rest.delivery import ItemBuilder, ItemSender
from keepmum.stores.rest.full_api import ServerFacts
from keepmum.stores.rest.known_server import KnownServer
from keepmum.stores.rest.reader import ServerReader
from keepmum.stores.rest.write_behind import WriteBehindCache

__all__ = ["SaveLocally", "ServerWriter"]

_OVERTAKEN = frozenset({409, 412})  # the server has another revision than the change applies to, or the key is taken
_NOT_FOUND = 404
_TRIES = 3  # when other processes write to the mirror at the same time
SaveLocally = Callable[[Sequence[Change], Sequence[Activity]], object]


class ServerWriter:
    """Applies changes at the server and in the mirror."""

    def __init__(  # noqa: PLR0913 - the parts of a server's store
        self,
        breaker: CircuitBreaker,
        *,
        mirror: Store,
        reader: ServerReader,
        cache: WriteBehindCache,
        known: KnownServer,
        outbox: Outbox,
        lock: SendLock,
        drains: bool,
        trailer: bool,
    ) -> None:
        self._breaker = breaker
        self._origin = breaker.server.origin
        self._mirror = mirror
        self._reader = reader
        self._cache = cache
        self._known = known
        self._outbox = outbox
        self._drains = drains
        self._trailer = trailer
        self._sender = ItemSender(lambda: breaker.api, outbox, known)
        self._drainer = Drainer(outbox, self._origin, lock, self._sender.send, self._on_delivered)
        breaker.on_recovery = self._drainer.wake
        self.notice = ""  # names the fields that the server left out of a write, if any
        if drains and breaker.server.key and outbox.count_waiting(self._origin):
            self._drainer.start()

    def apply(self, changes: Sequence[Change], save: SaveLocally, activity: Sequence[Activity]) -> Receipt:
        """Apply changes at the server, or queue them for it, and then pass them to `save` with the server's ids.

        Raises: Unsupported, StaleWrite, StoreError. The server may then have the first of several changes.
        """
        facts = self._asked()
        v2 = self._breaker.is_v2
        self._check(changes, facts.promises if facts is not None else ())
        builder = ItemBuilder(
            self._origin, self._reader.project_name, trailer=self._trailer and not v2, all_fields=v2 is not False,
            all_changes=facts is not None,
        )  # fmt: skip
        server_ids, queued = self._send(builder.items(changes, time.time_ns() // 1_000_000))
        renamed = [one for change in changes for one in _with_server_id(change, server_ids)]
        entries = [replace(event, memory=server_ids.get(event.memory or "", event.memory)) for event in activity]
        self._save(save, renamed, entries)
        self._note_dropped_fields(changes)
        self._breaker.caveat = ""
        return Receipt(server_ids, queued)

    def close(self) -> None:
        """Stop sending."""
        self._drainer.close()

    def _save(self, save: SaveLocally, changes: Sequence[Change], activity: Sequence[Activity]) -> None:
        """Save in the mirror what the server has now, or will have, also when others write to the mirror meanwhile."""
        for _ in range(_TRIES):
            try:
                save(changes, activity)
            except StaleWrite:
                changes = self._rebased(changes)
            else:
                self._cache.mark_fresh(_subject(change).id for change in changes)
                return

    def _rebased(self, changes: Sequence[Change]) -> list[Change]:
        """The changes as they apply to what is in the mirror now, without those that the server's answers overtook.

        The mirror has the revisions of a server of version 2. Others have none, and neither has a queued write.
        """
        stored = {one.id: one for one in self._mirror.get([_subject(change).id for change in changes])}
        waiting = self._outbox.waiting_memories(self._origin)
        rebased = []
        for change in changes:
            name, after = _subject(change).id, change.after
            before = stored.get(name)
            if after is not None and before is not None:
                if not self._breaker.is_v2 or name in waiting:
                    after = replace(after, revision=max(after.revision, before.revision + 1))
                elif before.revision > after.revision:
                    continue
            if before is not None or after is not None:
                rebased.append(replace(change, before=before, after=after))
        return rebased

    def _asked(self) -> ServerFacts | None:
        """What the server can do; requested before the first write."""
        if self._breaker.is_open:
            return self._known.facts()
        try:
            return self._known.ask()
        except StoreUnavailable as error:
            self._breaker.record_failure(error)
        except StoreError:
            pass  # the write itself says why
        return self._known.facts()

    def _check(self, changes: Sequence[Change], promises: Collection[str]) -> None:
        """Refuse changes that the server cannot store, and those that another process has overtaken.

        Raises: Unsupported, StaleWrite.
        """
        for change in changes:
            if change.after is not None:
                limitations.refuse_unsupported(change.after, promises)
            stored = [one.revision for one in self._mirror.get([_subject(change).id])]
            if stored != ([] if change.before is None else [change.before.revision]):
                raise StaleWrite("the memory was changed meanwhile")
        touched = {_subject(change).id for change in changes}
        active = _active(changes)
        for memory in active:
            holder = self._mirror.by_key(memory.space, memory.key) if memory.key else None
            if holder is not None and holder.id not in touched:
                raise StaleWrite("the key was taken meanwhile")
        keyed = [(one.space, one.key) for one in active if one.key]
        if len(set(keyed)) < len(keyed):
            raise StaleWrite("two memories of one transaction have the same key")

    def _send(self, items: Sequence[Item]) -> tuple[Mapping[str, str], int]:
        """Send these items or queue them; returns the server's ids by ours, and how many writes wait."""
        server_ids: dict[str, str] = {}
        waiting = self._outbox.waiting_memories(self._origin)
        is_together = len(items) > 1 and self._known.facts() is not None
        if is_together and not self._breaker.is_open and not waiting & {item.memory for item in items}:
            return self._send_together(items)
        for number, item in enumerate(items):
            if item.memory in waiting or self._breaker.is_open:
                return server_ids, self._queue(items[number:], tried=False)
            try:
                server_id = self._sender.send(item)
            except StoreUnavailable as error:
                self._breaker.record_failure(error)
                return server_ids, self._queue(items[number:], tried=not error.unsent)
            except StoreError as error:
                self._raise_stale(error, [item])
                raise
            if server_id is not None:
                server_ids[item.memory] = mapping.memory_id(server_id)
                self._outbox.set_current_id(item.memory, server_ids[item.memory])
        return server_ids, 0

    def _send_together(self, items: Sequence[Item]) -> tuple[Mapping[str, str], int]:
        """Send the items of one transaction to a server that applies all or none of them, or queue them."""
        try:
            self._sender.send_all(items)
        except StoreUnavailable as error:
            self._breaker.record_failure(error)
            return {}, self._queue(items, tried=not error.unsent)
        except StoreError as error:
            self._raise_stale(error, items)
            raise
        return {}, 0

    def _raise_stale(self, error: StoreError, items: Sequence[Item]) -> None:
        """Raise StaleWrite for a refusal that says that another machine was faster."""
        status = getattr(error, "status", None)
        is_gone = status == _NOT_FOUND and all(item.action == "replace" for item in items)
        if is_gone or status in _OVERTAKEN:
            for item in items:
                self._cache.mark_stale(item.memory)
            raise StaleWrite("the memory was changed at the server meanwhile") from None

    def _queue(self, items: Sequence[Item], *, tried: bool) -> int:
        """Queue unsent items; with `tried`, the first of them may have reached the server."""
        count = self._outbox.put([replace(items[0], tries=int(tried)), *items[1:]])
        if self._drains:
            self._drainer.start()
        return count

    def _on_delivered(self, item: Item, server_id: str | None) -> None:
        """Replace the id of a queued memory in the mirror by the server's."""
        if server_id is None:
            return
        new_id = mapping.memory_id(server_id)
        self._outbox.set_current_id(item.memory, new_id)
        stored = self._mirror.get([item.memory, new_id])
        if len(stored) == 1 and stored[0].id == item.memory and new_id != item.memory:
            before = stored[0]
            with contextlib.suppress(StaleWrite):
                past = tuple(self._mirror.history(before.id))
                self._mirror.commit([Change(before, None), Change(None, replace(before, id=new_id), past=past)])

    def _note_dropped_fields(self, changes: Sequence[Change]) -> None:
        if any(map(mapping.dropped_fields, _active(changes))) and self._breaker.is_v2 is False and not self._trailer:
            self.notice = f"{self._origin}: {limitations.FIELDS_ARE_LEFT_OUT}."


def _subject(change: Change) -> Memory:
    memory = change.after or change.before
    assert memory is not None, "a change is about a memory"
    return memory


def _active(changes: Sequence[Change]) -> list[Memory]:
    return [change.after for change in changes if change.after is not None and change.after.status == "active"]


def _with_server_id(change: Change, server_ids: Mapping[str, str]) -> list[Change]:
    """A change under the id that the server gave; a memory with the former id is removed."""
    after = change.after
    if after is None or server_ids.get(after.id, after.id) == after.id:
        return [change]
    former = [Change(change.before, None)] if change.before is not None else []
    return [*former, Change(None, replace(after, id=server_ids[after.id]), past=change.past)]
