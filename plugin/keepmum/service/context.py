"""What every part of the service works with: the store, the place, the scanner, the log and what may be shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, TypeVar

from keepmum.core import lifecycle, masking, ranking, serialization, validation
from keepmum.core.errors import Ambiguous, KeepmumError, ScannerFailed, SecretFound
from keepmum.core.memory import (
    KINDS,
    LIMITS,
    SCOPES,
    Action,
    Activity,
    Change,
    Filter,
    JsonValue,
    Memory,
    Scope,
    Status,
    Tier,
    space_of,
)
from keepmum.embedding.background import BackgroundEmbedder
from keepmum.service import references
from keepmum.service.activity_log import Journal
from keepmum.service.briefing_files import BriefingFiles
from keepmum.service.embedding import Embeddings
from keepmum.stores import Receipt, StaleWrite, Store
from keepmum.stores.base import known_folders, local

__all__ = ["Context", "Place", "Wanted"]

_ATTEMPTS = 12  # against other processes that change the same memory at the same moment
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
    project: str | None  # the name or id of one project, instead of the one here
    keys: str | None  # a pattern that the key must fit (`keepmum.core.keys`)
    tier: Tier | None


class Context:
    """One agent at one place, over one store; the parts of the service build on it."""

    def __init__(  # noqa: PLR0913 - what a service depends on, all by keyword
        self,
        store: Store,
        scan: validation.Scan,
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
        embedder: BackgroundEmbedder | None = None,
        patient: bool = False,
        basis: object = None,
    ) -> None:
        """`embedder` finds memories by meaning; `patient` callers wait for it rather than go on by words.

        `basis` is the caller's, who knows by it what the service was made of.
        """
        self.store = store
        self.basis = basis
        self._embeddings = Embeddings(store, embedder, patient=patient)
        self.place = place or Place()
        self._visiting = False  # whether the place is that of another for a while
        self._scan = scan
        self._agent = validation.clean("agent", agent, LIMITS.name, one_line=True) or "unknown"
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
            validation.refuse_secrets({"agent": agent}, scan)
        except ScannerFailed:  # no text will be kept, but memories can still be listed and forgotten
            self._agent = "unknown"
        self._journal = Journal(store, self._agent, clock)

    def _filter(self, wanted: Wanted | None = None) -> Filter:
        place, given = self.place, wanted or {}
        scope = given.get("scope")
        named = given.get("project")
        return Filter(
            now=self._clock(),
            project=self.project_id(named),
            session=place.session,
            user=place.user,
            # Who stands in no project looks at all of them.
            everywhere=scope == "all" or (scope is None and named is None and place.project is None),
            scopes=_scopes(scope, named),
            kinds=tuple(validation.one_of("kinds", kind, KINDS) for kind in given.get("kinds", ())),
            tags=validation.clean_tags(given.get("tags", ())),
            all_tags=given.get("all_tags", False),
            agent=given.get("agent"),
            since=given.get("since"),
            until=given.get("until"),
            statuses=given.get("statuses", ("active",)),
            keys=given.get("keys"),
            tier=given.get("tier"),
        )

    @property
    def agent(self) -> str:
        """Who reads and writes here, as memories and the log name it."""
        return self._agent

    def project_id(self, name: str | None) -> str | None:
        """The id of the project that goes by `name`: the one here, the only one seen that is called so, or the name."""
        if name in {None, self.place.name, self.place.project}:
            return self.place.project
        seen = {owner for _, owner, called in known_folders(self.store) if called == name}
        return seen.pop() if len(seen) == 1 else name

    def _find(self, reference: str) -> Memory:
        """As `find`, with every word that is kept."""
        return self._resolved(references.resolve, reference)

    def _former(self, reference: str) -> Memory:
        """As `find`, and by the key that a memory gave up, too."""
        return self._resolved(references.resolve_former, reference)

    def _resolved(self, resolve: Resolve, reference: str) -> Memory:
        word = validation.clean("id", reference, LIMITS.key, one_line=True)
        spaces = [space_of(scope, self.place.project, self.place.session, self.place.user) for scope in SCOPES]
        try:
            return resolve(self.store, word, spaces, self.place.user, self._clock())
        except Ambiguous as error:  # it names memories
            raise Ambiguous(self._masker.text(str(error))) from None

    def _named(self, references: Sequence[str]) -> list[Memory]:
        return list({memory.id: memory for memory in map(self._find, references)}.values())

    def _shown(self, memories: Sequence[Memory]) -> tuple[Memory, ...]:
        return tuple(map(self._masker.memory, memories))

    def _change(self, memory: Memory, status: Status | None, now: int) -> Change:
        """The change that gives a memory another status, or removes it."""
        return Change(memory, None if status is None else lifecycle.with_status(memory, status, now, self._agent))

    def _entry(self, action: Action, memory: Memory) -> Activity:
        """The entry of a change; a title that holds a secret gets into no log."""
        return self._journal.entry(action, self._masker.memory(memory))

    def _refuse_secrets(self, raw: Mapping[str, JsonValue], memory: Memory) -> None:
        """Scan what was sent and what would be kept: cleaning may hide a secret from one of the two."""
        try:
            validation.refuse_secrets(raw, self._scan)
            validation.refuse_secrets(serialization.texts(memory), self._scan)
        except SecretFound as refusal:
            self._journal.hold_back(self._refusal(refusal))
            raise
        except ScannerFailed:
            self._journal.hold_back(self._journal.entry("refused", detail="the scanner failed"))
            raise

    def _refusal(self, refusal: SecretFound) -> Activity:
        rules = ", ".join(sorted({rule for _, rule, _ in refusal.places}))
        return self._journal.entry("refused", detail=rules, project=self.place.project or "")

    def _note_masked(self, shown: Memory, rules: str) -> None:
        """Log that a memory was masked, by rules and id."""
        self._journal.hold_back(self._journal.entry("masked", shown, f"where it is shown: {rules}"))

    def _commit(self, changes: Sequence[Change], *entries: Activity) -> Receipt:
        """One transaction, and the briefings brought up to date with it."""
        receipt = self._journal.commit([self._embedded(change) for change in changes], entries)
        touched = [memory for change in changes for memory in (change.before, change.after) if memory is not None]
        for project in {None if memory.scope == "global" else memory.project for memory in touched}:
            self._refresh(project)
        return receipt

    def _embedded(self, change: Change) -> Change:
        """A change with the vector of what is new in it, made before the transaction and not inside, or not yet."""
        before, after = change.before, change.after
        if after is None or (before is not None and ranking.embedding_text(before) == ranking.embedding_text(after)):
            return change
        return replace(change, embedding=self._embeddings.of_new(after))

    def _refresh(self, project: str | None) -> None:
        if self._briefings is not None and not self._visiting:
            self._briefings.refresh(local(self.store), self._clock(), project, self.place.user)

    def _retrying(self, attempt: Callable[[], _Answer]) -> _Answer:
        """Decide again on fresh facts when another process was faster."""
        for _ in range(_ATTEMPTS):
            try:
                return attempt()
            except StaleWrite:
                continue
        raise KeepmumError("other agents keep changing this memory; nothing was stored, try again")


def _scopes(scope: str | None, project: str | None) -> tuple[Scope, ...]:
    """The scopes that a read looks into; none for all of them. A project that was named is what is looked into."""
    if scope in {None, "all"}:
        return () if project is None else ("project", "shared")
    return (validation.one_of("scope", scope or "", SCOPES),)
