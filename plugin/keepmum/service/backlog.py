"""Memories that have no vector yet, embedded beside the work or before it goes on; one thread at a time is at it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from keepmum.core import ranking
from keepmum.core.errors import EmbeddingError, StoreError
from keepmum.core.memory import Embedding
from keepmum.embedding.base import Embedder
from keepmum.stores.base import VectorSearch
from keepmum.system.heap import release_free_memory

__all__ = ["Backlog", "Progress"]

# Memories that are embedded and kept at once: a server is asked less often, and a kill or the end costs no more.
_AT_ONCE = 8
_ENDS = 0.1  # seconds that closing gives the text at work: no client waits long for a server to end

Progress = Callable[[int, int], None]  # hears how far it got: so many of so many
Fitting = Callable[
    [], tuple[VectorSearch, Embedder] | None
]  # what is to be embedded by what; None where they do not fit


class Backlog:
    """Embeds whatever has no vector of the model at hand. What is done is done, wherever it is cut off."""

    def __init__(self) -> None:
        self.problem = ""  # why not every memory is found by its meaning, since the last attempt
        self._closing = threading.Event()
        self._at_work = threading.Lock()
        self._more = False  # whether something was added since the thread last looked
        self._thread: threading.Thread | None = None
        self._news = threading.Condition()
        self._wanted: str | None = None  # the text whose vector somebody waits for
        self._made: Embedding | None = None

    def work_off(self, vectors: VectorSearch, embedder: Embedder, progress: Progress = lambda _, __: None) -> int:
        """Embed everything and bring the index up to date; how many were embedded.

        Raises: EmbeddingError, StoreError.
        """
        done = self._embed(vectors, embedder, progress)
        if not self._closing.is_set():
            vectors.update_index(embedder.model)
        self.problem = ""
        return done

    def work_off_now(self, vectors: VectorSearch, embedder: Embedder) -> None:
        """The same; what goes wrong is the `problem`."""
        try:
            self.work_off(vectors, embedder)
        except (EmbeddingError, StoreError) as error:
            self.problem = f"not every memory is found by its meaning: {error}"

    def work_off_beside(self, fitting: Fitting) -> None:
        """The same in a thread, which is told to look again where it is at work already."""
        self._more = True
        if self._at_work.acquire(blocking=False):
            self._thread = threading.Thread(target=self._run, args=(fitting,), name="keepmum-vectors", daemon=True)
            self._thread.start()

    def vector_of(self, text: str, work: Callable[[], None], seconds: float) -> Embedding | None:
        """The vector of a text that has just been kept, if `work` on it, here or in a thread, makes it in time."""
        with self._news:
            self._wanted, self._made = text, None
        work()
        with self._news:
            self._news.wait_for(lambda: self._wanted is None, seconds)
            self._wanted = None
            return self._made

    def close(self) -> None:
        """Stop what goes on beside the work."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(_ENDS)

    def _run(self, fitting: Fitting) -> None:
        try:
            while self._more and not self._closing.is_set():
                self._more = False
                found = fitting()
                if found is not None and not self._closing.is_set():
                    self.work_off_now(*found)
                    release_free_memory()
                self._tell(None)
        finally:
            self._at_work.release()
        if self._more and not self._closing.is_set():  # told between the last look and the release
            self.work_off_beside(fitting)

    def _embed(self, vectors: VectorSearch, embedder: Embedder, progress: Progress) -> int:
        from keepmum.stores.vectors import pack

        done, total = 0, vectors.count_pending(embedder.model)
        while not self._closing.is_set() and (batch := vectors.pending(embedder.model, _AT_ONCE)):
            texts = [ranking.embedding_text(memory) for memory in batch]
            made = [Embedding(embedder.model, pack(row)) for row in embedder.embed(texts)]
            vectors.save(list(zip(batch, made, strict=True)))
            self._tell(dict(zip(texts, made, strict=True)))
            done += len(batch)
            progress(done, max(done, total))
        return done

    def _tell(self, made: dict[str, Embedding] | None) -> None:
        """Tell who waits that these vectors are made, or that no more will be."""
        with self._news:
            if self._wanted is not None and (made is None or self._wanted in made):
                self._made = made[self._wanted] if made else None
                self._wanted = None
                self._news.notify_all()
