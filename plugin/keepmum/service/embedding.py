"""Vectors of what is asked and what is kept: made at once where there is a model, and later where there was none."""

from __future__ import annotations

import os
import threading

from keepmum.core import ranking
from keepmum.core.errors import EmbeddingError
from keepmum.core.memory import Embedding, Memory
from keepmum.embedding.background import BackgroundEmbedder
from keepmum.embedding.base import Embedder
from keepmum.service.backlog import Backlog, Progress
from keepmum.stores.base import QueryVector, Store, VectorSearch
from keepmum.system.background import BackgroundTask
from keepmum.system.heap import limit_free_memory

__all__ = ["REEMBED", "Embeddings", "Progress"]

REEMBED = "`keepmum reembed`"
_FEW = 32  # memories that a person waits for to be embedded before a search
_WAITS = 60.0  # seconds that a patient caller gives a model to open
_SETTLES = 0.3  # seconds before a model is opened: what a client asks of a new server comes first
_SOON = 0.5  # seconds in which a server's vector may come to say what a new memory is like; it is kept by then


class Embeddings:
    """Makes vectors for one store, as far as there is a model whose vectors the store has or could have.

    A store is searched by the vectors of one model. Where it has those of another, nothing is embedded or compared, and
    the user is told of the command that changes this: never is one model taken for another in silence.
    """

    def __init__(self, store: Store, opening: BackgroundEmbedder | None, *, patient: bool = False) -> None:
        """With `patient`, callers wait for the model, and for all that is to be embedded; else they go on by words."""
        if opening is not None:
            # Read by numpy's libraries when they are first loaded: the threads that they would make for each core in
            # each of many servers cost memory and are not used.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        self._store = store
        self._opening = opening
        self._patient = patient
        self._failed = ""
        self._backlog = Backlog()
        self._asked = BackgroundTask("keepmum-question")
        self._closing = threading.Event()
        self._latest: tuple[str, Embedding] | None = None  # a memory is asked for twice: to be kept, and compared

    @property
    def lexical_only(self) -> str:
        """Why search goes by words alone just now; empty when it does not, or nothing else is wanted."""
        if self._opening is None or self._store.features.vector_search is None:
            return ""
        embedder = self._opening.ready()
        if embedder is None:
            return self._opening.problem or "the model for search by meaning is not ready yet"
        return self.problem

    @property
    def model_missing(self) -> bool:
        """Whether search goes by words alone for want of a model, which may be what the user wants."""
        return self._opening is not None and self._opening.missing

    @property
    def problem(self) -> str:
        """What keeps an open model from being used, and what to do about it; empty when nothing does."""
        embedder = self._opening.ready() if self._opening else None
        if embedder is None or self._store.features.vector_search is None:
            return ""
        return (
            self._failed
            or self._foreign(self._store.features.vector_search, embedder)
            or self._backlog.problem
            or self._store.features.vector_search.problem
        )

    @property
    def usable(self) -> bool:
        """Whether there is an open model whose vectors the store has."""
        return self._usable() is not None

    def question(self, text: str) -> QueryVector:
        """The vector of a question, made from now on while its words are looked up; None where these alone count."""
        found = self._usable()
        if found is None:
            return lambda: None
        asked = self._asked.start(lambda: self._made(found[1], text))
        self._work_off(*found)
        return asked

    def of_new(self, memory: Memory) -> Embedding | None:
        """The vector of a memory that is about to be kept; None where it has to be made later.

        One behind a network always is: what is to be kept neither waits for a server nor depends on it.
        """
        found = self._usable()
        return None if found is None or self._is_far else self._of_memory(found[1], memory)

    def of_kept(self, memory: Memory) -> Embedding | None:
        """The vector of a memory that has just been kept, by which it is compared; None where there is none soon."""
        found = self._usable()
        if found is None:
            return None
        if not self._is_far:
            return self._of_memory(found[1], memory)
        seconds = _WAITS if self._patient else _SOON
        return self._backlog.vector_of(ranking.embedding_text(memory), lambda: self._work_off(*found), seconds)

    def start(self) -> None:
        """Open the model, embed what has no vector yet and make the index: beside the work, and in a moment."""
        if self._opening is not None and self._store.features.vector_search is not None:
            limit_free_memory()  # a server lives long, and many run side by side
            self._backlog.work_off_beside(lambda: None if self._closing.wait(_SETTLES) else self._fitting())

    def wait(self) -> None:
        """Open the model now, and embed what waits for it when that is little; many are embedded beside the work."""
        if self._store.features.vector_search is None or self._opened() is None:
            return
        found = self._usable()
        if found is not None and found[0].count_pending(found[1].model) <= _FEW:
            self._backlog.work_off_now(*found)

    def catch_up(self, progress: Progress = lambda _, __: None) -> int:
        """Embed every memory that has no vector of this model, be it one of another; how many.

        What is done is done: cut off at any moment, it goes on from there the next time.

        Raises: EmbeddingError, StoreError.
        """
        vectors, embedder = self._store.features.vector_search, self._opened()
        if vectors is None or embedder is None:
            raise EmbeddingError(self._opening.problem if self._opening else "no embedder is configured")
        return self._backlog.work_off(vectors, embedder, progress)

    def close(self) -> None:
        """Stop what goes on beside the work."""
        self._closing.set()
        self._asked.close()
        self._backlog.close()

    # -- how it is done

    @property
    def _is_far(self) -> bool:
        return self._opening is not None and self._opening.remote

    def _opened(self) -> Embedder | None:
        return None if self._opening is None else self._opening.wait(_WAITS)

    def _fitting(self) -> tuple[VectorSearch, Embedder] | None:
        """The store's vector search and the model, once it is open, when the two fit."""
        self._opened()
        return self._usable()

    def _usable(self) -> tuple[VectorSearch, Embedder] | None:
        """The store's vector search and an open model, when the two fit."""
        if self._opening is None or (vectors := self._store.features.vector_search) is None:
            return None
        waits = self._patient and not self._opening.problem
        embedder = self._opening.wait(_WAITS) if waits else self._opening.ready()
        if embedder is None:
            self._opening.retry()
            return None
        return None if self._foreign(vectors, embedder) else (vectors, embedder)

    def _foreign(self, vectors: VectorSearch, embedder: Embedder) -> str:
        """That the store is of another model, as a sentence; empty when it is not."""
        other = vectors.other_model(embedder.model)
        if other is None:
            return ""
        return (
            f"these memories were embedded by {other}, and the model here is {embedder.model}: {REEMBED} embeds them "
            "anew, and until then search goes by words alone"
        )

    def _of_memory(self, embedder: Embedder, memory: Memory) -> Embedding | None:
        text = ranking.embedding_text(memory)
        if self._latest is not None and self._latest[0] == text and self._latest[1].model == embedder.model:
            return self._latest[1]
        made = self._made(embedder, text)
        self._latest = None if made is None else (text, made)
        return made

    def _made(self, embedder: Embedder, text: str) -> Embedding | None:
        from keepmum.stores import vectors

        try:
            made = Embedding(embedder.model, vectors.pack(embedder.embed([text])[0]))
        except EmbeddingError as error:
            self._failed = str(error)
            return None
        self._failed = ""
        return made

    def _work_off(self, vectors: VectorSearch, embedder: Embedder) -> None:
        """See to what has no vector yet: before a patient caller goes on, else beside it."""
        if vectors.is_ready(embedder.model):
            self._backlog.problem = ""  # whoever saw to it
        elif self._patient:
            self._backlog.work_off_now(vectors, embedder)
        else:
            self._backlog.work_off_beside(self._fitting)
