"""Vectors of queries and memories: computed at once when the model is ready, otherwise later."""

from __future__ import annotations

import os
import threading

from keepmum.core import ranking
from keepmum.core.calibration import COMMON, Calibration
from keepmum.core.errors import EmbeddingError
from keepmum.core.memory import Embedding, Memory
from keepmum.core.progress import Progress, ignore_progress
from keepmum.embedding.background import BackgroundEmbedder
from keepmum.embedding.base import Embedder
from keepmum.service.backlog import Backlog
from keepmum.service.calibrated_search import CalibratedSearch, calibrated
from keepmum.stores.base import QueryVector, Store, VectorSearch
from keepmum.system.background import BackgroundTask
from keepmum.system.heap import limit_free_memory

__all__ = ["REEMBED", "Embeddings"]

REEMBED = "`keepmum reembed`"
_FEW = 32  # memories that `wait` embeds before it returns
_MODEL_TIMEOUT = 60.0  # seconds that a patient caller waits for the model
_START_DELAY = 0.3  # seconds before the model is opened: the first requests of a client come first


class Embeddings:
    """Computes vectors for one store when there is a model that fits the store's vectors.

    A store is searched by the vectors of one model. When it has those of another, nothing is embedded or compared, and
    the user learns the command that changes this: vectors of different models are never mixed.
    """

    def __init__(
        self, store: Store, embedder: BackgroundEmbedder | None, vector_timeout: float, *, patient: bool
    ) -> None:
        """See `ServiceOptions` for `vector_timeout` and `patient`."""
        if embedder is not None:
            # Numpy's libraries read it when they are first loaded. The threads that they would start for each core in
            # each of many servers cost memory and are not used.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        self._store = store
        self._embedder = embedder
        self._patient = patient
        self._vector_timeout = _MODEL_TIMEOUT if patient else vector_timeout
        self._failed = ""
        self._backlog = Backlog()
        self._query_task = BackgroundTask("keepmum-question")
        self._closing = threading.Event()
        self._latest: tuple[str, Embedding] | None = None  # a memory is embedded once, to be stored and compared

    @property
    def lexical_only(self) -> str:
        """Why search is lexical at the moment; empty when vectors are used, or none are wanted."""
        if self._embedder is None or self._vectors is None:
            return ""
        if self._embedder.ready() is None:
            return self._embedder.problem or "the model for search by meaning is not ready yet"
        return self.problem

    @property
    def model_missing(self) -> bool:
        """Whether search is lexical because no model is installed, which may be what the user wants."""
        return self._embedder is not None and self._embedder.missing

    @property
    def problem(self) -> str:
        """Why an open model is not used, and what to do about it; empty when it is used."""
        embedder = self._embedder.ready() if self._embedder else None
        if embedder is None or self._vectors is None:
            return ""
        return self._failed or _other_model(self._vectors, embedder) or self._backlog.problem or self._vectors.problem

    @property
    def search(self) -> VectorSearch | CalibratedSearch | None:
        """Search by the store's vectors, with cosines on the common scale; None in a store without vectors."""
        return None if self._vectors is None else calibrated(self._vectors, self.calibration)

    @property
    def calibration(self) -> Calibration:
        """What was measured of the model; without one, the common scale."""
        return COMMON if self._embedder is None else self._embedder.calibration

    @property
    def usable(self) -> bool:
        """Whether a model is open and fits the store's vectors."""
        return self._ready() is not None

    def of_query(self, text: str) -> QueryVector:
        """The vector of a query, computed in a thread from now on; it gives None when search is lexical only."""
        ready = self._ready()
        if ready is None:
            embedder = self._for_server()
            return (lambda: None) if embedder is None else self._query_task.start(lambda: self._embed(embedder, text))
        vector = self._query_task.start(lambda: self._embed(ready[1], text))
        self._embed_pending(*ready)
        return vector

    def of_memory(self, memory: Memory) -> Embedding | None:
        """The vector of a memory, computed now; None when search is lexical only."""
        ready = self._ready()
        return None if ready is None else self._of_memory(ready[1], memory)

    def of_new(self, memory: Memory) -> Embedding | None:
        """The vector of a memory that is about to be stored; None when it is computed later.

        A remote embedder always computes it later: storing neither waits for a server nor depends on one.
        """
        return None if self._is_remote else self.of_memory(memory)

    def of_stored(self, memory: Memory) -> Embedding | None:
        """The vector of a memory that has just been stored; None when a remote embedder takes too long."""
        ready = self._ready()
        if ready is None or not self._is_remote:
            return self.of_memory(memory)
        made = self._backlog.wait_for(ranking.embedding_text(memory), self._opened, self._vector_timeout)
        is_unchanged = made is None and ready[0].is_ready(ready[1].model)  # it had its vector before this write
        return self.of_memory(memory) if is_unchanged else made

    def start(self) -> None:
        """Open the model, embed pending memories and update the index, after a moment in a background thread."""
        if self._embedder is not None and self._vectors is not None:
            limit_free_memory()  # a server runs for long, and many run at the same time
            self._backlog.run_in_background(lambda: None if self._closing.wait(_START_DELAY) else self._opened())

    def wait(self) -> None:
        """Open the model now, and embed pending memories when they are few; many are embedded in the background."""
        ready = self._opened()
        if ready is not None and ready[0].count_pending(ready[1].model) <= _FEW:
            self._backlog.try_run(*ready)

    def open_local(self) -> None:
        """As `wait`, for a model of this machine, which opens in a fraction of a second; nothing for a remote one."""
        if not self._is_remote:
            self.wait()

    def embed_all(self, progress: Progress = ignore_progress) -> int:
        """Embed every memory that has no vector of this model, including those with one of another; how many.

        An interrupted call keeps what is done; the next one continues from there.

        Raises: EmbeddingError, StoreError.
        """
        vectors, embedder = self._vectors, self._embedder.wait(_MODEL_TIMEOUT) if self._embedder else None
        if vectors is None or embedder is None:
            raise EmbeddingError(self._embedder.problem if self._embedder else "no embedder is configured")
        return self._backlog.run(vectors, embedder, progress)

    def join(self, seconds: float) -> bool:
        """Wait until no memory is being embedded in the background; False when that takes longer than `seconds`."""
        return self._backlog.join(seconds)

    def close(self) -> None:
        """Stop all background work."""
        self._closing.set()
        self._query_task.close()
        self._backlog.close()

    @property
    def _vectors(self) -> VectorSearch | None:
        return self._store.features.vector_search

    @property
    def _is_remote(self) -> bool:
        return self._embedder is not None and self._embedder.remote

    def _for_server(self) -> Embedder | None:
        """The open model, if the server of this store has vectors of the same; it is opened for the next question."""
        questions = self._store.features.questions
        if self._embedder is None or questions is None or not questions.model:
            return None
        embedder = self._embedder.ready()
        if embedder is None:
            self._embedder.start()
            self._embedder.retry()
            return None
        return embedder if embedder.model == questions.model else None

    def _opened(self) -> tuple[VectorSearch, Embedder] | None:
        """As `_ready`, after waiting for the model."""
        if self._embedder is None or self._vectors is None:
            return None
        self._embedder.wait(_MODEL_TIMEOUT)
        return self._ready()

    def _ready(self) -> tuple[VectorSearch, Embedder] | None:
        """The store's vector search and an open model, when the two fit."""
        if self._embedder is None or (vectors := self._vectors) is None:
            return None
        waits = self._patient and not self._embedder.problem
        embedder = self._embedder.wait(_MODEL_TIMEOUT) if waits else self._embedder.ready()
        if embedder is None:
            self._embedder.retry()
            return None
        return None if _other_model(vectors, embedder) else (vectors, embedder)

    def _of_memory(self, embedder: Embedder, memory: Memory) -> Embedding | None:
        text = ranking.embedding_text(memory)
        if self._latest is not None and self._latest[0] == text and self._latest[1].model == embedder.model:
            return self._latest[1]
        made = self._embed(embedder, text)
        self._latest = None if made is None else (text, made)
        return made

    def _embed(self, embedder: Embedder, text: str) -> Embedding | None:
        from keepmum.stores import vectors

        try:
            made = Embedding(embedder.model, vectors.pack(embedder.embed([text])[0]))
        except EmbeddingError as error:
            self._failed = str(error)
            return None
        self._failed = ""
        return made

    def _embed_pending(self, vectors: VectorSearch, embedder: Embedder) -> None:
        """Embed what has no vector yet: now for a patient caller, otherwise in the background."""
        if vectors.is_ready(embedder.model):
            self._backlog.problem = ""  # another process may have embedded them
        elif self._patient:
            self._backlog.try_run(vectors, embedder)
        else:
            self._backlog.run_in_background(self._opened)


def _other_model(vectors: VectorSearch, embedder: Embedder) -> str:
    """A sentence when the store has vectors of another model; otherwise empty."""
    other = vectors.other_model(embedder.model)
    if other is None:
        return ""
    return (
        f"these memories were embedded by {other}, and the model here is {embedder.model}; until {REEMBED} embeds "
        "them again, search is lexical only"
    )
