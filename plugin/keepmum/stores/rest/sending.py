"""Changes as writes at the server, sent so that each takes effect once, however often it has to be sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from keepmum import exchange, ids
from keepmum.memory import Change, JsonValue, Memory
from keepmum.outbox import Item, Outbox
from keepmum.outbox.queue import Action
from keepmum.stores.rest.mapping import wire_text

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api, Loaded

__all__ = ["Sender", "Step", "steps_of"]

_GONE = 404
_LOCAL = frozenset({"accessed_at", "access_count", "session", "user"})  # of this machine, not of the memory
_QUERY = 1_000  # characters
_LOOKED_AT = 20  # memories that a search for one that may have arrived brings
_ORDER: tuple[Action, ...] = ("create", "replace", "remove")  # what fails early leaves what was there before


@dataclass(frozen=True, slots=True)
class Step:
    """One write, as the server is told of it."""

    token: str  # a UUIDv7 that a repetition is known by
    action: Action
    memory: str
    project: str
    text: str = ""
    title: str = ""
    agent: str = ""
    tags: tuple[str, ...] = ()
    whole: Mapping[str, JsonValue] | None = None  # the memory, for a server that takes all of it
    base: int | None = None  # the revision that a change is meant for

    def item(self, origin: str, now: int, *, tried: bool) -> Item:
        """The step as it waits; `tried` when it may have been done already."""
        return Item(
            id=self.token, origin=origin, project=self.project, action=self.action, memory=self.memory, queued_at=now,
            title=self.title, text=self.text, agent=self.agent, tags=self.tags, tries=int(tried),
            whole=self.whole, base=self.base,
        )  # fmt: skip


def steps_of(changes: Sequence[Change], name: Callable[[str | None], str], *, trailer: bool, full: bool) -> list[Step]:
    """What has to be done at the server for these changes: nothing for those that it would not see.

    A server that is `full` sees every field, any other one text and title.
    """
    steps = [step for change in changes for step in _steps(change, name, trailer=trailer, full=full)]
    return sorted(steps, key=lambda step: _ORDER.index(step.action))


class Sender:
    """Carries steps out at the server."""

    def __init__(self, api: Callable[[], Api], box: Outbox) -> None:
        self._api = api
        self._box = box

    def send(self, step: Step, *, tried: bool = False) -> str | None:
        """The UUID that the server knows the memory by, for a write that creates one.

        Raises: StoreUnavailable, KeyRefused, `wire.Refused`, StoreError.
        """
        if step.action == "create":
            return self._create(step, tried=tried)
        server_id = ids.to_uuid(self._box.name(step.memory))
        if step.action == "remove":
            self._unless_gone(lambda: self._api().delete(server_id))
            return None
        done = self._unless_gone(lambda: self._update(server_id, step))
        return None if done else self._create(step, tried=tried)  # somebody removed it, and it is wanted

    def deliver(self, item: Item) -> str | None:
        """Send a write that waited."""
        step = Step(
            item.id, item.action, item.memory, item.project, item.text, item.title, item.agent, item.tags, item.whole,
            item.base,
        )  # fmt: skip
        return self.send(step, tried=item.tries > 0)

    def _create(self, step: Step, *, tried: bool) -> str:
        present = self._found(step) if tried and not self._api().is_full else None
        return present or self._api().create(
            text=step.text, title=step.title, project=step.project, agent=step.agent, tags=step.tags, token=step.token,
            whole=self._named(step),
        )  # fmt: skip

    def _update(self, server_id: str, step: Step) -> None:
        self._api().update(server_id, text=step.text, title=step.title, whole=self._named(step), base=step.base)

    def _named(self, step: Step) -> Mapping[str, JsonValue] | None:
        """The whole memory under the id that the server knows it by."""
        return step.whole and {**step.whole, "id": ids.to_uuid(self._box.name(step.memory))}

    def _found(self, step: Step) -> str | None:
        """The memory that an earlier try of this step created, if its answer was lost.

        The first API knows no tokens. A memory with this very text and title in this project is the one that was to
        be written, whoever wrote it.
        """
        api = self._api()
        listed = api.search(f"{step.title} {step.text}"[:_QUERY], limit=_LOOKED_AT, project=step.project)
        listed += api.recent(limit=_LOOKED_AT, days=2, project=step.project)
        likely = list(dict.fromkeys(item.id for item in listed if item.title == step.title))
        same = [one for one in api.load(likely) if _says_the_same(one, step)] if likely else []
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


def _steps(change: Change, name: Callable[[str | None], str], *, trailer: bool, full: bool) -> Iterator[Step]:
    before, after = change.before, change.after
    if before is not None and after is not None and _is_there(before) and _is_there(after):
        if name(before.project) == name(after.project):
            if full or _words(before, trailer=trailer) != _words(after, trailer=trailer):
                yield replace(_write("replace", after, name, trailer=trailer), base=before.revision)
            return
        yield _write("create", after, name, trailer=trailer)  # the server moves no memory from project to project
    elif after is not None and _is_there(after):
        yield _write("create", after, name, trailer=trailer)
    if before is not None and _is_there(before):
        yield Step(_token(), "remove", before.id, name(before.project))


def _write(action: Action, memory: Memory, name: Callable[[str | None], str], *, trailer: bool) -> Step:
    text = wire_text(memory, trailer=trailer)
    whole = {field: value for field, value in exchange.to_json(memory).items() if field not in _LOCAL}
    project = name(memory.project)
    return Step(_token(), action, memory.id, project, text, memory.title, memory.agent, memory.tags, whole)


def _token() -> str:
    return ids.to_uuid(ids.new_id())


def _is_there(memory: Memory | None) -> bool:
    """Whether the server has a memory of this state."""
    return memory is not None and memory.status == "active"


def _words(memory: Memory, *, trailer: bool) -> tuple[str, str]:
    return (wire_text(memory, trailer=trailer), memory.title)


def _says_the_same(loaded: Loaded, step: Step) -> bool:
    return (loaded.text, loaded.title, loaded.project) == (step.text, step.title, step.project)
