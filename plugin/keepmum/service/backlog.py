"""Embed memories that have no vector yet, in the calling thread or one background thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

from keepmum.core import ranking
from keepmum.core.errors import EmbeddingError, StoreError
from keepmum.core.memory import Embedding
from keepmum.core.progress import Progress, ignore_progress
from keepmum.embedding.base import Embedder
from keepmum.stores.base import VectorSearch
from keepmum.system.heap import release_free_memory

__all__ = ["Backlog"]

# Memories that are embedded and saved together: a server gets fewer requests, and an interruption loses no more.
_BATCH = 8
_CLOSE_TIMEOUT = 0.1  # seconds that closing waits for the current text: no client waits long for a server to end

Ready = Callable[[], tuple[VectorSearch, Embedder] | None]  # None when the model does not fit the store


class Backlog:
    """Embeds all memories without a vector of the current model. An interruption keeps what is done."""

    def __init__(self) -> None:
        self.problem = ""  # why some memories have no vector, since the last attempt
        self._closing = threading.Event()
        self._running = threading.Lock()
        self._more = False  # whether memories were added since the thread last looked
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()
        self._awaited: str | None = None  # the text that a caller waits for
        self._vector: Embedding | None = None  # its vector
        self._batch: Mapping[str, Embedding] = {}  # the texts that were embedded last

    def run(self, vectors: VectorSearch, embedder: Embedder, progress: Progress = ignore_progress) -> int:
        """Embed all pending memories and update the vector index; how many were embedded.

        Raises: EmbeddingError, StoreError.
        """
        done = self._embed(vectors, embedder, progress)
        if not self._closing.is_set():
            vectors.update_index(embedder.model)
        self.problem = ""
        return done

    def try_run(self, vectors: VectorSearch, embedder: Embedder) -> None:
        """As `run`; an error becomes the `problem`."""
        try:
            self.run(vectors, embedder)
        except (EmbeddingError, StoreError) as error:
            self.problem = f"not every memory is found by its meaning: {error}"

    def run_in_background(self, ready: Ready) -> None:
        """As `try_run`, in a thread; a thread that runs already looks for pending memories again."""
        self._more = True
        if self._running.acquire(blocking=False):
            self._thread = threading.Thread(target=self._run, args=(ready,), name="keepmum-vectors", daemon=True)
            self._thread.start()

    def wait_for(self, text: str, ready: Ready, seconds: float) -> Embedding | None:
        """The vector of a text that has just been stored, if it is embedded in the background in time."""
        with self._changed:
            self._vector = self._batch.get(text)
            self._awaited = None if self._vector else text
            self._more = True  # a thread that is about to end must look again before it announces the end
        self.run_in_background(ready)
        with self._changed:
            self._changed.wait_for(lambda: self._awaited is None, seconds)
            self._awaited = None
            return self._vector

    def join(self, seconds: float) -> bool:
        """Wait for the background thread to end; False when that takes longer than `seconds`."""
        deadline = time.monotonic() + seconds
        while (thread := self._thread) is not None and thread.is_alive():  # one that ends may start another
            thread.join(max(0.0, deadline - time.monotonic()))
            if time.monotonic() >= deadline:
                return not thread.is_alive()
        return True

    def close(self) -> None:
        """Stop the background thread."""
        self._closing.set()
        self.join(_CLOSE_TIMEOUT)

    def _run(self, ready: Ready) -> None:
        try:
            while self._more and not self._closing.is_set():
                self._more = False
                found = ready()
                if found is not None and not self._closing.is_set():
                    self.try_run(*found)
                    release_free_memory()
                self._announce_end()
        finally:
            self._running.release()
        if self._more and not self._closing.is_set():  # set between the last look and the release
            self.run_in_background(ready)

    def _embed(self, vectors: VectorSearch, embedder: Embedder, progress: Progress) -> int:
        from keepmum.stores.vectors import pack

        done, total = 0, vectors.count_pending(embedder.model)
        while not self._closing.is_set() and (batch := vectors.pending(embedder.model, _BATCH)):
            texts = [ranking.embedding_text(memory) for memory in batch]
            made = [Embedding(embedder.model, pack(row)) for row in embedder.embed(texts)]
            vectors.save(list(zip(batch, made, strict=True)))
            self._announce(dict(zip(texts, made, strict=True)))
            done += len(batch)
            progress(done, max(done, total))
        return done

    def _announce(self, made: Mapping[str, Embedding]) -> None:
        """Wake the caller that waits for one of these vectors."""
        with self._changed:
            self._batch = made
            if self._awaited is not None and self._awaited in made:
                self._wake(made[self._awaited])

    def _announce_end(self) -> None:
        """Wake the caller that waits for a vector which will not be made."""
        with self._changed:
            if self._awaited is not None and (self._closing.is_set() or not self._more):
                self._wake(None)

    def _wake(self, vector: Embedding | None) -> None:
        self._awaited, self._vector = None, vector
        self._changed.notify_all()
