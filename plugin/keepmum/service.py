"""The one door to the memory: every write is cleaned, held to its limits and scanned here before a store sees it.

Callers get values and typed errors; what a model or a person is shown is made in `keepmum.briefing`.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypedDict, TypeVar, Unpack

from keepmum import briefing, exchange, ids, intake, lifecycle, masking, ranking, references, retention
from keepmum.briefing_files import BriefingFiles, discard, told
from keepmum.errors import (
    Ambiguous,
    ConfirmationNeeded,
    InvalidInput,
    KeepmumError,
    NotFound,
    ScannerFailed,
    SecretFound,
    StoreError,
)
from keepmum.journal import Journal
from keepmum.memory import (
    KINDS,
    LIMITS,
    SCOPES,
    STATUSES,
    Action,
    Activity,
    Change,
    Filter,
    JsonValue,
    Match,
    Memory,
    Order,
    Revision,
    Scope,
    Status,
    default_tier,
    space_of,
)
from keepmum.stores import STORES, StaleWrite, Store

TYPE_CHECKING = False

__all__ = ["Forgotten", "MemoryService", "Place", "Remembered", "Wanted", "open_service"]

_ATTEMPTS = 12  # against other processes that change the same memory at the same moment
_CANDIDATES = 50  # of the full-text leg, from which the ranking picks
_SWEPT_AT_ONCE = 500
_ADOPTED_AT_ONCE = 10_000
_UNNAMED = "path:"  # how the id of a project begins that has neither a remote nor a chosen name
_WORTH_TELLING: frozenset[Action] = frozenset({"created", "updated", "conflict", "superseded", "restored", "imported"})
if TYPE_CHECKING:
    from keepmum.audit import Report as AuditReport

_Answer = TypeVar("_Answer")
Resolve = Callable[[Store, str, Sequence[str], str | None, int], Memory]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a service stands: the project, session and user that its reads and writes belong to."""

    project: str | None = None  # the project's id
    name: str = ""  # the project's display name
    root: str | None = None
    session: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """The answer to a write: the memory as it is kept, and what that did."""

    memory: Memory
    action: Action | None  # None: the very same was kept already, and nothing was written
    previous: Memory | None = None  # what it replaced, if anything


class Wanted(TypedDict, total=False):
    """Which memories a read looks at; what is not given lets everything through."""

    kinds: Sequence[str]
    tags: Sequence[str]
    all_tags: bool
    scope: str | None  # one of the scopes, or `all` for every project
    agent: str | None
    since: int | None
    until: int | None
    statuses: tuple[Status, ...]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The answer to forgetting: what was removed, or in a dry run would be."""

    memories: tuple[Memory, ...]
    action: Action
    done: bool
    confirmation: str = ""  # what to send back to have just these removed


def open_service(path: str, scan: intake.Scan, *, backend: str = "sqlite", **context: Any) -> MemoryService:
    """A service over the store at `path`; `context` is passed on to `MemoryService`.

    Raises: StoreError when the store can be neither read nor made.
    """
    store = STORES[backend](path)
    try:
        return MemoryService(store, scan, **context)
    except BaseException:
        store.close()
        raise


class MemoryService:
    """Remembers, finds, shows and forgets memories, for one agent in one place."""

    def __init__(  # noqa: PLR0913 - what a service depends on, all by keyword
        self,
        store: Store,
        scan: intake.Scan,
        *,
        place: Place | None = None,
        agent: str = "unknown",
        origin: str = "mcp",
        default_scope: Scope = "project",
        policy: str = "ebbinghaus",
        home: str | None = None,
        briefing_tokens: int = 1000,
        notices: Callable[[], Sequence[str]] = tuple,
        checked_out: Callable[[str], Mapping[str, JsonValue] | None] = lambda _: None,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self.store = store
        self.place = place or Place()
        self._scan = scan
        self._agent = intake.clean("agent", agent, LIMITS.name, one_line=True) or "unknown"
        self._origin = origin
        self._default_scope: Scope = default_scope
        self._policy = policy
        self._home = home
        self._masker = masking.Masker(scan, self._note_masked)
        self._briefings = (
            BriefingFiles(home, briefing_tokens, self._masker.memory) if home and briefing_tokens else None
        )
        self._clock = clock
        self._notices = notices
        self._checked_out = checked_out  # branch and commit of a folder
        try:
            intake.refuse_secrets({"agent": agent}, scan)
        except ScannerFailed:  # no text will be kept, but memories can still be listed and forgotten
            self._agent = "unknown"
        self._journal = Journal(store, self._agent, clock)

    # -- writing

    def remember(self, text: str, *, supersedes: str | None = None, **fields: Unpack[intake.Fields]) -> Remembered:
        """Keep a memory: a new one, or a new value of the one under `key`; fields not given stay as they are.

        Raises: InvalidInput, SecretFound, NotFound (for `supersedes`), StoreError. Nothing is stored in part.
        """
        now = self._clock()
        if fields.get("tags"):
            fields["tags"] = tuple(fields["tags"] or ())  # an iterator would be used up by the first look
        draft = intake.revise(self._blank(now), text, fields)
        self._refuse_secrets({"text": text, "supersedes": supersedes, **_texts(fields)}, draft)
        kept = self._retrying(lambda: self._keep(text, fields, self._find(supersedes) if supersedes else None, now))
        return self._answer(kept)

    def restore(self, reference: str) -> Remembered:
        """Bring back a memory that was archived, trashed, superseded or tombstoned.

        Raises: NotFound, InvalidInput when it is active or another memory has taken its key meanwhile.
        """
        memory = self._former(reference)
        return self._answer(self._retrying(lambda: self._restore(self._find(memory.id))))

    def undo(self, reference: str) -> Remembered:
        """Take back the last change of a memory, be it a new value or a removal.

        Raises: NotFound, InvalidInput when there is nothing to take back.
        """
        memory = self._former(reference)
        if not memory.is_visible(self._clock()):
            return self.restore(memory.id)
        past = self.store.history(memory.id)
        if not past:
            raise InvalidInput("id", f"{memory.id} has never been changed; `forget` removes it")
        return self._answer(self._retrying(lambda: self._revert(self._find(memory.id), past[0])))

    def forget(  # noqa: PLR0913 - each way of saying what to forget is one keyword
        self,
        references: Sequence[str] = (),
        *,
        query: str | None = None,
        tags: Sequence[str] = (),
        older_than: int | None = None,
        mode: str = "trash",
        dry_run: bool = False,
        confirmation: str | None = None,
    ) -> Forgotten:
        """Remove memories: those named at once, those searched for only after they were listed and confirmed.

        `mode` is `archive` (no longer found unasked), `trash` (gone after 30 days) or `purge` (gone now).

        Raises: NotFound, Ambiguous, InvalidInput; ConfirmationNeeded when the confirmation is of another list.
        """
        intake.one_of("mode", mode, tuple(lifecycle.MODES))
        named = bool(references)
        if not (named or query or tags or older_than is not None):
            raise InvalidInput("id", "is missing; name a memory, or give a query, tags or an age")
        status, action = lifecycle.MODES[mode]
        found = self._named(references) if named else self._searched(query, tags, older_than)
        victims = [memory for memory in found if memory.status != status]
        token = hashlib.blake2b("".join(sorted(memory.id for memory in victims)).encode(), digest_size=4).hexdigest()
        if confirmation is not None and confirmation != token:
            raise ConfirmationNeeded(
                "confirm: the list of memories has changed since it was shown; nothing was removed. List it again."
            )
        if dry_run or not victims or not (named or confirmation):
            return Forgotten(self._shown(victims), action, done=False, confirmation=token)
        self._retrying(lambda: self._remove([self._find(memory.id) for memory in victims], status, action))
        return Forgotten(self._shown(victims), action, done=True)

    def import_memory(self, values: Mapping[str, JsonValue]) -> Remembered:
        """Keep an exported memory under its own id, times and history of use; one that is here already stays.

        Raises: InvalidInput, SecretFound, StoreError.
        """
        incoming = exchange.parse(values)
        self._refuse_secrets(exchange.texts(incoming), incoming)
        present = self.store.get([incoming.id])
        if present:
            return self._answer(Remembered(present[0], None))
        try:
            self._commit([Change(None, incoming)], self._journal.entry("imported", incoming))
        except StaleWrite:
            raise InvalidInput("key", "is in use by another memory here; rename one of the two") from None
        return Remembered(incoming, "imported")

    # -- reading

    def recall(
        self,
        query: str | None = None,
        *,
        limit: int = 10,
        offset: int = 0,
        order: Order = "updated",
        **wanted: Unpack[Wanted],
    ) -> list[Match]:
        """The memories that fit best, best first; without a query those that pass the filters, latest first.

        Nothing is reinforced by being found.

        Raises: InvalidInput, StoreError.
        """
        text = intake.clean("query", query or "", LIMITS.query)
        looked_at = self._filter(wanted)
        if not text:
            found = self.store.browse(looked_at, order=order, limit=limit, offset=offset)
            return [Match(self._masker.memory(memory), 0.0, "latest") for memory in found]
        candidates = self.store.search(ranking.terms(text), looked_at, max(_CANDIDATES, limit + offset))
        ranked = ranking.rank(candidates, looked_at)[offset : offset + limit]
        matches = [replace(match, memory=self._masker.memory(match.memory)) for match in ranked]
        self._journal.hold_back(self._query(text, len(matches)))
        return matches

    def load(self, references: Sequence[str]) -> list[Memory]:
        """These memories in full, and note that they were used: the only read that reinforces.

        Raises: NotFound, Ambiguous naming the reference.
        """
        memories, now = self._named(references), self._clock()
        for memory in memories:
            if memory.status == "active" and not memory.is_visible(now):
                raise NotFound(f"{memory.id} has expired; `forget` with `undo` brings it back")
        if self.store.capabilities.writable:
            with contextlib.suppress(StoreError):  # a full disk must not keep anyone from reading
                self.store.reinforce([memory.id for memory in memories], now)
        shown = [self._masker.memory(memory) for memory in memories]
        self._journal.hold_back(*(self._journal.entry("loaded", memory) for memory in shown))
        return shown

    def find(self, reference: str) -> Memory:
        """The one memory that goes by a key, an id in either spelling, or the beginning of an id.

        Raises: NotFound, Ambiguous.
        """
        return self._masker.memory(self._find(reference))

    def resume(self, tokens: int = 1000) -> str:
        """What is needed to go on with this project, in at most `tokens`; empty when nothing is known."""
        memories = self._told()
        events = self.store.activity(50, self.place.project)
        lately = [event for event in events if event.action in _WORTH_TELLING][:5]
        return briefing.resume(self.place.name, memories, [self._masker.activity(event) for event in lately], tokens)

    def brief(self, tokens: int = 1000) -> str:
        """The index of what a session should know from its start, in at most `tokens`."""
        memories = self._told()
        return briefing.brief(self.place.name, memories, tokens)

    def history(self, reference: str) -> list[Revision]:
        """What a memory was before each change, latest first."""
        return [self._masker.revision(past) for past in self.store.history(self._find(reference).id)]

    def activity(self, limit: int = 50) -> list[Activity]:
        """Who did what here lately, latest first."""
        self._journal.flush()
        return [self._masker.activity(event) for event in self.store.activity(limit, self.place.project)]

    def every(self, *, everywhere: bool = False, page: int = 200) -> Iterator[Memory]:
        """Every memory that is neither trashed nor superseded, for an export."""
        wanted = replace(self._filter({"statuses": ("active", "archived", "tombstoned")}), everywhere=everywhere)
        offset = 0
        while found := self.store.browse(wanted, order="created", limit=page, offset=offset):
            yield from map(self._masker.memory, found)
            offset += len(found)

    def count(self) -> int:
        """How many memories a recall here looks through."""
        return self.store.count(self._filter())

    # -- upkeep

    def settle(self) -> None:
        """Make this place known, and render its briefing."""
        root, project = self.place.root, self.place.project
        if self.store.capabilities.writable and root and project:
            self._adopt(root, project)
            self.store.remember_root(root, project, self.place.name, self._clock())
            self._refresh(project)

    def upkeep(self) -> None:
        """What is to be done now and then: let time pass, back up, prune the log."""
        if self.store.capabilities.writable:
            self.sweep()
            self.store.upkeep(self._clock())

    def notices(self) -> list[str]:
        """What a user should know: settings that have no effect, a store that is read-only or was repaired."""
        return [
            notice
            for notice in (*self._notices(), self._masker.notice, self.store.capabilities.reason, self.store.notice)
            if notice
        ]

    def now(self) -> int:
        """The time by this service's clock."""
        return self._clock()

    def sweep(self) -> int:
        """Trash what has expired, lay down what has faded, purge what was in the trash for 30 days; how many.

        Nothing is done in a sweep that sees the clock more than a day away from the sweep before: a clock that
        jumped must not cost a memory, and the next sweep will do the work.
        """
        now = self._clock()
        if not 0 <= now - self.store.tick(now) <= retention.DAY_MS:
            return 0
        trashed_by = now - lifecycle.TRASH_DAYS * retention.DAY_MS
        fading = self.store.fading(now, trashed_by, _SWEPT_AT_ONCE)
        steps = [step for memory in fading if (step := self._aged(memory, now)) is not None]
        if not steps:
            return 0
        try:
            self._commit([change for change, _ in steps], *(entry for _, entry in steps))
        except StaleWrite:
            return 0  # somebody is at work on these: the next sweep
        return len(steps)

    def audit(self, progress: Callable[[int], None] = lambda _: None) -> AuditReport:
        """What the rules of today find in the whole store, whatever its status or project.

        Raises: StoreError, ScannerFailed.
        """
        from keepmum import audit  # seldom wanted, and no server needs it to start

        self._journal.flush()
        return audit.survey(self.store, self._scan, progress)

    def cleanse(self, report: AuditReport, *, purge: bool) -> list[str]:
        """Take out of the store for good what an audit found, or the memories that hold it; the copies removed.

        Raises: StaleWrite when a memory was changed meanwhile, StoreError, ScannerFailed.
        """
        from keepmum import audit

        removed = audit.cleanse(self.store, self._scan, report, self._agent, self._clock(), purge=purge)
        if self._home:
            discard(self._home)
        self._refresh(None)
        return removed

    def health(self) -> dict[str, JsonValue]:
        """Facts about the store for the doctor."""
        return self.store.health()

    def close(self) -> None:
        """Leave everything on disk and let go."""
        with contextlib.suppress(StoreError):
            self._journal.flush()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- how it is done

    def _adopt(self, root: str, project: str) -> None:
        """Take along what was kept while this folder had no name but its path, before its first remote."""
        former = next((known for folder, known, _ in self.store.roots(0) if folder == root), project)
        if former == project or not former.startswith(_UNNAMED):
            return
        now = self._clock()
        wanted = Filter(now=now, project=former, user=self.place.user, scopes=("project", "shared"), statuses=STATUSES)
        changes = []
        for memory in self.store.browse(wanted, limit=_ADOPTED_AT_ONCE):
            moved = replace(lifecycle.touched(memory, now, self._agent), project=project)
            if moved.key and self.store.by_key(moved.space, moved.key) is not None:
                moved = replace(moved, key=None)  # the name is taken; the memory is found by what it says
            changes.append(Change(memory, moved))
        with contextlib.suppress(StaleWrite):  # another session of this folder is doing the same
            self._commit(changes)

    def _blank(self, now: int) -> Memory:
        scope = self._default_scope
        return Memory(
            id=ids.new_id(now), text="", title=intake.title_of(""), kind="note", tier=default_tier("note"),
            scope=scope, project=self.place.project, session=self.place.session, user=self.place.user,
            agent=self._agent, origin=self._origin, git=self._git(), created_at=now, updated_at=now,
            created_by=self._agent, updated_by=self._agent,
        )  # fmt: skip

    def _git(self) -> Mapping[str, JsonValue] | None:
        """What is checked out here, as a memory carries it."""
        return self._checked_out(self.place.root) if self.place.root else None

    def _keep(self, text: str, fields: intake.Fields, old: Memory | None, now: int) -> Remembered:
        if old is not None and old.key and old.status == "active" and not fields.get("key"):
            fields = {**fields, "key": old.key}
        new = _placed(intake.revise(self._blank(now), text, fields))
        present = self._present(new, now)
        if present is None or (old is not None and present.id == old.id):
            return self._commit_new(new, None, old, now)
        base = replace(lifecycle.touched(present, now, self._agent), git=self._git())
        after = _placed(intake.revise(base, text, fields))
        if lifecycle.says_the_same(after, present) and fields.get("ttl_seconds") is None:
            return Remembered(present, None)
        return self._commit_new(after, present, old, now)

    def _present(self, new: Memory, now: int) -> Memory | None:
        """The memory that a write is a new value of: the one under its key, or one that says just the same."""
        holder = self.store.by_key(new.space, new.key) if new.key else None
        if holder is not None and not holder.is_visible(now):
            self._commit([self._change(holder, "trashed", now)])  # it has expired and gives its key up
            holder = None
        twin = None if holder else self.store.same_text(new.space, new.text)
        if twin is not None and twin.is_visible(now) and not (new.key and twin.key):
            return twin
        return holder

    def _commit_new(self, after: Memory, present: Memory | None, old: Memory | None, now: int) -> Remembered:
        action: Action = "created"
        if present is not None:
            foreign = present.updated_by != self._agent and present.text != after.text
            action = "conflict" if foreign and after.key else "updated"
        changes, entries = [], []
        if old is not None and old.id != after.id:
            after = replace(after, supersedes=old.id)
            changes.append(
                Change(old, replace(lifecycle.with_status(old, "superseded", now, self._agent), superseded_by=after.id))
            )
            entries.append(self._entry("superseded", old))
        changes.append(Change(present, after))
        entries.append(self._entry(action, after))
        self._commit(changes, *entries)
        return Remembered(after, action, present or old)

    def _restore(self, memory: Memory) -> Remembered:
        now = self._clock()
        if memory.is_visible(now):
            raise InvalidInput("id", f"{memory.id} is active already")
        after = replace(
            lifecycle.with_status(memory, "active", now, self._agent),
            trashed_at=None,
            superseded_by=None,
            expires_at=None,
        )
        return self._bring_back(memory, after)

    def _revert(self, memory: Memory, past: Revision) -> Remembered:
        before = exchange.parse(past.before)
        now = self._clock()
        after = replace(before, updated_at=now, updated_by=self._agent, revision=memory.revision + 1)
        self._refuse_secrets(exchange.texts(after), after)
        return self._bring_back(memory, after)

    def _bring_back(self, memory: Memory, after: Memory) -> Remembered:
        """Put a memory back as `after`, with its key when no other memory has taken that."""
        changes = [Change(memory, after)]
        holder = self.store.by_key(after.space, after.key) if after.key else None
        if holder is not None and holder.id != after.id:
            if holder.is_visible(after.updated_at):
                raise InvalidInput(
                    "key", f"{self._masker.text(after.key or '')!r} is now held by {holder.id}; forget that one first"
                )
            changes.insert(0, self._change(holder, "trashed", after.updated_at))  # it has expired
        self._commit(changes, self._entry("restored", after))
        return Remembered(after, "restored", memory)

    def _find(self, reference: str) -> Memory:
        """As `find`, with every word that is kept."""
        return self._resolved(references.resolve, reference)

    def _former(self, reference: str) -> Memory:
        """As `find`, and by the key that a memory gave up, too."""
        return self._resolved(references.resolve_former, reference)

    def _resolved(self, resolve: Resolve, reference: str) -> Memory:
        word = intake.clean("id", reference, LIMITS.key, one_line=True)
        spaces = [space_of(scope, self.place.project, self.place.session, self.place.user) for scope in SCOPES]
        try:
            return resolve(self.store, word, spaces, self.place.user, self._clock())
        except Ambiguous as error:  # it names memories
            raise Ambiguous(self._masker.text(str(error))) from None

    def _named(self, references: Sequence[str]) -> list[Memory]:
        return list({memory.id: memory for memory in map(self._find, references)}.values())

    def _searched(self, query: str | None, tags: Sequence[str], older_than: int | None) -> list[Memory]:
        """Everything that a bulk removal means, not the best few: a query must match in every word."""
        wanted = self._filter({"tags": tags, "all_tags": True, "until": older_than})
        if not query:
            return self.store.browse(wanted, limit=1000)
        words = set(ranking.terms(intake.clean("query", query, LIMITS.query)))
        found = self.store.search(sorted(words), wanted, 1000)
        return [m for m, _ in found if words <= set(ranking.terms(f"{m.title}\n{m.text}\n{m.key or ''}", limit=None))]

    def _remove(self, victims: Sequence[Memory], status: Status | None, action: Action) -> None:
        now = self._clock()
        changes = [self._change(memory, status, now) for memory in victims]
        self._commit(changes, *(self._entry(action, memory) for memory in victims))

    def _aged(self, memory: Memory, now: int) -> tuple[Change, Activity] | None:
        """What time does to a memory, if anything."""
        fate = lifecycle.aged(memory, now, self._policy)
        if fate is None:
            return None
        if fate == "tombstone":
            return self._change(memory, "tombstoned", now), self._entry("tombstoned", memory)
        status, action = lifecycle.MODES[fate]
        return self._change(memory, status, now), self._entry(action, memory)

    def _change(self, memory: Memory, status: Status | None, now: int) -> Change:
        """The change that gives a memory another status, or removes it."""
        return Change(memory, None if status is None else lifecycle.with_status(memory, status, now, self._agent))

    def _filter(self, wanted: Wanted | None = None) -> Filter:
        place, given = self.place, wanted or {}
        scope = given.get("scope")
        return Filter(
            now=self._clock(),
            project=place.project,
            session=place.session,
            user=place.user,
            everywhere=scope == "all",
            scopes=() if scope in {None, "all"} else (intake.one_of("scope", scope or "", SCOPES),),
            kinds=tuple(intake.one_of("kinds", kind, KINDS) for kind in given.get("kinds", ())),
            tags=intake.clean_tags(given.get("tags", ())),
            all_tags=given.get("all_tags", False),
            agent=given.get("agent"),
            since=given.get("since"),
            until=given.get("until"),
            statuses=given.get("statuses", ("active",)),
        )

    def _refuse_secrets(self, raw: Mapping[str, JsonValue], memory: Memory) -> None:
        """Scan what was sent and what would be kept: cleaning may hide a secret from one of the two."""
        try:
            intake.refuse_secrets(raw, self._scan)
            intake.refuse_secrets(exchange.texts(memory), self._scan)
        except SecretFound as refusal:
            self._journal.hold_back(self._refusal(refusal))
            raise
        except ScannerFailed:
            self._journal.hold_back(self._journal.entry("refused", detail="the scanner failed"))
            raise

    def _entry(self, action: Action, memory: Memory) -> Activity:
        """The entry of a change; a title that holds a secret gets into no log."""
        return self._journal.entry(action, self._masker.memory(memory))

    def _note_masked(self, shown: Memory, rules: str) -> None:
        """Log that a memory was masked, by rules and id."""
        self._journal.hold_back(self._journal.entry("refused", shown, f"masked where it is shown: {rules}"))

    def _told(self) -> list[Memory]:
        """What a session should know of, as it may be shown."""
        found = told(self.store, self._clock(), self.place.project, self.place.user)
        return [self._masker.memory(memory) for memory in found]

    def _shown(self, memories: Sequence[Memory]) -> tuple[Memory, ...]:
        return tuple(map(self._masker.memory, memories))

    def _answer(self, kept: Remembered) -> Remembered:
        """An answer to a write as it may be shown: what it replaced may be older than the rules."""
        previous = kept.previous and self._masker.memory(kept.previous)
        return replace(kept, memory=self._masker.memory(kept.memory), previous=previous)

    def _refusal(self, refusal: SecretFound) -> Activity:
        rules = ", ".join(sorted({rule for _, rule, _ in refusal.places}))
        return self._journal.entry("refused", detail=rules, project=self.place.project or "")

    def _query(self, query: str, found: int) -> Activity:
        """The entry of a search, without its words when they look like a secret."""
        try:
            words = (
                "a query that was not kept, it looked like a secret" if intake.findings(query, self._scan) else query
            )
        except ScannerFailed:
            words = "a query that was not kept, the scanner failed"
        return self._journal.entry("recalled", detail=f"{words} ({found} found)", project=self.place.project or "")

    def _commit(self, changes: Sequence[Change], *entries: Activity) -> None:
        """One transaction, and the briefings brought up to date with it."""
        self._journal.commit(changes, entries)
        touched = [memory for change in changes for memory in (change.before, change.after) if memory is not None]
        for project in {None if memory.scope == "global" else memory.project for memory in touched}:
            self._refresh(project)

    def _refresh(self, project: str | None) -> None:
        if self._briefings is not None:
            self._briefings.refresh(self.store, self._clock(), project, self.place.user)

    def _retrying(self, attempt: Callable[[], _Answer]) -> _Answer:
        """Decide again on fresh facts when another process was faster."""
        for _ in range(_ATTEMPTS):
            try:
                return attempt()
            except StaleWrite:
                continue
        raise KeepmumError("other agents keep changing this memory; nothing was stored, try again")


def _texts(fields: intake.Fields) -> dict[str, JsonValue]:
    """The fields of a write that may hold text, as they were sent."""
    sent: dict[str, Any] = dict(fields)
    return sent | {"tags": list(sent.get("tags") or ())}


def _placed(memory: Memory) -> Memory:
    """`memory` without a project when it belongs to all of them."""
    return replace(memory, project=None) if memory.scope == "global" else memory
