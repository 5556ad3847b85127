"""The one door to the memory: every write is cleaned, held to its limits and scanned here before a store sees it.

Callers get values and typed errors; what a model or a person is shown is made in `keepmum.core.briefing`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Self

from keepmum.core import lifecycle, validation
from keepmum.core.errors import StoreError
from keepmum.core.memory import STATUSES, Change, Filter, JsonValue, Memory
from keepmum.service.briefing_files import discard
from keepmum.service.context import Place, Wanted
from keepmum.service.embedding import Progress
from keepmum.service.forgetting import Forgetting, Forgotten
from keepmum.service.keeping import Keeping, Remembered
from keepmum.service.moving import AUDIENCES, Migrated, Move, Moving
from keepmum.service.reading import Reading
from keepmum.service.reviewing import Review, Reviewing
from keepmum.stores import StaleWrite, StoreSpec, open_store
from keepmum.stores.base import caveat, known_folders, local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.service.audit import Report as AuditReport

__all__ = [
    "AUDIENCES",
    "Forgotten",
    "MemoryService",
    "Migrated",
    "Move",
    "Place",
    "Remembered",
    "Review",
    "Wanted",
    "open_service",
]

_ADOPTED_AT_ONCE = 10_000
_UNNAMED = "path:"  # how the id of a project begins that has neither a remote nor a chosen name


def open_service(spec: StoreSpec, scan: validation.Scan, **context: Any) -> MemoryService:
    """A service over the store that `spec` describes; `context` is passed on to `MemoryService`.

    Raises: StoreError when the store can be neither read nor made.
    """
    store = open_store(spec)
    try:
        return MemoryService(store, scan, **context)
    except BaseException:
        store.close()
        raise


class MemoryService(Keeping, Reading, Forgetting, Moving, Reviewing):
    """Remembers, finds, shows and forgets memories, for one agent in one place."""

    def go(self, place: Place, root: str) -> None:
        """Work in another place from now on; a store in the files of a repository is that of `root` then."""
        self.place = place
        folder = self.store.features.folder
        if folder is not None:
            folder.follow(root, place.project or "")

    @contextlib.contextmanager
    def at(self, place: Place) -> Iterator[None]:
        """Read and write as another user or session while the block runs, over the same store.

        Briefings stay as they are: they are of who stands here, and must tell nothing of a visitor.
        """
        before, self.place = self.place, place
        was_visiting, self._visiting = self._visiting, True
        try:
            yield
        finally:
            self.place, self._visiting = before, was_visiting

    def settle(self) -> None:
        """Make this place known, and render its briefing."""
        root, project = self.place.root, self.place.project
        if self.store.capabilities.writable and root and project:
            self._adopt(root, project)
            if (state := self.store.features.local_state) is not None:
                state.remember_root(root, project, self.place.name, self._clock())
            self._refresh(project)

    def upkeep(self) -> None:
        """What is to be done now and then: let time pass, back up, prune the log."""
        if self.store.capabilities.writable:
            self.sweep()
            features = self.store.features
            if features.maintenance is not None:
                features.maintenance.upkeep(self._clock())
            if features.remote is not None:
                self._refresh(self.place.project)  # there may be news of the server

    def notices(self) -> list[str]:
        """What a user should know: settings that have no effect, a store that is read-only or was repaired."""
        return [
            notice
            for notice in (
                *self._notices(),
                self._masker.notice,
                self._embeddings.problem,
                self.store.capabilities.reason,
                self.store.notice,
            )
            if notice
        ]

    def caveat(self) -> str:
        """What has to be said beside the last answer, such as that the server could not be asked."""
        return self._masker.text(caveat(self.store))

    def warm(self, *, wait: bool = False) -> None:
        """Open the model and embed what has no vector yet, beside the work; with `wait`, open the model now."""
        if wait:
            self._embeddings.wait()
        else:
            self._embeddings.start()

    def reembed(self, progress: Progress = lambda _, __: None) -> int:
        """Embed every memory that has no vector of this model, be it one of another; how many were embedded.

        Raises: EmbeddingError, StoreError. What is done is done, and the next call goes on from there.
        """
        return self._embeddings.catch_up(progress)

    def now(self) -> int:
        """The time by this service's clock."""
        return self._clock()

    def audit(self, progress: Callable[[int], None] = lambda _: None) -> AuditReport:
        """What the rules of today find in the whole store, whatever its status or project.

        Raises: StoreError, ScannerFailed.
        """
        from keepmum.service import audit  # seldom wanted, and no server needs it to start

        self._journal.flush()
        return audit.survey(self.store, self._scan, progress)

    def cleanse(self, report: AuditReport, *, purge: bool) -> list[str]:
        """Take out of the store for good what an audit found, or the memories that hold it; the copies removed.

        Raises: StaleWrite when a memory was changed meanwhile, StoreError, ScannerFailed.
        """
        from keepmum.service import audit

        removed = audit.cleanse(self.store, self._scan, report, self._agent, self._clock(), purge=purge)
        if self._home:
            discard(self._home)
        self._refresh(None)
        return removed

    def project_names(self) -> dict[str, str]:
        """What the projects are called whose folders were seen here, by id; two of one name each with its folder."""
        seen = {project: (name, root) for root, project, name in reversed(known_folders(self.store))}
        bearers: dict[str, int] = {}
        for name, _ in seen.values():
            bearers[name] = bearers.get(name, 0) + 1
        return {
            project: self._masker.text(name if bearers[name] == 1 else f"{name} ({root})")
            for project, (name, root) in seen.items()
        }

    def elsewhere(self, memories: Iterable[Memory]) -> dict[str, str]:
        """What the project is called of each memory that belongs to another than this one, by the memory's id."""
        others = {memory.id: memory.project for memory in memories if memory.project not in {None, self.place.project}}
        names = self.project_names() if others else {}
        return {
            memory: names.get(project) or project.rpartition("/")[2] for memory, project in others.items() if project
        }

    def health(self) -> dict[str, JsonValue]:
        """Facts about the store for the doctor."""
        return self.store.health()

    def close(self) -> None:
        """Leave everything on disk and let go."""
        self._embeddings.close()
        with contextlib.suppress(StoreError):
            self._journal.flush()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _adopt(self, root: str, project: str) -> None:
        """Take along what was kept while this folder had no name but its path, before its first remote."""
        former = next((known for folder, known, _ in known_folders(self.store) if folder == root), project)
        if former == project or not former.startswith(_UNNAMED):
            return
        now = self._clock()
        wanted = Filter(now=now, project=former, user=self.place.user, scopes=("project", "shared"), statuses=STATUSES)
        changes = []
        for memory in local(self.store).browse(wanted, limit=_ADOPTED_AT_ONCE):
            moved = replace(lifecycle.next_revision(memory, now, self._agent), project=project)
            if moved.key and self.store.by_key(moved.space, moved.key) is not None:
                moved = replace(moved, key=None)  # the name is taken; the memory is found by what it says
            changes.append(Change(memory, moved))
        with contextlib.suppress(StaleWrite):  # another session of this folder is doing the same
            self._commit(changes)
