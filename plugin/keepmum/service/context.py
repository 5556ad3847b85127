"""The frozen value that every part of the service works on: store, scanner, masker, log and where the session is."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from keepmum.core import lifecycle, masking, ranking, serialization, validation
from keepmum.core.errors import KeepmumError, ScannerFailed, SecretFound
from keepmum.core.memory import (
    LIMITS,
    Action,
    Activity,
    Change,
    JsonValue,
    Memory,
    Revision,
    Scope,
    Status,
    Trust,
)
from keepmum.embedding.background import BackgroundEmbedder
from keepmum.service.activity_log import ActivityLog
from keepmum.service.briefing_files import BriefingFiles, briefed
from keepmum.service.citations import Citations
from keepmum.service.embeddings import Embeddings
from keepmum.service.near_memories import NearMemories
from keepmum.service.sizes import Counted, Sizes
from keepmum.stores import Receipt, StaleWrite, Store
from keepmum.stores.base import caveat, cut, local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.core.citations.freshness import Freshness

__all__ = ["OpenedWith", "Place", "ServiceContext", "ServiceOptions"]

_ATTEMPTS = 12  # writes of one change before giving up, when other processes keep changing the same memory
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The project, session and user of all reads and writes."""

    project: str | None = None  # the project's id
    name: str = ""  # the project's display name
    root: str | None = None  # the project's folder
    session: str | None = None
    user: str | None = None


class OpenedWith(NamedTuple):
    """What cannot change while a service is open; when it differs, another service must be opened."""

    kind: str  # of the store
    baseline: str  # folder of the scanner's second opinion; empty without one
    settings: tuple[object, ...]


class ServiceOptions(NamedTuple):
    """How a service is set up."""

    place: Place = Place()
    agent: str = "unknown"
    actor: str = ""  # who is named as author, in history and in the log; by default the agent
    origin: str = "mcp"  # the channel that memories name: mcp, cli, import, library
    trust: Trust = "agent"  # of what is written through this service; decided by the entry point
    quiet: bool = False  # whether showing a memory logs nothing, not even that a secret in it was masked
    curates: Callable[[str | None], bool] = lambda _: True  # whether what guides agents in a project needs no review
    default_scope: Scope = "project"
    policy: str = "ebbinghaus"
    home: str | None = None  # folder of all state; without it no briefing and no migration log is written
    briefing_tokens: int = 1000  # 0: no briefing is written
    recall_tokens: int = 600  # the default budget of an answer
    notices: Callable[[], Sequence[str]] = tuple
    checked_out: Callable[[str], Mapping[str, JsonValue] | None] = lambda _: None  # branch and commit of a folder
    clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    embedder: BackgroundEmbedder | None = None  # None: search is lexical
    patient: bool = False  # whether calls wait for the embedder; otherwise they fall back to lexical search
    vector_timeout: float = 0.5  # seconds that a write waits for a remote embedder to report similar memories
    embeddings: Callable[[Store], Embeddings] | None = None  # of a program whose services share one model
    clean: masking.CleanMemories | None = None  # of a program with many services
    counted: Counted | None = None  # shared by services that see the same memories
    one_request: bool = False  # whether the service ends with the request, so that keeping anything for another is vain
    opened_with: OpenedWith | None = None
    resolves_citations: bool = False  # whether the code that new memories cite is resolved in the background

    @property
    def by_person(self) -> bool:
        """Whether a person writes here, also with an agent's trust; what they correct is not a conflict of agents."""
        return self.quiet or self.trust == "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceContext:
    """All that a part of the service needs, for one place. Working in another place takes another context."""

    store: Store
    scan: validation.Scan
    related: validation.Related
    options: ServiceOptions
    place: Place
    agent: str
    actor: str
    clock: Callable[[], int]
    masker: masking.Masker
    embeddings: Embeddings
    citations: Citations
    sizes: Sizes
    near: NearMemories
    log: ActivityLog
    briefings: BriefingFiles | None

    @classmethod
    def create(cls, store: Store, scan: validation.Scan, options: ServiceOptions) -> ServiceContext:
        """The context of a service that starts at `options.place`.

        Raises: InvalidInput, SecretFound when the name of agent or actor cannot be stored.
        """
        agent = _name_of("agent", options.agent, scan)
        actor = _name_of("actor", options.actor, scan) if options.actor else agent
        log = ActivityLog(store, actor, options.clock)
        related = scan.related if isinstance(scan, validation.Scanner) else _related
        clean = None if options.clean is None else options.clean.known()
        masker = masking.Masker(scan, _ignored if options.quiet else _logged_in(log), related, clean)
        sizes = Sizes(store, options.counted)
        has_briefings = options.home and options.briefing_tokens
        return cls(
            store=store,
            scan=scan,
            related=related,
            options=options,
            place=options.place,
            agent=agent,
            actor=actor,
            clock=options.clock,
            masker=masker,
            embeddings=(
                options.embeddings(store)
                if options.embeddings
                else Embeddings(store, options.embedder, options.vector_timeout, patient=options.patient)
            ),
            citations=Citations(store, scan),
            sizes=sizes,
            near=NearMemories(store, sizes, keeps=not options.one_request),
            log=log,
            briefings=BriefingFiles(options.home or "", options.briefing_tokens, masker) if has_briefings else None,
        )

    def as_viewer(self, agent: str) -> ServiceContext:
        """This context under another name, for reads that log nothing."""
        return replace(
            self,
            agent=agent,
            actor=agent,
            log=ActivityLog(self.store, agent, self.clock),
            masker=masking.Masker(self.scan, _ignored, self.related),
            options=self.options._replace(agent=agent, quiet=True),
        )

    def alone(self, project: str | None) -> ServiceContext:
        """This context with the memories of one project only, where several projects may use one id; else itself."""
        alone = self.store.features.alone
        if alone is None:
            return self
        store = alone(project)
        return replace(self, store=store, log=ActivityLog(store, self.actor, self.clock))

    def of(self, memory: Memory) -> ServiceContext:
        """This context, in which the id of a memory means that one and none of another project."""
        is_shared = self.store.features.alone is not None and len(self.store.get([memory.id])) > 1
        return self.alone(memory.project) if is_shared else self

    def history(self, memory: Memory) -> list[Revision]:
        """The revisions of a memory before each change, latest first; none of another project's with the same id."""
        return self.of(memory).store.history(memory.id)

    def show(self, memories: Sequence[Memory]) -> tuple[Memory, ...]:
        """Memories as they may be shown."""
        return tuple(map(self.masker.memory, memories))

    def status_change(self, memory: Memory, status: Status | None, now: int) -> Change:
        """The change that gives a memory another status, or with None removes it."""
        return Change(memory, None if status is None else lifecycle.with_status(memory, status, now, self.actor))

    def entry(self, action: Action, memory: Memory) -> Activity:
        """The log entry of a change; a title that holds a secret is not logged."""
        return self.log.entry(action, self.masker.memory(memory), project=self.place.project or "")

    def loggable(self, text: str, what: str) -> str:
        """`text` as it may be logged; when it looks like a secret, only that there was `what`."""
        try:
            if validation.scan_text(text, self.scan):
                return f"{what} that was not logged, because it looked like a secret"
        except ScannerFailed:
            return f"{what} that was not logged, because the scanner failed"
        return text

    def refuse_secrets(self, *fields: Mapping[str, JsonValue]) -> None:
        """Scan every distinct text in `fields` once and log a refusal.

        A write gives its fields as they were sent and as they would be stored: cleaning may hide a secret from either.
        What the fields say about each other is checked in the last of `fields`, those that would be stored.

        Raises: SecretFound, ScannerFailed.
        """
        verdicts: dict[str, Sequence[validation.Finding]] = {}

        def scan(text: str) -> Sequence[validation.Finding]:
            if text not in verdicts:
                verdicts[text] = self.scan(text)
            return verdicts[text]

        with self._logged():
            for each in fields:
                validation.refuse_secrets(each, scan, self.related if each is fields[-1] else None)
        self.masker.trust(verdicts, fields[-1])

    def refuse_related(self, memory: Memory) -> None:
        """Check what the fields of `memory` say about each other, when a write changes some of them; log a refusal.

        Raises: SecretFound, ScannerFailed.
        """
        with self._logged():
            validation.refuse_secrets(serialization.texts(memory), lambda _: (), self.related)

    @contextlib.contextmanager
    def _logged(self) -> Iterator[None]:
        """Log a refusal with its rules only."""
        try:
            yield
        except SecretFound as refusal:
            rules = ", ".join(sorted({rule for _, rule, _ in refusal.places}))
            self.log.defer(self.log.entry("refused", detail=rules, project=self.place.project or ""))
            raise
        except ScannerFailed:
            self.log.defer(self.log.entry("refused", detail="the scanner failed"))
            raise

    def commit(self, changes: Sequence[Change], *entries: Activity) -> Receipt:
        """Apply changes in one transaction, then refresh the briefings of the projects concerned.

        Raises: StaleWrite, StoreError.
        """
        receipt = self.log.commit([self._with_vector(change) for change in changes], entries)
        states = [memory for change in changes for memory in (change.before, change.after) if memory is not None]
        touched = [memory for memory in states if memory.scope != "session"]  # no briefing has those of one session
        for project in {None if memory.scope == "global" else memory.project for memory in touched}:
            self.refresh_briefings(project)
        self.resolve_citations()
        return receipt

    def resolve_citations(self) -> None:
        """Resolve in the background what the memories of this place cite; then render the briefing with verdicts."""
        project, root = self.place.project, self.place.root
        if self.options.resolves_citations and project and root:
            self.citations.start(project, root, lambda: self._refresh_with_verdicts(project, root))

    def _refresh_with_verdicts(self, project: str, root: str) -> None:
        # The store may be closed meanwhile; the briefing then stays as it was.
        with contextlib.suppress(KeepmumError, OSError):
            self.citations.check(briefed(local(self.store), self.clock(), project, self.place.user), project, root)
            self.refresh_briefings(project)

    def refresh_briefings(self, project: str | None) -> None:
        """Render the briefings of one project's folders, or of every project when it is None."""
        if self.briefings is not None:
            self.briefings.refresh(local(self.store), self.clock(), project, self.place.user, self._verdicts)

    def _verdicts(self, root: str, memories: Sequence[Memory]) -> tuple[Mapping[str, str], str]:
        """The remarks about memories in the briefing of a folder, and the commit that they are about."""
        if root != self.place.root or self.place.project is None:
            return {}, ""
        found, commit = self.citations.now(memories, self.place.project, root)
        return self.remarks(found), commit

    def remarks(self, found: Mapping[str, Freshness]) -> dict[str, str]:
        """What to say of memories whose code has changed, as it may be shown."""
        from keepmum.core.citations.freshness import phrase

        phrases = {memory: phrase(each) for memory, each in found.items()}
        return {memory: self.masker.text(each) for memory, each in phrases.items() if each}

    def retry(self, attempt: Callable[[], _Answer]) -> _Answer:
        """The answer of `attempt`, which is repeated while another process changes the same memory.

        Raises: KeepmumError when that does not end, and whatever else `attempt` raises.
        """
        for _ in range(_ATTEMPTS):
            try:
                return attempt()
            except StaleWrite:
                continue
        reason = caveat(self.store)
        if reason and reason != cut(self.store):  # the attempts began with what was known here
            raise KeepmumError(
                "the server has a newer version of this memory and does not show it; nothing was stored, try again. "
                f"{reason}"
            )
        raise KeepmumError("other agents keep changing this memory; nothing was stored, try again")

    def _with_vector(self, change: Change) -> Change:
        """A change with the vector of its new text, computed before the transaction; without it when there is none."""
        before, after = change.before, change.after
        if after is None or (before is not None and ranking.embedding_text(before) == ranking.embedding_text(after)):
            return change
        return replace(change, embedding=self.embeddings.of_new(after))


def _logged_in(log: ActivityLog) -> Callable[[Memory, str], None]:
    return lambda shown, rules: log.defer(log.entry("masked", shown, f"where it is shown: {rules}"))


def _ignored(*_: object) -> None:
    pass


def _related(record: Mapping[str, JsonValue]) -> Sequence[tuple[tuple[str | int | None, ...], str, validation.Finding]]:
    """The findings in related fields, for a scanner of single texts."""
    from keepmum_scanner.records import find_related

    return find_related(record)


def _name_of(field: str, given: str, scan: validation.Scan) -> str:
    name = validation.clean(field, given, LIMITS.name, one_line=True) or "unknown"
    try:
        validation.refuse_secrets({field: given}, scan)
    except ScannerFailed:  # nothing can be stored then, but memories can still be listed and forgotten
        return "unknown"
    return name
