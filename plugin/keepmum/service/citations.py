"""Resolves the code that memories mention, outside the request path, and says whether it still is as it was.

An answer waits for a short time only. What is not known by then counts as unknown in this answer, and is found out in
the background for the next one.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from keepmum.core.errors import KeepmumError
from keepmum.core.memory import Citation, Memory
from keepmum.stores import Store
from keepmum.stores.base import CitationStore
from keepmum.system.background import JobQueue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.core.citations.freshness import Freshness
    from keepmum.core.validation import Scan
    from keepmum.service.cited_code import CitedCode

__all__ = ["IN_AN_ANSWER", "Citations"]

IN_AN_ANSWER = 0.05  # seconds that an answer may take for citations
_CLOSE_TIMEOUT = 2.0  # seconds
_BATCH = 20  # memories whose citations are resolved and stored together
_KEPT = 1_000  # memories whose resolved citations are kept until they are read again


class Citations:
    """The citations of one store's memories, for the project folder that a call names."""

    def __init__(self, store: Store, scan: Scan, environ: Mapping[str, str] = os.environ) -> None:
        self._store, self._scan, self._environ = store, scan, environ
        self._jobs = JobQueue("citations")
        self._code: dict[str, CitedCode | None] = {}  # by project folder
        self._resolved: dict[tuple[str, int], Sequence[Citation]] = {}  # by id and revision
        self._waiting = threading.Event()  # set while a run over a project waits for its turn
        self._again: Callable[[], None] | None = None  # the last run over a project
        self._head: str | None = None  # what was checked out at the last answer

    def freshness(
        self, memories: Sequence[Memory], project: str | None, root: str | None, patience: float = IN_AN_ANSWER
    ) -> dict[str, Freshness]:
        """The verdict about each memory by its id, within about `patience` seconds."""
        from keepmum.core.citations.freshness import UNKNOWN

        deadline = time.monotonic() + patience
        found = dict.fromkeys((memory.id for memory in memories), UNKNOWN)
        own = self._own(memories, project)
        code = self._code_of(root) if own and root else None
        if code is None or project is None:
            return found
        head = code.head()
        self._follow(head)
        known = self._look(own, code, head, deadline)
        if len(known) < len(own):
            self._jobs.add(lambda: self._settle(own, code, head)).wait(max(0.0, deadline - time.monotonic()))
            known = self._look(own, code, head, deadline)
        return found | known

    def each(
        self, memory: Memory, project: str | None, root: str | None, patience: float = IN_AN_ANSWER
    ) -> list[tuple[Citation, Freshness]]:
        """The citations of a memory, each with its verdict as far as that is known within about `patience` seconds."""
        from keepmum.core.citations.freshness import UNKNOWN

        self.freshness([memory], project, root, patience)
        cited = self._citations(memory) or ()
        code = self._code_of(root) if root and self._own([memory], project) else None
        head = "" if code is None else code.head()
        return [(each, (code.look(each, head) if code else None) or UNKNOWN) for each in cited]

    def texts(self, citation: Citation, root: str | None) -> tuple[str, str] | None:
        """Cited code as it was and as it is; None where there is no repository."""
        code = self._code_of(root) if root else None
        return None if code is None else code.texts(citation)

    def start(self, project: str, root: str, done: Callable[[], None]) -> None:
        """Resolve in the background what memories of a project mention, and store it; then call `done`.

        The same is done again when a later answer finds another commit checked out.
        """
        if not self._store.capabilities.writable or not _citation_stores(self._store):
            return
        self._again = lambda: self.start(project, root, done)
        if not self._waiting.is_set():
            self._waiting.set()
            self._jobs.add(lambda: self._resolve_all(project, root, done))

    def check(self, memories: Sequence[Memory], project: str, root: str) -> None:
        """Find out the verdicts about these memories, however long that takes; for jobs in the background."""
        own = self._own(memories, project)
        code = self._code_of(root) if own else None
        if code is not None:
            self._settle(own, code, code.head())

    def close(self) -> None:
        """Stop all background work."""
        self._jobs.close(_CLOSE_TIMEOUT)

    def now(self, memories: Sequence[Memory], project: str, root: str) -> tuple[dict[str, Freshness], str]:
        """The verdicts as far as they are known without git, and the commit that they are about."""
        own = self._own(memories, project)
        code = self._code_of(root) if own else None
        if code is None:
            return {}, ""
        head = code.head()
        return self._look(own, code, head, time.monotonic() + IN_AN_ANSWER), head

    def _own(self, memories: Iterable[Memory], project: str | None) -> list[Memory]:
        """The memories of this project, and of all projects, that cite something, or may do so."""
        return [
            each for each in memories if project and each.project in {project, None} and self._citations(each) != ()
        ]

    def _citations(self, memory: Memory) -> Sequence[Citation] | None:
        return self._resolved.get((memory.id, memory.revision), memory.citations)

    def _code_of(self, root: str) -> CitedCode | None:
        if self._code.get(root) is None:
            from keepmum.service.cited_code import open_code  # here, since no server needs it to start

            self._code[root] = open_code(root, self._environ)
        return self._code[root]

    def _look(self, memories: Iterable[Memory], code: CitedCode, head: str, deadline: float) -> dict[str, Freshness]:
        """The verdicts about memories whose citations can all be judged without git before the deadline."""
        from keepmum.core.citations.freshness import combined

        found: dict[str, Freshness] = {}
        for memory in memories:
            verdicts = []
            for citation in self._citations(memory) or ():
                verdict = code.look(citation, head) if time.monotonic() < deadline else None
                if verdict is None:
                    break
                verdicts.append(verdict)
            else:
                if verdicts:
                    found[memory.id] = combined(verdicts)
        return found

    def _follow(self, head: str) -> None:
        """Start again when another commit is checked out than at the last answer."""
        before, self._head = self._head, head
        if before not in {None, head} and self._again is not None:
            self._again()

    def _settle(self, memories: Sequence[Memory], code: CitedCode, head: str) -> None:
        # A folder may be removed meanwhile, or another process hold the store's lock; the next call tries again.
        with contextlib.suppress(KeepmumError, OSError):
            uncited = [memory for memory in memories if self._citations(memory) is None]
            if uncited:
                self._resolve(uncited, code)
            cited = [each for memory in memories for each in self._citations(memory) or ()]
            code.settle(cited, head, self._jobs.closing.is_set)

    def _resolve_all(self, project: str, root: str, done: Callable[[], None]) -> None:
        self._waiting.clear()  # a write from now on needs another run
        with contextlib.suppress(KeepmumError, OSError):
            for store in _citation_stores(self._store):
                while batch := store.uncited(project, _BATCH):
                    code = self._code_of(root)
                    if code is None or not self._resolve(batch, code):
                        break
        if not self._jobs.closing.is_set():
            done()

    def _resolve(self, memories: Sequence[Memory], code: CitedCode) -> int:
        """Resolve and store what memories mention; returns the number of those that are stored."""
        found = [
            (memory, None if citations is None else tuple(filter(self._is_plain, citations)))
            for memory, citations in code.resolve(memories, self._jobs.closing.is_set)
        ]
        if len(self._resolved) > _KEPT:
            self._resolved.clear()
        self._resolved |= {(memory.id, memory.revision): citations or () for memory, citations in found}
        kept = [(memory, citations) for memory, citations in found if citations is not None]
        if not kept or not self._store.capabilities.writable:
            return 0
        return sum(store.cite(kept) for store in _citation_stores(self._store))

    def _is_plain(self, citation: Citation) -> bool:
        """Whether a citation holds no secret; a path may have parts that the memory does not mention."""
        return not self._scan(f"{citation.path} {citation.symbol or ''}")


def _citation_stores(store: Store) -> list[CitationStore]:
    """The parts of a store that keep citations."""
    features = store.features
    parts = [store] if features.composite is None else list(features.composite.parts.values())
    return [part.features.citations for part in parts if part.features.citations is not None]
