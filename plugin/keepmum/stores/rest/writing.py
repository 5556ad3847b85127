"""Writes at a server: done there, or queued for it, and then kept on this machine."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from keepmum.core.errors import StoreError, StoreUnavailable
from keepmum.core.memory import Activity, Change, Memory
from keepmum.stores.base import Receipt, StaleWrite, Store
from keepmum.stores.outbox import Drainer, Item, Outbox
from keepmum.stores.outbox.drainer import Turn
from keepmum.stores.rest import mapping, promises
from keepmum.stores.rest.contact import Contact
from keepmum.stores.rest.projects import Projects
from keepmum.stores.rest.reading import Reading
from keepmum.stores.rest.sending import Scribe, Sender

__all__ = ["Keep", "Writing"]

_CHANGED = 412  # the status of a change that is meant for another revision
Keep = Callable[[Sequence[Change], Sequence[Activity]], None]


class Writing:
    """Changes what a server has, and what is known of it here."""

    def __init__(  # noqa: PLR0913 - what a store of a server is made of
        self,
        contact: Contact,
        *,
        mirror: Store,
        reading: Reading,
        projects: Projects,
        box: Outbox,
        turn: Turn,
        drains: bool,
        trailer: bool,
    ) -> None:
        self._contact = contact
        self._origin = contact.server.origin
        self._mirror = mirror
        self._reading = reading
        self._projects = projects
        self._box = box
        self._drains = drains
        self._trailer = trailer
        self._sender = Sender(lambda: contact.api, box)
        self._drainer = Drainer(box, self._origin, turn, self._sender.send, self._arrived)
        contact.on_return = self._drainer.wake
        self.told = ""  # once a server did not take all of what was written: what it left out
        if drains and contact.server.key and box.waiting(self._origin):
            self._drainer.start()

    def apply(self, changes: Sequence[Change], keep: Keep, activity: Sequence[Activity]) -> Receipt:
        """Do these at the server, or queue them for it, and then `keep` here what became of them.

        Raises: Unsupported, StaleWrite, StoreError; then nothing was done, or only what was told of before.
        """
        self._check(changes)
        full, name = self._contact.is_full, self._projects.name
        scribe = Scribe(self._origin, name, trailer=self._trailer and not full, full=full is not False)
        given, queued = self._send(scribe.items(changes, time.time_ns() // 1_000_000))
        settled = [one for change in changes for one in _renamed(change, given)]
        keep(settled, [replace(event, memory=given.get(event.memory or "", event.memory)) for event in activity])
        self._note_dropped(changes)
        self._contact.caveat = ""
        return Receipt(given, queued)

    def put(self, changes: Sequence[Change], activity: Sequence[Activity]) -> None:
        """Keep here what the server now has; what another process kept meanwhile gives way."""
        for _ in range(3):
            try:
                self._mirror.commit(changes, activity)
                break
            except StaleWrite:
                held = {one.id: one for one in self._mirror.get([one.id for one in map(_subject, changes)])}
                changes = [_onto(change, held.get(_subject(change).id)) for change in changes]
        self._reading.note_fresh(_subject(change).id for change in changes)

    def close(self) -> None:
        """Send nothing more."""
        self._drainer.close()

    def _check(self, changes: Sequence[Change]) -> None:
        """Nothing, when the server could hold these and nobody here was faster.

        Raises: Unsupported, StaleWrite.
        """
        for change in changes:
            if change.after is not None:
                promises.refuse_unsupported(change.after)
            held = [one.revision for one in self._mirror.get([_subject(change).id])]
            if held != ([] if change.before is None else [change.before.revision]):
                raise StaleWrite("the memory was changed meanwhile")
        touched = {_subject(change).id for change in changes}
        wanted = [change.after for change in changes if change.after is not None and change.after.status == "active"]
        for memory in wanted:
            holder = self._mirror.by_key(memory.space, memory.key) if memory.key else None
            if holder is not None and holder.id not in touched:
                raise StaleWrite("the key was taken meanwhile")
        if len({(one.space, one.key) for one in wanted if one.key}) < sum(one.key is not None for one in wanted):
            raise StaleWrite("two memories of one transaction have the same key")

    def _send(self, items: Sequence[Item]) -> tuple[Mapping[str, str], int]:
        """Do these at the server or queue them: the ids that it gave, and how many writes now wait."""
        given: dict[str, str] = {}
        waiting = self._box.memories(self._origin)
        for number, item in enumerate(items):
            if item.memory in waiting or self._contact.is_down:
                return given, self._queue(items[number:], tried=False)
            try:
                server_id = self._sender.send(item)
            except StoreUnavailable as error:
                self._contact.note(error)
                return given, self._queue(items[number:], tried=not error.unsent)
            except StoreError as error:
                if getattr(error, "status", None) == _CHANGED:
                    self._reading.note_changed(item.memory)
                    raise StaleWrite("the memory was changed at the server meanwhile") from None
                raise
            if server_id is not None:
                given[item.memory] = mapping.memory_id(server_id)
                self._box.rename(item.memory, given[item.memory])
        return given, 0

    def _queue(self, items: Sequence[Item], *, tried: bool) -> int:
        """Queue what could not be sent; the first of it may have arrived, if it was tried."""
        count = self._box.put([replace(items[0], tries=int(tried)), *items[1:]])
        if self._drains:
            self._drainer.start()
        return count

    def _arrived(self, item: Item, server_id: str | None) -> None:
        """Give a memory that was queued the id that the server knows it by."""
        if server_id is None:
            return
        name = mapping.memory_id(server_id)
        self._box.rename(item.memory, name)
        held = self._mirror.get([item.memory, name])
        if len(held) == 1 and held[0].id == item.memory and name != item.memory:
            before = held[0]
            with contextlib.suppress(StaleWrite):
                past = tuple(self._mirror.history(before.id))
                self._mirror.commit([Change(before, None), Change(None, replace(before, id=name), past=past)])

    def _note_dropped(self, changes: Sequence[Change]) -> None:
        """Say once what the server could not take."""
        written = [change.after for change in changes if change.after is not None and change.after.status == "active"]
        if any(map(mapping.dropped, written)) and self._contact.is_full is False and not self._trailer:
            self.told = f"{self._origin}: {promises.FIELDS_ARE_LEFT_OUT}."


def _subject(change: Change) -> Memory:
    memory = change.after or change.before
    assert memory is not None, "a change is about a memory"
    return memory


def _renamed(change: Change, given: Mapping[str, str]) -> list[Change]:
    """A change under the id that the server gave; what was there under another makes way."""
    after = change.after
    if after is None or given.get(after.id, after.id) == after.id:
        return [change]
    former = [Change(change.before, None)] if change.before is not None else []
    return [*former, Change(None, replace(after, id=given[after.id]), past=change.past)]


def _onto(change: Change, held: Memory | None) -> Change:
    """A change of what is held now."""
    if change.after is None or held is None:
        return Change(held, change.after)
    return Change(held, replace(change.after, revision=held.revision + 1))
