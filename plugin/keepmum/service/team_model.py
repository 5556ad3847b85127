"""One embedding model for all requests of a server: texts of several requests are embedded together, in one thread."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

from keepmum.core import ranking
from keepmum.core.errors import EmbeddingError, StoreError, report_unexpected
from keepmum.core.memory import Embedding, Memory
from keepmum.embedding.background import BackgroundEmbedder
from keepmum.embedding.base import Embedder
from keepmum.service.backlog import Backlog
from keepmum.service.embeddings import Embeddings
from keepmum.stores.base import QueryVector, Store, VectorSearch

__all__ = ["SharedModel", "TeamEmbeddings"]

_BATCH = 8  # texts that are embedded together
_QUEUE = 1_000  # texts that may wait; further ones are embedded later, with the memories that have no vector
_WAIT = 0.15  # seconds that a request waits for its vector
_LOOK = 1.0  # seconds between two looks for memories without a vector
_OPENING = 60.0  # seconds
_LATE = "the embedding model is busy; this search was lexical"


class _Text:
    """One text in the queue."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.vector: Embedding | None = None
        self._done = threading.Event()

    def finish(self, vector: Embedding | None) -> None:
        self.vector = vector
        self._done.set()

    def wait(self, seconds: float) -> bool:
        return self._done.wait(seconds)


class SharedModel:
    """Opens the model in the background; embeds texts of requests, and the memories that have no vector yet."""

    def __init__(self, embedder: BackgroundEmbedder, store: Store) -> None:
        """`store` may read and write every memory of the team."""
        self.embedder = embedder
        self._vectors = store.features.vector_search
        self._texts: queue.Queue[_Text] = queue.Queue(_QUEUE)
        self._backlog = Backlog()
        self._closing = threading.Event()
        self._fits = False  # whether the store's vectors are of this model
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True)
            for name, work in (("embed-requests", self._embed_texts), ("embed-memories", self._embed_memories))
        ]

    def start(self) -> None:
        """Open the model and begin to embed."""
        self.embedder.start()
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop; what has no vector gets one after the next start."""
        self._closing.set()
        self._backlog.close()

    def ready(self) -> tuple[VectorSearch, Embedder] | None:
        """The whole store's vectors and the model, when it is open and fits them."""
        embedder = self.embedder.ready()
        return None if embedder is None or self._vectors is None or not self._fits else (self._vectors, embedder)

    @property
    def waiting(self) -> int:
        """How many texts are queued for embedding."""
        return self._texts.qsize()

    @property
    def state(self) -> str:
        """Whether searches use the model: ready, loading or off."""
        if self.ready() is not None:
            return "ready"
        return "off" if self.embedder.problem or self._vectors is None else "loading"

    def vector(self, text: str) -> Callable[[], Embedding | None]:
        """Begin to embed a text; the result is its vector, or None when that takes too long."""
        asked = _Text(text)
        until = time.monotonic() + _WAIT
        try:
            self._texts.put_nowait(asked)
        except queue.Full:
            return lambda: None
        return lambda: asked.vector if asked.wait(max(0.0, until - time.monotonic())) else None

    def _embed_texts(self) -> None:
        from keepmum.stores.vectors import pack

        while not self._closing.is_set():
            try:
                batch = [self._texts.get(timeout=_LOOK)]
            except queue.Empty:
                continue
            while len(batch) < _BATCH and not self._texts.empty():
                batch.append(self._texts.get_nowait())
            embedder = self.embedder.ready()
            made: list[Embedding | None] = [None] * len(batch)
            try:
                if embedder is not None:
                    found = embedder.embed([asked.text for asked in batch])
                    made = [Embedding(embedder.model, pack(row)) for row in found]
            except EmbeddingError:
                pass  # these searches are lexical
            except Exception as error:  # noqa: BLE001 - a bug must not end the thread that all searches wait for
                report_unexpected("embedding", error)
            for asked, vector in zip(batch, made, strict=True):
                asked.finish(vector)

    def _embed_memories(self) -> None:
        self.embedder.wait(_OPENING)
        while not self._closing.is_set():
            embedder = self.embedder.ready()
            if embedder is None:
                self.embedder.retry()
            elif self._vectors is not None:
                try:
                    self._fits = self._vectors.other_model(embedder.model) is None
                    if self._fits and not self._vectors.is_ready(embedder.model):
                        self._backlog.try_run(self._vectors, embedder)
                except StoreError:
                    pass  # the database is busy or away: the next look tries again
                except Exception as error:  # noqa: BLE001 - as above
                    report_unexpected("embedding", error)
            self._closing.wait(_LOOK)


class TeamEmbeddings(Embeddings):
    """The vectors of one request, by the model that all requests share."""

    def __init__(self, store: Store, model: SharedModel) -> None:
        super().__init__(store, model.embedder, _WAIT, patient=False)
        self._model = model
        self._late = ""

    @property
    def lexical_only(self) -> str:
        """Why the last search was lexical."""
        return self._late or super().lexical_only

    def of_query(self, text: str) -> QueryVector:
        """The vector of a query; None when the model is not open or too busy."""
        if self._ready() is None:
            return lambda: None
        begun = self._model.vector(text)

        def vector() -> Embedding | None:
            found = begun()
            self._late = "" if found is not None else _LATE
            return found

        return vector

    def _ready(self) -> tuple[VectorSearch, Embedder] | None:
        ready, vectors = self._model.ready(), self._vectors
        return None if ready is None or vectors is None else (vectors, ready[1])

    def _of_memory(self, embedder: Embedder, memory: Memory) -> Embedding | None:
        text = ranking.embedding_text(memory)
        if self._latest is None or self._latest[0] != text or self._latest[1].model != embedder.model:
            made = self._model.vector(text)()
            self._latest = None if made is None else (text, made)
        return None if self._latest is None else self._latest[1]
