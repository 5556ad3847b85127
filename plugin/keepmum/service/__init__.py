"""The only way to the memory: every write is cleaned, limited and scanned here before a store receives it.

Callers get values and typed errors; `keepmum.core.memory_text` renders the text for a model or a person.
"""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Concatenate, ParamSpec, Self, TypeVar

from keepmum.core import validation
from keepmum.core.errors import StoreError
from keepmum.core.memory import JsonValue, Scope, Trust
from keepmum.core.progress import Progress, ignore_progress
from keepmum.service.context import OpenedWith, Place, ServiceContext, ServiceOptions
from keepmum.service.exchange import Exchange, OtherRevision, Reviewed, Step, Stored
from keepmum.service.forget import Forgetter, Forgotten
from keepmum.service.freshness import CodeReader, Outdated
from keepmum.service.imports import Importer, Imports
from keepmum.service.listing import SORTS, Lister, Sort
from keepmum.service.lookup import Wanted, owner_of, project_id
from keepmum.service.read import Reader
from keepmum.service.review import Choice, Decided, Decider, Reviewer, ReviewItem, ReviewPage, Undoer
from keepmum.service.search import Searcher
from keepmum.service.transfer import AUDIENCES, Migrated, Move, Transfer
from keepmum.service.write import Remembered, Writer
from keepmum.stores import StaleWrite, Store, StoreSpec, open_store
from keepmum.stores.base import caveat, holds_scope, known_folders
from keepmum.workspace.project import UNPLACED, holds_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.service.audit import Report as AuditReport

__all__ = [
    "AUDIENCES",
    "SORTS",
    "Choice",
    "Decided",
    "Forgotten",
    "Imports",
    "MemoryService",
    "Migrated",
    "Move",
    "OpenedWith",
    "OtherRevision",
    "Outdated",
    "Place",
    "Remembered",
    "ReviewItem",
    "ReviewPage",
    "Reviewed",
    "ServiceOptions",
    "Sort",
    "StaleWrite",
    "Step",
    "Stored",
    "Wanted",
    "open_service",
]

_DEFAULTS = ServiceOptions()
_Part = TypeVar("_Part")
_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")


def open_service(spec: StoreSpec, scan: validation.Scan, options: ServiceOptions = _DEFAULTS) -> MemoryService:
    """A service over the store that `spec` describes.

    Raises: StoreError when the store can be neither read nor created.
    """
    store = open_store(spec)
    try:
        return MemoryService(store, scan, options)
    except BaseException:
        store.close()
        raise


def _method_of(
    part: Callable[[ServiceContext], _Part], method: Callable[Concatenate[_Part, _Arguments], _Result]
) -> Callable[Concatenate[MemoryService, _Arguments], _Result]:
    """A method of `MemoryService` that calls `method` of a part, with its signature and documentation."""

    @functools.wraps(method)
    def call(self: MemoryService, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        return method(part(self.context), *args, **kwargs)

    return call


class MemoryService:
    """Remembers, finds, shows and forgets memories, for one agent in one place.

    The work is done by independent parts, each over the one frozen `context`; working in another place replaces it.
    """

    def __init__(self, store: Store, scan: validation.Scan, options: ServiceOptions = _DEFAULTS) -> None:
        self.context = ServiceContext.create(store, scan, options)

    remember = _method_of(Writer, Writer.remember)
    revise = _method_of(Writer, Writer.revise)
    restore = _method_of(Writer, Writer.restore)
    undo = _method_of(Writer, Writer.undo)

    recall = _method_of(Searcher, Searcher.recall)
    load = _method_of(Reader, Reader.load)
    load_each = _method_of(Reader, Reader.load_each)
    load_known = _method_of(Reader, Reader.load_known)
    note_use = _method_of(Reader, Reader.note_use)
    find = _method_of(Reader, Reader.find)
    file_of = _method_of(Reader, Reader.file_of)
    with_file_id = _method_of(Reader, Reader.with_file_id)
    resume = _method_of(Reader, Reader.resume)
    brief = _method_of(Reader, Reader.brief)
    history = _method_of(Reader, Reader.history)
    replaced = _method_of(Reader, Reader.replaced)
    activity = _method_of(Reader, Reader.activity)
    trusted = _method_of(Reader, Reader.trusted)
    activity_days = _method_of(Reader, Reader.activity_days)
    facets = _method_of(Reader, Reader.facets)
    note = _method_of(Reader, Reader.note)
    masked = _method_of(Reader, Reader.masked)
    every = _method_of(Reader, Reader.every)
    count = _method_of(Reader, Reader.count)
    elsewhere = _method_of(Reader, Reader.elsewhere)
    project_name = _method_of(Reader, Reader.project_name)
    project_names = _method_of(Reader, Reader.project_names)
    known_roots = _method_of(Reader, Reader.known_roots)

    order = _method_of(Lister, Lister.order)
    peek = _method_of(Lister, Lister.peek)
    folders = _method_of(Lister, Lister.folders)
    near = _method_of(Lister, Lister.near)

    freshness = _method_of(CodeReader, CodeReader.freshness)
    cited = _method_of(CodeReader, CodeReader.cited)
    difference = _method_of(CodeReader, CodeReader.difference)
    remarks = _method_of(CodeReader, CodeReader.remarks)
    outdated = _method_of(CodeReader, CodeReader.outdated)

    forget = _method_of(Forgetter, Forgetter.forget)
    erase = _method_of(Forgetter, Forgetter.erase)
    sweep = _method_of(Forgetter, Forgetter.sweep)

    load_complete = _method_of(Exchange, Exchange.load_complete)
    id_range = _method_of(Exchange, Exchange.id_range)
    select = _method_of(Exchange, Exchange.select)
    candidates = _method_of(Exchange, Exchange.candidates)
    holders = _method_of(Exchange, Exchange.holders)
    count_facets = _method_of(Exchange, Exchange.count_facets)
    list_outlines = _method_of(Exchange, Exchange.list_outlines)
    revisions = _method_of(Exchange, Exchange.revisions)
    report_use = _method_of(Exchange, Exchange.report_use)
    present = _method_of(Exchange, Exchange.present)
    apply = _method_of(Exchange, Exchange.apply)

    plan_move = _method_of(Transfer, Transfer.plan_move)
    shown_move = _method_of(Transfer, Transfer.shown_move)
    move = _method_of(Transfer, Transfer.move)
    migrate = _method_of(Transfer, Transfer.migrate)
    import_memory = _method_of(Importer, Importer.import_memory)
    import_all = _method_of(Importer, Importer.import_all)
    find_stored = _method_of(Importer, Importer.find_stored)
    project_of = _method_of(Importer, Importer.project_of)

    review = _method_of(Reviewer, Reviewer.review)
    overview = _method_of(Reviewer, Reviewer.overview)
    review_counts = _method_of(Reviewer, Reviewer.review_counts)
    conflicting = _method_of(Reviewer, Reviewer.conflicting)
    review_item = _method_of(Reviewer, Reviewer.review_item)
    compare = _method_of(Reviewer, Reviewer.compare)
    decide = _method_of(Decider, Decider.decide)
    still_true = _method_of(Decider, Decider.still_true)
    confirm = _method_of(Decider, Decider.confirm)
    pin = _method_of(Decider, Decider.pin)
    mark_wrong = _method_of(Decider, Decider.mark_wrong)
    accept_files = _method_of(Decider, Decider.accept_files)
    edit = _method_of(Decider, Decider.edit)
    put_back = _method_of(Decider, Decider.put_back)
    tag = _method_of(Decider, Decider.tag)
    move_each = _method_of(Decider, Decider.move)
    merge = _method_of(Decider, Decider.merge)
    undo_decision = _method_of(Decider, Decider.undo_decision)
    plan_undo = _method_of(Undoer, Undoer.plan_undo)
    undo_agent = _method_of(Undoer, Undoer.undo_agent)

    def audit(self, progress: Progress = ignore_progress) -> AuditReport:
        """What the current rules find in the whole store, whatever its status or project.

        Raises: StoreError, ScannerFailed.
        """
        from keepmum.service.audit import audit_store  # here, since no server needs it to start

        return audit_store(self.context, progress)

    def cleanse(self, report: AuditReport, *, purge: bool) -> list[str]:
        """Remove from the store what an audit found, or the memories that hold it; returns the removed copies.

        Raises: StaleWrite when a memory was changed meanwhile, StoreError, ScannerFailed.
        """
        from keepmum.service.audit import cleanse

        return cleanse(self.context, report, purge=purge)

    @property
    def store(self) -> Store:
        """The store that this service was opened with."""
        return self.context.store

    @property
    def place(self) -> Place:
        """The project, session and user of all reads and writes."""
        return self.context.place

    def project_id(self, name: str | None) -> str | None:
        """The id of the project called `name`; see `lookup.project_id`."""
        return project_id(self.context, name)

    @property
    def agent(self) -> str:
        """The name of the agent, as memories and the log have it."""
        return self.context.agent

    @property
    def store_kind(self) -> str:
        """The kind of store that the settings chose; empty when a program opened the service."""
        opened_with = self.context.options.opened_with
        return opened_with.kind if opened_with else ""

    def go(self, place: Place, root: str) -> None:
        """Work in another place from now on; a store in the files of a repository switches to those of `root`.

        Raises: StoreError; the service then stays where it was.
        """
        folder = self.context.store.features.folder
        if folder is not None:
            folder.follow(root, place.project or "")
        self.context = replace(self.context, place=place)

    @contextlib.contextmanager
    def at(self, place: Place) -> Iterator[None]:
        """Read and write as another user or session inside the block, over the same store.

        Briefings stay as they are: they belong to this place, and must not show another user's memories.
        """
        before, self.context = self.context, replace(self.context, place=place, briefings=None)
        try:
            yield
        finally:
            self.context = before

    def viewed_by(self, agent: str) -> MemoryService:
        """The same memory for a person who looks at it in an agent's client, under another name.

        It shares the store with this service, which closes it.
        """
        viewer = copy.copy(self)
        viewer.context = self.context.as_viewer(agent)
        return viewer

    @contextlib.contextmanager
    def trusting(self, trust: Trust) -> Iterator[None]:
        """Write inside the block with another trust, such as what an agent must be able to change."""
        before = self.context
        self.context = replace(before, options=before.options._replace(trust=trust))
        try:
            yield
        finally:
            self.context = before

    @contextlib.contextmanager
    def at_owner_of(self, references: Sequence[str]) -> Iterator[None]:
        """Work inside the block in the space of the user whom these memories belong to, if all are of one user.

        For a person at this machine, who may see the memories of every user; only complete ids name a user's memories.
        """
        owners = {owner_of(self.context, reference) for reference in references}
        owner = owners.pop() if len(owners) == 1 and self.place.user is None else None
        with self.at(replace(self.place, user=owner)) if owner is not None else contextlib.nullcontext():
            yield

    def settle(self) -> None:
        """Register this place's folder in the store, and render its briefing."""
        context = self.context
        root, project = context.place.root, context.place.project
        if context.store.capabilities.writable and root and project:
            Transfer(context).adopt(root, project)
            known = {folder for folder, *_ in known_folders(context.store)}
            keeps_project = project == UNPLACED and root in known
            # A path that holds a key is not stored, so that folder has no briefing.
            if not (keeps_project or holds_key(root)) and (state := context.store.features.local_state) is not None:
                state.remember_root(root, project, context.place.name, context.clock())
            context.refresh_briefings(project)

    def upkeep(self) -> None:
        """Do what is due from time to time: expiry, backups, pruning the log."""
        context, features = self.context, self.context.store.features
        if context.store.capabilities.writable:
            self.sweep()
            if features.maintenance is not None:
                features.maintenance.upkeep(context.clock())
            if features.remote is not None:
                context.refresh_briefings(context.place.project)  # the server may have sent changes

    def notices(self) -> list[str]:
        """What a user should know: settings without effect, a store that is read-only or was repaired."""
        context = self.context
        return [
            notice
            for notice in (
                *context.options.notices(),
                context.masker.notice,
                context.embeddings.problem,
                context.store.capabilities.reason,
                context.store.notice,
            )
            if notice
        ]

    def caveat(self) -> str:
        """What must be said with the last answer, such as that the server could not be asked."""
        return self.context.masker.text(caveat(self.context.store))

    def warm(self, *, wait: bool = False) -> None:
        """Open the model and embed pending memories in the background; with `wait`, open the model now."""
        if wait:
            self.context.embeddings.wait()
        else:
            self.context.embeddings.start()

    def reembed(self, progress: Progress = ignore_progress) -> int:
        """Embed every memory that has no vector of this model, including those with one of another; how many.

        Raises: EmbeddingError, StoreError. What is done stays, and the next call continues from there.
        """
        return self.context.embeddings.embed_all(progress)

    @property
    def recall_tokens(self) -> int:
        """The length of an answer to a search, in tokens, that the settings chose."""
        return self.context.options.recall_tokens

    @property
    def lexical_only(self) -> str:
        """Why the last search was lexical; empty when vectors were used, or none are wanted."""
        return self.context.embeddings.lexical_only

    @property
    def model_missing(self) -> bool:
        """Whether search is lexical because no model is installed, which may be what the user wants."""
        return self.context.embeddings.model_missing

    def open_model(self) -> None:
        """Open a model of this machine now, so that the next write reports similar memories."""
        self.context.embeddings.open_local()

    def holds(self, scope: Scope) -> bool:
        """Whether new memories of this scope can be stored; a team server has those of projects only."""
        return holds_scope(self.context.store, scope)

    def now(self) -> int:
        """The time by this service's clock."""
        return self.context.clock()

    def changes(self) -> int:
        """A number that differs after memories have changed; asking for it is cheap."""
        return self.context.store.changes()

    def health(self) -> dict[str, JsonValue]:
        """Facts about the store for the doctor."""
        return self.context.store.health()

    def close(self) -> None:
        """Finish writing and release all resources."""
        self.context.citations.close()
        self.context.embeddings.close()
        with contextlib.suppress(StoreError):
            self.context.log.flush()
        self.context.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
