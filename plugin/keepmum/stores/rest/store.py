"""A team's server as a store, with a mirror of what is known of it on this machine.

The server has the memories; the mirror has what was seen of them, what the server cannot hold (keys, kinds, history,
the trash of this machine), and answers while the server cannot be reached. A write goes to the server first; when that
cannot be reached it goes into the outbox, and the mirror shows it as it will be.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from keepmum import ids
from keepmum.errors import KeyRefused, StoreError, StoreReadOnly, StoreUnavailable, Unsupported
from keepmum.memory import Activity, Change, Filter, JsonValue, Memory, Order, Revision
from keepmum.outbox import Drainer, Item, Outbox
from keepmum.outbox.drainer import Turn
from keepmum.stores.base import Capabilities, Clean, Receipt, StaleWrite, Store
from keepmum.stores.rest import mapping
from keepmum.stores.rest.learning import Learning
from keepmum.stores.rest.sending import Scribe, Sender

if TYPE_CHECKING:
    from keepmum.credentials import Server
    from keepmum.stores.rest.api import Api

__all__ = ["CANNOT", "RestStore"]

_Answer = TypeVar("_Answer")
_FRESH = 2.0  # seconds for which a list of the server is not asked for again
_JUST = 0.3  # seconds for which a memory is not asked for again: one call of ours may name it twice
_WHOLE = 100  # memories in a page from which on a program reads them, not a person: it gets their texts as well
_DOWN = 5.0  # seconds for which a server that could not be reached is left alone by reads
_MOST_LISTED = 500
_ALL_DAYS = 36_500
_SETTLING_MS = 60_000
CANNOT = {
    "scopes": "this server keeps memories of projects; leave `scope` out, or use `shared`",
    "users": "this server cannot keep the memories of users apart; take `user` out of the settings",
    "archive": "this server cannot set memories aside; leave `archive` out and they are removed, with 30 days to undo",
    "fields": "this server keeps text, title, agent and tags; the other fields are known on this machine alone",
    "kinds": "this server does not know kinds; only memories written here have one",
    "conflicts": "this server does not tell when two machines change a memory at once; the last one wins",
    "order": "this server lists memories by the time of their creation",
    "search": "this server searches text and title in its own way, not keys, tags and reasons",
    "ids": "this server chooses the ids of memories",
    "fading": "this server forgets by a curve of its own",
    "reinforcing": "this server counts every look at a memory in full as use",
}


_KEPT_BY_SECOND = frozenset({"fields", "kinds", "conflicts", "ids"})
_CHANGED = 412  # the status of a change that is meant for another revision


class RestStore:
    """A `Store` over the first API (see `keepmum.stores.base.Store` for what each method gives)."""

    def __init__(  # noqa: PLR0913 - what a server's store stands on, most of it by keyword
        self,
        server: Server,
        mirror: Store,
        box: Outbox,
        turn: Turn,
        *,
        connect: Callable[[Server], Api],
        drains: bool = False,
        trailer: bool = False,
        projects: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._drains = drains
        self._server = server
        self._trailer = trailer
        self._projects = dict(projects or {})
        self._mirror = mirror
        self._box = box
        self._connect = connect
        self._clock = clock
        self._opening = threading.Lock()
        self._api: Api | None = None
        self._learning = Learning(mirror)
        self._sender = Sender(lambda: self._reached, box)
        self._drainer = Drainer(box, server.origin, turn, self._sender.send, self._arrived)
        self._down_until = 0.0
        self._listed_at: dict[str | None, float] = {}
        self._loaded_at: dict[str, float] = {}
        self._caveat = ""
        self._problem = ""
        self._told: set[str] = set()
        if drains and server.key and box.waiting(server.origin):
            self._drainer.start()

    @property
    def capabilities(self) -> Capabilities:
        """What this store can promise just now."""
        inner = self._mirror.capabilities
        if not self._server.key:
            return Capabilities(writable=False, reason=self._server.no_key, cannot=CANNOT)
        cannot = {name: why for name, why in CANNOT.items() if not (self._is_full and name in _KEPT_BY_SECOND)}
        return Capabilities(writable=inner.writable, reason=inner.reason, cannot=cannot)

    @property
    def notice(self) -> str:
        """What the user should know: a key that is refused, writes that the server will not take, fields left out."""
        origin = self._server.origin
        paused, refused = self._box.paused(origin), self._box.refused(origin)
        parts = [self._mirror.notice, *sorted(self._told)]
        if paused:
            parts.append(f"nothing is sent to the server until this is mended, {self._waiting()}: {paused}")
        if refused:
            parts.append(f"{origin} refused {refused} writes that were queued; `keepmum outbox list` shows them")
        return " ".join(filter(None, parts))

    @property
    def caveat(self) -> str:
        """That the last answer was not the server's, and why."""
        return self._caveat

    @property
    def meaning(self) -> None:
        """Nothing: the server searches by meaning for itself."""
        return None

    @property
    def at_hand(self) -> Store:
        """What is known here of the server."""
        return self._mirror

    # -- writing

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Apply changes at the server, or queue them for it, and keep what the server cannot hold here."""
        return self._apply(changes, self._put, activity)

    def cleanse(self, changes: Sequence[Change], activity: Sequence[Activity], clean: Clean) -> list[str]:
        """Apply changes at the server and leave no byte of before here; what the server keeps of it is its own."""
        removed: list[str] = []

        def keep(settled: Sequence[Change], entries: Sequence[Activity]) -> None:
            removed.extend(self._mirror.cleanse(settled, entries, clean))

        self._apply(changes, keep, activity)
        return removed

    def reinforce(self, ids: Sequence[str], now: int) -> None:
        """Note it here; the server counted when it was asked for the text."""
        self._mirror.reinforce(ids, now)

    def log(self, activity: Sequence[Activity]) -> None:
        """Append to the activity log of this machine."""
        self._mirror.log(activity)

    def remember_root(self, root: str, project: str, name: str, now: int) -> None:
        """Note that `root` is a folder of `project`."""
        self._mirror.remember_root(root, project, name, now)

    def tick(self, now: int) -> int:
        """The time of the tick before this one."""
        return self._mirror.tick(now)

    def upkeep(self, now: int) -> None:
        """Tidy what is kept here, and look what is new at the server."""
        self._mirror.upkeep(now)
        with contextlib.suppress(StoreError):
            self._list(None, now, everywhere=True)

    # -- reading

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids, in that order, as they were last seen: the server is not asked again."""
        names = [self._box.name(one) for one in ids]
        seen = {memory.id: memory for memory in self._mirror.get(names)} | self._learning.held(names)
        return [seen[name] for name in names if name in seen]

    def between(self, first: str, last: str, limit: int) -> list[Memory]:
        """Memories by the beginning of an id among those known here; by a whole id, whatever the server has."""
        if first != last:
            if limit >= _WHOLE:
                self._list(None, time.time_ns() // 1_000_000, everywhere=True)
            self._learning.flush()
            found = self._mirror.between(first, last, limit)
            return self._whole(found) if limit >= _WHOLE else found
        kept = self._box.name(first)
        known = self._mirror.get([kept])
        if known and known[0].status != "active":
            return known
        return list(self._load([kept]).values())

    def by_key(self, space: str, key: str) -> Memory | None:
        """The active memory under a key, among those that were written here."""
        return self._still_there(self._mirror.by_key(space, key))

    def last_by_key(self, space: str, key: str) -> Memory | None:
        """The memory that held a key last, among those that were written here."""
        return self._mirror.last_by_key(space, key)

    def same_text(self, space: str, text: str) -> Memory | None:
        """The active memory with just this text, among those known here."""
        found = self._still_there(self._mirror.same_text(space, text))
        return found if found is not None and mapping.same_words(found.text, text) else None

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """What the server finds, with its scores; what is known here when it cannot be asked."""
        if not words or not _is_asked(wanted):
            return [] if not words else self._mirror.search(words, wanted, limit)
        return self._asking(
            lambda api: self._searched(api, words, wanted, limit),
            lambda: self._mirror.search(words, _here(wanted), limit),
        )

    def browse(self, wanted: Filter, *, order: Order = "updated", limit: int = 50, offset: int = 0) -> list[Memory]:
        """What is known here, after a look at what is new at the server."""
        if _is_asked(wanted):
            self._list(wanted.project, wanted.now, everywhere=wanted.everywhere)
        found = self._mirror.browse(_here(wanted), order=order, limit=limit, offset=offset)
        return self._whole(found) if limit >= _WHOLE else found

    def count(self, wanted: Filter) -> int:
        """How many memories are known here."""
        return self._mirror.count(_here(wanted))

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

    def roots(self, since: int) -> list[tuple[str, str, str]]:
        """The folders seen on this machine."""
        return self._mirror.roots(since)

    def health(self) -> dict[str, JsonValue]:
        """Facts for the doctor: what is kept here, and how the server answers."""
        facts = dict(self._mirror.health())
        origin = self._server.origin
        facts |= {"server": origin, "queued": self._box.waiting(origin), "refused": self._box.refused(origin)}
        try:
            collection, ready = self._reached.collection()
            facts |= {"reached": True, "collection": collection, "model_ready": ready}
        except StoreError as error:
            facts |= {"reached": False, "problem": str(error), "key_refused": isinstance(error, KeyRefused)}
        return facts

    def close(self) -> None:
        """Leave everything on disk and let go."""
        self._drainer.close()
        self._learning.close()
        if self._api is not None:
            self._api.close()
        self._box.close()
        self._mirror.close()

    # -- the server

    @property
    def _is_full(self) -> bool | None:
        """Whether the server takes whole memories; None while that is not known."""
        return None if self._api is None else self._api.is_full

    @property
    def _reached(self) -> Api:
        """The server's API; whatever has to be imported for it is imported now.

        Raises: StoreReadOnly when there is no key for it.
        """
        if not self._server.key:
            raise StoreReadOnly(self._server.no_key)
        with self._opening:
            if self._api is None:
                self._api = self._connect(self._server)
            return self._api

    def _asking(self, ask: Callable[[Api], _Answer], otherwise: Callable[[], _Answer]) -> _Answer:
        """The server's answer, or what is known here when it gives none, marked as that."""
        if self._clock() < self._down_until:
            return self._unasked(otherwise)
        try:
            answer = ask(self._reached)
        except StoreError as error:
            self._note_problem(error)
            return self._unasked(otherwise)
        if self._caveat:
            self._caveat = ""
            self._drainer.wake()
        return answer

    def _unasked(self, otherwise: Callable[[], _Answer]) -> _Answer:
        """What is known here, marked as that."""
        self._caveat = f"This is what was known here, not the server's answer: {self._problem}."
        self._learning.flush()
        return otherwise()

    def _note_problem(self, error: StoreError) -> None:
        """Remember why the server gave no answer, and leave it alone for a moment where that may pass."""
        self._problem = str(error)
        if isinstance(error, StoreUnavailable):
            self._down_until = self._clock() + _DOWN

    def _searched(self, api: Api, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        project = None if wanted.everywhere else self._name(wanted.project)
        tags = wanted.tags if wanted.all_tags or len(wanted.tags) == 1 else ()  # the server knows "all of these" alone
        found = api.search(" ".join(words), limit=limit, agent=wanted.agent, project=project, tags=tags)
        known = {one.id: one for one in self._mirror.get([mapping.memory_id(item.id) for item in found])}
        near, names = wanted.project, self._names()
        memories = [
            mapping.listed_memory(item, known.get(mapping.memory_id(item.id)),
                                  mapping.project_of(item.project, near, names), wanted.now)
            for item in found
        ]  # fmt: skip
        if _looks_inside(wanted) or limit >= _WHOLE:
            full = self._load([one.id for one in memories if not mapping.is_loaded(one)])
            memories = [full.get(one.id, one) for one in memories]
        else:
            self._learning.add(memories, known)
        scored = list(zip(memories, (item.score for item in found), strict=True))
        passed = [(one, score) for one, score in scored if mapping.fits(one, wanted)]
        return [*passed, *self._waiting_ones(words, wanted, {one.id for one, _ in passed}, limit)][:limit]

    def _waiting_ones(
        self, words: Sequence[str], wanted: Filter, found: set[str], limit: int
    ) -> list[tuple[Memory, float]]:
        """What was written here and has not arrived, so that a search right after a write finds it."""
        waiting = self._box.memories(self._server.origin) - found
        if not waiting:
            return []
        return [(one, score) for one, score in self._mirror.search(words, _here(wanted), limit) if one.id in waiting]

    def _list(self, near: str | None, now: int, *, everywhere: bool) -> None:
        """Learn what is new at the server, unless that was done just now."""
        project = None if everywhere else self._name(near)
        if self._clock() - self._listed_at.get(project, -_FRESH) < _FRESH:
            return
        self._listed_at[project] = self._clock()

        def ask(api: Api) -> None:
            found = api.recent(limit=_MOST_LISTED, days=_ALL_DAYS, project=project)
            known = {one.id: one for one in self._mirror.get([mapping.memory_id(item.id) for item in found])}
            names = self._names()
            memories = [
                mapping.listed_memory(item, known.get(mapping.memory_id(item.id)),
                                      mapping.project_of(item.project, near, names), now)
                for item in found
            ]  # fmt: skip
            self._learning.add(memories, known)
            self._learning.flush()
            if project is not None and len(found) < _MOST_LISTED:
                self._forget_the_rest(project, {one.id for one in memories}, now)

        self._asking(ask, lambda: None)

    def _forget_the_rest(self, project: str, there: set[str], now: int) -> None:
        """Forget what the server no longer lists; what was written just now it may not list yet."""
        for owner in {owner for owner, name in self._names().items() if name == project} | {project}:
            wanted = Filter(now=now, project=owner, scopes=("project", "shared"), until=now - _SETTLING_MS)
            known = {memory.id for memory in self._mirror.browse(wanted, limit=2 * _MOST_LISTED)}
            self._learning.forget(known - there - self._box.memories(self._server.origin))

    def _load(self, wanted: Sequence[str]) -> dict[str, Memory]:
        """These memories as the server has them now, by id; those it does not have are forgotten here."""
        waiting = self._box.memories(self._server.origin)
        at_hand = [one for one in wanted if one in waiting or self._is_fresh(one)]
        asked = [one for one in wanted if one not in at_hand]
        found = {memory.id: memory for memory in self._mirror.get(at_hand)}
        if not asked:
            return found

        def ask(api: Api) -> list[Memory]:
            loaded = api.load([ids.to_uuid(one) for one in asked])
            known = {one.id: one for one in self._mirror.get([mapping.memory_id(item.id) for item in loaded])}
            names, now = self._names(), time.time_ns() // 1_000_000
            memories = [
                mapping.loaded_memory(item, before, before.project or "" if before else
                                      mapping.project_of(item.project, None, names), now)
                for item in loaded
                for before in [known.get(mapping.memory_id(item.id))]
            ]  # fmt: skip
            self._learning.add(memories, known)
            self._learning.flush()
            self._learning.forget(set(asked) - {memory.id for memory in memories})
            self._loaded_at |= dict.fromkeys((memory.id for memory in memories), self._clock())
            return self._mirror.get([memory.id for memory in memories])

        found |= {memory.id: memory for memory in self._asking(ask, lambda: self._mirror.get(asked))}
        return found

    def _whole(self, found: Sequence[Memory]) -> list[Memory]:
        """These memories with their texts, as far as the server still has them and can be asked."""
        unread = {one.id for one in found if not mapping.is_loaded(one) and one.status == "active"}
        read = self._load(sorted(unread)) if unread else {}
        return [read.get(one.id, one) for one in found if one.id not in unread or one.id in read]

    def _still_there(self, memory: Memory | None) -> Memory | None:
        """A memory that is known here, as the server has it now; None when it is gone there."""
        return None if memory is None else self._load([memory.id]).get(memory.id)

    def _is_fresh(self, memory: str) -> bool:
        return self._clock() - self._loaded_at.get(memory, -_JUST) < _JUST

    # -- writing, step by step

    def _apply(
        self,
        changes: Sequence[Change],
        keep: Callable[[Sequence[Change], Sequence[Activity]], None],
        activity: Sequence[Activity],
    ) -> Receipt:
        if not self.capabilities.writable:
            raise StoreReadOnly(f"{self.capabilities.reason}. Nothing was stored.")
        self._learning.flush()
        self._check(changes)
        scribe = Scribe(
            self._server.origin,
            self._name,
            trailer=self._trailer and not self._is_full,
            full=self._is_full is not False,
        )
        given, queued = self._send(scribe.items(changes, time.time_ns() // 1_000_000))
        settled = [one for change in changes for one in _renamed(change, given)]
        keep(settled, [replace(event, memory=given.get(event.memory or "", event.memory)) for event in activity])
        self._note_dropped(changes)
        self._caveat = ""
        return Receipt(given, queued)

    def _check(self, changes: Sequence[Change]) -> None:
        """Nothing, when the server could hold these and nobody here was faster.

        Raises: Unsupported, StaleWrite.
        """
        for change in changes:
            if change.after is not None:
                _refuse_unsupported(change.after)
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
        waiting = self._box.memories(self._server.origin)
        for number, item in enumerate(items):
            held_up = item.memory in waiting or self._clock() < self._down_until
            try:
                if held_up:
                    return given, self._queue(items[number:], tried=False)
                server_id = self._sender.send(item)
            except StoreError as error:
                if getattr(error, "status", None) == _CHANGED:
                    self._loaded_at.pop(item.memory, None)
                    raise StaleWrite("the memory was changed at the server meanwhile") from None
                if not isinstance(error, StoreUnavailable):
                    raise
                self._note_problem(error)
                return given, self._queue(items[number:], tried=not error.sure)
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

    def _put(self, changes: Sequence[Change], activity: Sequence[Activity]) -> None:
        """Keep here what the server now has; what another process kept meanwhile gives way."""
        for _ in range(3):
            try:
                self._mirror.commit(changes, activity)
                break
            except StaleWrite:
                held = {one.id: one for one in self._mirror.get([one.id for one in map(_subject, changes)])}
                changes = [_onto(change, held.get(_subject(change).id)) for change in changes]
        for change in changes:
            self._loaded_at[_subject(change).id] = self._clock()

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
        lost = any(change.after is not None and mapping.dropped(change.after) for change in changes)
        if lost and self._is_full is False and not self._trailer:
            self._told.add(f"{self._server.origin}: {CANNOT['fields']} (backend.v1_trailer sends them in the text).")

    def _waiting(self) -> str:
        count = self._box.waiting(self._server.origin)
        return f"{count} writes wait" if count != 1 else "1 write waits"

    def _names(self) -> dict[str, str]:
        """The display names of the projects seen on this machine, by id."""
        return {project: name for _, project, name in self._mirror.roots(0) if name} | self._projects

    def _name(self, project: str | None) -> str:
        return mapping.project_name(project, self._names())


def _refuse_unsupported(memory: Memory) -> None:
    """Nothing, when the server can hold a memory of this state, scope and owner.

    Raises: Unsupported.
    """
    if memory.status in {"archived", "tombstoned"}:
        raise Unsupported(f"archive: {CANNOT['archive']}. Nothing was changed.")
    if memory.status == "active" and memory.scope in {"global", "session"}:
        raise Unsupported(f"scope: {CANNOT['scopes']}. Nothing was stored.")
    if memory.status == "active" and memory.user is not None:
        raise Unsupported(f"user: {CANNOT['users']}. Nothing was stored.")


def _is_asked(wanted: Filter) -> bool:
    """Whether the server can know of what is wanted: active memories of projects, of no user."""
    scopes = set(wanted.scopes)
    return "active" in wanted.statuses and wanted.user is None and (not scopes or bool(scopes & {"project", "shared"}))


def _looks_inside(wanted: Filter) -> bool:
    """Whether a filter needs more of a memory than a search tells."""
    return bool(
        wanted.kinds
        or wanted.keys
        or wanted.tier
        or wanted.since
        or wanted.until
        or (len(wanted.tags) > 1 and not wanted.all_tags)
    )


def _here(wanted: Filter) -> Filter:
    """A filter for the mirror, where what the server has of a project may stand under either scope."""
    return replace(wanted, scopes=("project", "shared")) if {"project", "shared"} & set(wanted.scopes) else wanted


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
