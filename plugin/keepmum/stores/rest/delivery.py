"""Changes as outbox items, and items as requests, so that each takes effect once however often it is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from keepmum.core import ids, serialization
from keepmum.core.errors import StoreError, StoreUnavailable
from keepmum.core.memory import Change, JsonValue, Memory
from keepmum.stores.outbox import Item, Outbox
from keepmum.stores.outbox.queue import Action
from keepmum.stores.rest.known_server import KnownServer
from keepmum.stores.rest.mapping import wire_text

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api

__all__ = ["ItemBuilder", "ItemSender"]

_NOT_FOUND = 404
_OTHER_REVISION = 412
_OF_USE = frozenset({"accessed_at", "access_count"})  # counted where it happens
_LOCAL_FIELDS = _OF_USE | {"session", "user"}  # of this machine, not of the memory
_MAX_QUERY = 1_000  # characters
_SEARCH_LIMIT = 20  # candidates for a memory that may have been delivered
_ORDER: tuple[Action, ...] = ("create", "replace", "remove")  # a failure half way leaves the old memories in place


@dataclass(frozen=True, slots=True)
class ItemBuilder:
    """Builds the items that bring changes to a server.

    Keepmum's own server receives every change of every memory. Another one of version 2 receives every field of active
    memories; others receive text and title, with a `trailer` for the rest where the user wants it.
    """

    origin: str
    project_name: Callable[[str | None], str]  # of a project id, at the server
    trailer: bool
    all_fields: bool  # the server supports version 2, or is not known yet
    all_changes: bool = False  # it is Keepmum's own

    def items(self, changes: Sequence[Change], now: int) -> list[Item]:
        """The items for these changes; none for a change that the server would not see."""
        if self.all_changes:  # in the order of the transaction: a key may move from one memory to another
            return [self._whole_item(change, now) for change in changes]
        items = [item for change in changes for item in self._items(change, now)]
        return sorted(items, key=lambda item: _ORDER.index(item.action))

    def _items(self, change: Change, now: int) -> Iterator[Item]:
        before = change.before if _is_at_server(change.before) else None
        after = change.after if _is_at_server(change.after) else None
        if before and after and self.project_name(before.project) == self.project_name(after.project):
            if self.all_fields or self._content(before) != self._content(after):
                yield replace(self._write("replace", after, now), base_revision=before.revision)
            return
        if after is not None:  # the server cannot move a memory to another project
            yield self._write("create", after, now)
        if before is not None:
            yield self._item("remove", before, now)

    def _whole_item(self, change: Change, now: int) -> Item:
        """The item of any change. One that removes a memory for good names the revision that it removes."""
        before, after = change.before, change.after
        base = None if before is None else before.revision
        if after is not None:
            written = (
                self._write("create", after, now, keep=frozenset())
                if before is None
                else self._write("replace", after, now, keep=_OF_USE)
            )
            return replace(written, base_revision=base)
        assert before is not None, "a change is about a memory"
        return replace(self._item("remove", before, now), base_revision=base)

    def _write(self, action: Action, memory: Memory, now: int, keep: frozenset[str] = _LOCAL_FIELDS) -> Item:
        """The item of a written memory, without the fields that this machine has to `keep`."""
        text, title = self._content(memory)
        fields = serialization.to_json(memory).items()
        return replace(
            self._item(action, memory, now), text=text, title=title, agent=memory.agent, tags=memory.tags,
            memory_json={name: value for name, value in fields if name not in keep},
        )  # fmt: skip

    def _item(self, action: Action, memory: Memory, now: int) -> Item:
        return Item(
            id=ids.to_uuid(ids.new_id()), origin=self.origin, project=self.project_name(memory.project),
            action=action, memory=memory.id, queued_at=now,
        )  # fmt: skip

    def _content(self, memory: Memory) -> tuple[str, str]:
        return wire_text(memory, trailer=self.trailer), memory.title


class ItemSender:
    """Sends items to the server. An item with earlier tries may have been delivered already."""

    def __init__(self, api: Callable[[], Api], outbox: Outbox, known: KnownServer) -> None:
        self._api = api
        self._outbox = outbox
        self._known = known

    def send(self, item: Item) -> str | None:
        """Send an item; returns the UUID at the server for one that creates a memory.

        Raises: StoreUnavailable, KeyRefused, `http_client.RequestRefused`, StoreError.
        """
        if self._known.ask() is not None:
            return self._send_whole(item)
        if item.action == "create":
            return self._create(item)
        server_id = ids.to_uuid(self._outbox.current_id(item.memory))
        if item.action == "remove":
            self._unless_missing(lambda: self._api().delete(server_id))
            return None
        updated = self._unless_missing(lambda: self._update(server_id, item))
        return None if updated else self._create(item)  # someone deleted it, but this write wants it to exist

    def send_all(self, items: Sequence[Item]) -> None:
        """Send items to Keepmum's own server, which applies all or none.

        Raises: as `send`.
        """
        current = [replace(item, memory=self._outbox.current_id(item.memory)) for item in items]
        self._known.api.send_all(current)

    def _send_whole(self, item: Item) -> str | None:
        """Send an item to Keepmum's own server, which keeps our ids."""
        memory = self._outbox.current_id(item.memory)
        if item.action == "remove":
            self._unless_missing(lambda: self._known.api.send(item, memory))
            return None
        self._known.api.send(item, memory)
        return ids.to_uuid(memory) if item.action == "create" else None

    def _create(self, item: Item) -> str:
        delivered = self._find_delivered(item) if item.tries and not self._api().is_v2 else None
        return delivered or self._api().create(
            text=item.text, title=item.title, project=item.project, agent=item.agent, tags=item.tags,
            idempotency_key=item.id, memory_json=self._memory_json(item),
        )  # fmt: skip

    def _update(self, server_id: str, item: Item) -> None:
        from keepmum.stores.rest.http_client import RequestRefused

        try:
            self._api().update(
                server_id, text=item.text, title=item.title, memory_json=self._memory_json(item),
                base_revision=item.base_revision,
            )  # fmt: skip
        except RequestRefused as error:
            if error.status != _OTHER_REVISION or not self._is_at_server(server_id, item):
                raise

    def _is_at_server(self, server_id: str, item: Item) -> bool:
        """Whether the server has what an item writes: an earlier try took effect, and only its response was lost."""
        sent = self._memory_json(item) or {}
        try:
            present = self._api().load([server_id])
        except StoreUnavailable:
            raise
        except StoreError:  # the refusal of the write says more
            return False
        return any(
            one.memory_json is not None and {name: one.memory_json.get(name) for name in sent} == sent
            for one in present
        )

    def _memory_json(self, item: Item) -> Mapping[str, JsonValue] | None:
        """The complete memory, with the id that it has at the server."""
        return item.memory_json and {**item.memory_json, "id": ids.to_uuid(self._outbox.current_id(item.memory))}

    def _find_delivered(self, item: Item) -> str | None:
        """The memory that an earlier try of this item created, when only its response was lost.

        Version 1 ignores idempotency keys. A memory with the same text and title in the same project is the one that
        the item was to create, regardless of who wrote it.
        """
        api = self._api()
        listed = api.search(f"{item.title} {item.text}"[:_MAX_QUERY], limit=_SEARCH_LIMIT, project=item.project)
        listed += api.recent(limit=_SEARCH_LIMIT, days=2, project=item.project)
        candidates = list(dict.fromkeys(one.id for one in listed if one.title == item.title))
        wanted = (item.text, item.title, item.project)
        loaded = api.load(candidates) if candidates else []
        return next((one.id for one in loaded if (one.text, one.title, one.project) == wanted), None)

    def _unless_missing(self, act: Callable[[], None]) -> bool:
        """Whether the server had the memory that `act` is about."""
        from keepmum.stores.rest.http_client import RequestRefused

        try:
            act()
        except RequestRefused as error:
            if error.status != _NOT_FOUND:
                raise
            return False
        return True


def _is_at_server(memory: Memory | None) -> bool:
    """Whether the server has a memory with this status."""
    return memory is not None and memory.status == "active"
