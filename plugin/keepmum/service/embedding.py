"""Vectors of what is asked and what is kept: made at once where there is a model, and later where there was none."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from keepmum import ranking
from keepmum.embedding.background import Background
from keepmum.embedding.base import Embedder
from keepmum.errors import EmbeddingError, StoreError
from keepmum.memory import Embedding, Memory
from keepmum.stores.base import Meaning, Store

__all__ = ["REEMBED", "Embeddings", "Progress"]

REEMBED = "`keepmum reembed`"
_AT_ONCE = 32  # vectors that are kept in one transaction
_TOGETHER = 8  # texts that an embedder is given at once: a server is asked less often, and closing waits for no more
_WAITS = 60.0  # seconds that a patient caller gives a model to open
_SETTLES = 0.3  # seconds before a model is opened: what a client asks of a new server comes first
_ENDS = 0.1  # seconds that closing gives the text at work: no client waits long for a server to end


Progress = Callable[[int, int], None]  # hears how far it got: so many of so many


class Embeddings:
    """Makes vectors for one store, as far as there is a model whose vectors the store has or could have.

    A store is searched by the vectors of one model. Where it has those of another, nothing is embedded or compared, and
    the user is told of the command that changes this: never is one model taken for another in silence.
    """

    def __init__(self, store: Store, opening: Background | None, *, patient: bool = False) -> None:
        """With `patient`, callers wait for the model, and for all that is to be embedded; else they go on by words."""
        if opening is not None:
            # Read by numpy's libraries when they are first loaded: the threads that they would make for each core in
            # each of many servers cost memory and are not used.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        self._store = store
        self._opening = opening
        self._patient = patient
        self._failed = ""
        self._closing = threading.Event()
        self._at_work = threading.Lock()
        self._thread: threading.Thread | None = None
        self._latest: tuple[str, Embedding] | None = None  # a memory is asked for twice: to be kept, and compared

    @property
    def lexical_only(self) -> str:
        """Why search goes by words alone just now; empty when it does not, or nothing else is wanted."""
        if self._opening is None or self._store.meaning is None:
            return ""
        embedder = self._opening.ready()
        if embedder is None:
            return self._opening.problem or "the model for search by meaning is not ready yet"
        return self.problem

    @property
    def problem(self) -> str:
        """What keeps an open model from being used, and what to do about it; empty when nothing does."""
        embedder = self._opening.ready() if self._opening else None
        if embedder is None or self._store.meaning is None:
            return ""
        return self._failed or self._foreign(self._store.meaning, embedder) or self._store.meaning.problem

    @property
    def usable(self) -> bool:
        """Whether there is an open model whose vectors the store has."""
        return self._usable() is not None

    def of_question(self, text: str) -> Embedding | None:
        """The vector of a question; None where search goes by words alone."""
        found = self._usable()
        if found is None:
            return None
        meaning, embedder = found
        self._catch_up_first_or_beside(meaning, embedder)
        return self._made(embedder, text)

    def of_memory(self, memory: Memory) -> Embedding | None:
        """The vector of a memory that is about to be kept; None where it has to be made later."""
        found, text = self._usable(), ranking.told(memory)
        if found is None:
            return None
        if self._latest is not None and self._latest[0] == text and self._latest[1].model == found[1].model:
            return self._latest[1]
        made = self._made(found[1], text)
        self._latest = None if made is None else (text, made)
        return made

    def start(self) -> None:
        """Open the model, embed what has no vector yet and make the index: beside the work, and in a moment."""
        if self._opening is not None and self._store.meaning is not None:
            self._beside(lambda: None if self._closing.wait(_SETTLES) else self._opened(_WAITS))

    def wait(self) -> None:
        """Open the model now, and embed what waits for it when that is little; many are embedded beside the work."""
        if self._store.meaning is None or self._opened(_WAITS) is None:
            return
        found = self._usable()
        if found is not None and found[0].count_awaiting(found[1].model) <= _AT_ONCE:
            self._catch_up_now(*found)

    def catch_up(self, progress: Progress = lambda _, __: None) -> int:
        """Embed every memory that has no vector of this model, be it one of another; how many.

        What is done is done: cut off at any moment, it goes on from there the next time.

        Raises: EmbeddingError, StoreError.
        """
        meaning, embedder = self._store.meaning, self._opened(_WAITS)
        if meaning is None or embedder is None:
            raise EmbeddingError(self._opening.problem if self._opening else "no embedder is configured")
        done = self._catch_up(meaning, embedder, progress)
        meaning.prepare(embedder.model)
        return done

    def close(self) -> None:
        """Stop what goes on beside the work."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(_ENDS)

    # -- how it is done

    def _opened(self, seconds: float) -> Embedder | None:
        return None if self._opening is None else self._opening.wait(seconds)

    def _usable(self) -> tuple[Meaning, Embedder] | None:
        """The store's meaning and an open model, when the two fit."""
        if self._opening is None or (meaning := self._store.meaning) is None:
            return None
        embedder = self._opening.wait(_WAITS) if self._patient else self._opening.ready()
        return None if embedder is None or self._foreign(meaning, embedder) else (meaning, embedder)

    def _foreign(self, meaning: Meaning, embedder: Embedder) -> str:
        """That the store is of another model, as a sentence; empty when it is not."""
        other = meaning.other_model(embedder.model)
        if other is None:
            return ""
        return (
            f"these memories were embedded by {other}, and the model here is {embedder.model}: {REEMBED} embeds them "
            "anew, and until then search goes by words alone"
        )

    def _made(self, embedder: Embedder, text: str) -> Embedding | None:
        from keepmum import vectors

        try:
            made = Embedding(embedder.model, vectors.pack(embedder.embed([text])[0]))
        except EmbeddingError as error:
            self._failed = str(error)
            return None
        self._failed = ""
        return made

    def _catch_up_first_or_beside(self, meaning: Meaning, embedder: Embedder) -> None:
        """See to what has no vector yet: before a patient caller's search, else beside it."""
        if self._patient:
            self._catch_up_now(meaning, embedder)
        elif not meaning.is_ready(embedder.model):
            self._beside(lambda: embedder)

    def _catch_up_now(self, meaning: Meaning, embedder: Embedder) -> None:
        try:
            self._catch_up(meaning, embedder)
            meaning.prepare(embedder.model)
        except (EmbeddingError, StoreError) as error:
            self._failed = f"not every memory is found by its meaning: {error}"

    def _beside(self, opened: Callable[[], Embedder | None]) -> None:
        """Catch up in a thread, one at a time."""
        if self._at_work.acquire(blocking=False):
            self._thread = threading.Thread(target=self._run, args=(opened,), name="keepmum-vectors", daemon=True)
            self._thread.start()

    def _run(self, opened: Callable[[], Embedder | None]) -> None:
        try:
            meaning, embedder = self._store.meaning, opened()
            if meaning is None or embedder is None or self._closing.is_set() or self._foreign(meaning, embedder):
                return
            self._catch_up(meaning, embedder)
            if not self._closing.is_set():
                meaning.prepare(embedder.model)
        except (EmbeddingError, StoreError) as error:
            self._failed = f"not every memory is found by its meaning: {error}"
        finally:
            self._at_work.release()

    def _catch_up(self, meaning: Meaning, embedder: Embedder, progress: Progress = lambda _, __: None) -> int:
        from keepmum import vectors

        done, total = 0, meaning.count_awaiting(embedder.model)
        while not self._closing.is_set() and (some := meaning.awaiting(embedder.model, _AT_ONCE)):
            embedded: list[tuple[Memory, Embedding]] = []
            while len(embedded) < len(some) and not self._closing.is_set():
                batch = some[len(embedded) : len(embedded) + _TOGETHER]
                rows = embedder.embed([ranking.told(memory) for memory in batch])
                made = (Embedding(embedder.model, vectors.pack(row)) for row in rows)
                embedded += zip(batch, made, strict=True)
            meaning.keep(embedded)
            done += len(embedded)
            progress(done, max(done, total))
        return done
