"""Changes as writes at the server, sent so that each takes effect once, however often it has to be sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from keepmum.core import ids, serialization
from keepmum.core.memory import Change, JsonValue, Memory
from keepmum.stores.outbox import Item, Outbox
from keepmum.stores.outbox.queue import Action
from keepmum.stores.rest.mapping import wire_text

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api, Loaded

__all__ = ["Scribe", "Sender"]

_GONE = 404
_LOCAL = frozenset({"accessed_at", "access_count", "session", "user"})  # of this machine, not of the memory
_QUERY = 1_000  # characters
_LOOKED_AT = 20  # memories that a search for one that may have arrived brings
_ORDER: tuple[Action, ...] = ("create", "replace", "remove")  # what fails early leaves what was there before


@dataclass(frozen=True, slots=True)
class Scribe:
    """Writes down what a server has to be told of changes.

    A server that is `full` sees every field of a memory, any other one text and title, which may carry more in a
    `trailer`.
    """

    origin: str
    name: Callable[[str | None], str]  # what the server calls a project
    trailer: bool
    full: bool

    def items(self, changes: Sequence[Change], now: int) -> list[Item]:
        """What has to be done at the server for these changes: nothing for those that it would not see."""
        found = [item for change in changes for item in self._items(change, now)]
        return sorted(found, key=lambda item: _ORDER.index(item.action))

    def _items(self, change: Change, now: int) -> Iterator[Item]:
        before = change.before if _is_there(change.before) else None
        after = change.after if _is_there(change.after) else None
        if before is not None and after is not None and self.name(before.project) == self.name(after.project):
            if self.full or self._words(before) != self._words(after):
                yield replace(self._write("replace", after, now), base=before.revision)
            return
        if after is not None:  # the server moves no memory from project to project
            yield self._write("create", after, now)
        if before is not None:
            yield self._item("remove", before, now)

    def _write(self, action: Action, memory: Memory, now: int) -> Item:
        text, title = self._words(memory)
        whole = {field: value for field, value in serialization.to_json(memory).items() if field not in _LOCAL}
        item = self._item(action, memory, now)
        return replace(item, text=text, title=title, agent=memory.agent, tags=memory.tags, whole=whole)

    def _item(self, action: Action, memory: Memory, now: int) -> Item:
        token, project = ids.to_uuid(ids.new_id()), self.name(memory.project)
        return Item(id=token, origin=self.origin, project=project, action=action, memory=memory.id, queued_at=now)

    def _words(self, memory: Memory) -> tuple[str, str]:
        return wire_text(memory, trailer=self.trailer), memory.title


class Sender:
    """Carries writes out at the server; one that was tried before may have been done already."""

    def __init__(self, api: Callable[[], Api], box: Outbox) -> None:
        self._api = api
        self._box = box

    def send(self, item: Item) -> str | None:
        """The UUID that the server knows the memory by, for a write that creates one.

        Raises: StoreUnavailable, KeyRefused, `wire.Refused`, StoreError.
        """
        if item.action == "create":
            return self._create(item)
        server_id = ids.to_uuid(self._box.name(item.memory))
        if item.action == "remove":
            self._unless_gone(lambda: self._api().delete(server_id))
            return None
        done = self._unless_gone(lambda: self._update(server_id, item))
        return None if done else self._create(item)  # somebody removed it, and it is wanted

    def _create(self, item: Item) -> str:
        present = self._found(item) if item.tries and not self._api().is_full else None
        return present or self._api().create(
            text=item.text, title=item.title, project=item.project, agent=item.agent, tags=item.tags, token=item.id,
            whole=self._named(item),
        )  # fmt: skip

    def _update(self, server_id: str, item: Item) -> None:
        self._api().update(server_id, text=item.text, title=item.title, whole=self._named(item), base=item.base)

    def _named(self, item: Item) -> Mapping[str, JsonValue] | None:
        """The whole memory under the id that the server knows it by."""
        return item.whole and {**item.whole, "id": ids.to_uuid(self._box.name(item.memory))}

    def _found(self, item: Item) -> str | None:
        """The memory that an earlier try of this write created, if its answer was lost.

        The first API knows no tokens. A memory with this very text and title in this project is the one that was to
        be written, whoever wrote it.
        """
        api = self._api()
        listed = api.search(f"{item.title} {item.text}"[:_QUERY], limit=_LOOKED_AT, project=item.project)
        listed += api.recent(limit=_LOOKED_AT, days=2, project=item.project)
        likely = list(dict.fromkeys(one.id for one in listed if one.title == item.title))
        same = [one for one in api.load(likely) if _says_the_same(one, item)] if likely else []
        return same[0].id if same else None

    def _unless_gone(self, act: Callable[[], None]) -> bool:
        """Whether there was something to act on."""
        from keepmum.stores.rest.wire import Refused

        try:
            act()
        except Refused as error:
            if error.status != _GONE:
                raise
            return False
        return True


def _is_there(memory: Memory | None) -> bool:
    """Whether the server has a memory of this state."""
    return memory is not None and memory.status == "active"


def _says_the_same(loaded: Loaded, item: Item) -> bool:
    return (loaded.text, loaded.title, loaded.project) == (item.text, item.title, item.project)
