"""What is measured: our service, with a model and without, and beside it each of its two legs in its plainest form."""

from __future__ import annotations

import contextlib
import random
import re
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

import numpy as np

from keepmum import open_memory
from keepmum.core.errors import SecretFound
from keepmum.core.memory import Activity, Change, Filter, Memory
from keepmum.embedding import BackgroundEmbedder
from keepmum.service import MemoryService, Place, ServiceOptions
from keepmum.stores import Capabilities, Features, Receipt, Store, sqlite
from keepmum.stores.composite import CompositeStore
from keepmum.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from keepmum.embedding import Embedder
    from keepmum.embedding.base import Vectors

__all__ = ["BM25", "Dense", "Keepmum", "ReadOnce", "Split", "System", "filling"]

_WORD = re.compile(r"\w+")


class System(Protocol):
    """A memory that is filled once and then asked."""

    def index(self, memories: Sequence[Mapping[str, Any]]) -> int:
        """Take memories in; how many it refused."""

    def search(self, query: str, limit: int) -> list[str]:
        """The ids of the best, best first."""

    def close(self) -> None:
        """Remove what it made."""


class ReadOnce:
    """An embedder that reads a memory once for all systems. Questions are read each time: that is what is timed."""

    def __init__(self, embedder: Embedder) -> None:
        self.model, self.dimensions = embedder.model, embedder.dimensions
        self.filling = False
        self._embedder = embedder
        self._read: dict[str, Vectors] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row for each text."""
        if not self.filling:
            return self._embedder.embed(texts)
        for text in texts:
            if text not in self._read:
                self._read[text] = self._embedder.embed([text])
        return np.concatenate([self._read[text] for text in texts])


class Keepmum:
    """Our service, as programs open it."""

    def __init__(self, embedder: ReadOnce | None) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._embedder = embedder
        self.memory = open_memory(Path(self._folder.name, "memory.db"), embedder)
        self.ids: dict[str, str] = {}

    def index(self, memories: Sequence[Mapping[str, Any]]) -> int:
        """Take memories in through the one door, scanner and all."""
        refused = 0
        with filling(self._embedder):
            for memory in memories:
                given: dict[str, Any] = {
                    **self._where(),
                    **{name: memory.get(name) for name in ("title", "tags", "session")},
                }
                try:
                    kept = self.memory.remember(text=memory["text"], **given)
                except SecretFound:
                    refused += 1
                else:
                    self.ids.setdefault(kept.memory.id, memory["id"])
        return refused

    def search(self, query: str, limit: int) -> list[str]:
        """What recall gives."""
        return [self.ids[match.memory.id] for match in self.memory.recall(query, limit=limit)]

    def _where(self) -> dict[str, str]:
        """Where the next memory goes to."""
        return {}

    def close(self) -> None:
        """Remove the store."""
        self.memory.close()
        self._folder.cleanup()


class Split(Keepmum):
    """Our service over memories that are dealt out at random to two stores, or to one by the same dice.

    The second is one of ours, or a server's, of whose memories this machine has seen the texts, or the titles alone.
    """

    def __init__(self, embedder: ReadOnce | None, second: Literal["none", "ours", "texts", "titles"]) -> None:
        super().__init__(embedder)
        self._dice = random.Random(3)
        self.memory.go(Place(project="alpha"), "")
        if second == "none":
            return
        self.memory.close()
        first, other = (sqlite.SqliteStore(str(Path(self._folder.name, name))) for name in ("memory.db", "other.db"))
        server = cast(Store, _Server(other, texts=second == "texts"))
        stores: dict[str, Store] = {"sqlite": first, "rest": other if second == "ours" else server}
        self.memory = MemoryService(
            CompositeStore(stores, {"shared": "rest"}),
            lambda _: (),
            ServiceOptions(
                place=self.memory.place,
                embedder=BackgroundEmbedder(lambda: embedder) if embedder else None,
                patient=True,
            ),
        )

    def _where(self) -> dict[str, str]:
        return {"scope": self._dice.choice(["project", "shared"])}


class _Server:
    """A store that finds as a server does: in an order of its own, by scores that only tell that order.

    Of its memories `local` knows the titles, in ten words, or with `texts` everything.
    """

    caveat = ""

    def __init__(self, store: SqliteStore, *, texts: bool) -> None:
        self._store = store
        self._here = store if texts else sqlite.SqliteStore(f"{store.path}.titles")
        self.capabilities = Capabilities(cannot={"search": "in its own way"})
        self.features = Features(remote=self)

    @property
    def local(self) -> Store:
        return self._here

    def commit(self, changes: Sequence[Change], activity: Sequence[Activity] = ()) -> Receipt:
        """Keep what is new, and its title here."""
        if self._here is not self._store:
            new = [change.after for change in changes if change.after is not None]
            titles = [" ".join(memory.title.split()[:10]) for memory in new]
            known = [replace(memory, title=title, text=title) for memory, title in zip(new, titles, strict=True)]
            self._here.commit([Change(None, memory) for memory in known])
        return self._store.commit(changes, activity)

    def search(self, words: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """Best first."""
        found = self._store.search(words, wanted, limit)
        return [(memory, 1 / (60 + place)) for place, (memory, _) in enumerate(found, 1)]

    def close(self) -> None:
        self._here.close()
        self._store.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class BM25:
    """SQLite's full-text search alone, any of the words, stemmed."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5(id UNINDEXED, said, tokenize = 'porter unicode61')")

    def index(self, memories: Sequence[Mapping[str, Any]]) -> int:
        """Take titles, texts and tags in."""
        rows = [(memory["id"], _said(memory, with_tags=True)) for memory in memories]
        self._db.executemany("INSERT INTO words VALUES (?, ?)", rows)
        return 0

    def search(self, query: str, limit: int) -> list[str]:
        """Best first by BM25."""
        expression = " OR ".join(f'"{word}"' for word in _WORD.findall(query))
        sql = "SELECT id FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?"
        return [row[0] for row in self._db.execute(sql, (expression, limit))] if expression else []

    def close(self) -> None:
        """Let go of the table."""
        self._db.close()


class Dense:
    """The model alone: titles and texts by their cosine with the question."""

    def __init__(self, embedder: ReadOnce) -> None:
        self._embedder = embedder
        self.ids: list[str] = []
        self._vectors: Vectors = np.empty((0, embedder.dimensions), dtype=np.float32)

    def index(self, memories: Sequence[Mapping[str, Any]]) -> int:
        """Embed all."""
        self.ids = [memory["id"] for memory in memories]
        with filling(self._embedder):
            self._vectors = self._embedder.embed([_said(memory) for memory in memories])
        return 0

    def search(self, query: str, limit: int) -> list[str]:
        """Nearest first."""
        cosines = self._vectors @ self._embedder.embed([query])[0]
        return [self.ids[place] for place in np.argsort(-cosines)[:limit]]

    def close(self) -> None:
        """Nothing was made."""


@contextlib.contextmanager
def filling(embedder: ReadOnce | None) -> Iterator[None]:
    """While memories are stored: what the embedder has read before it does not read again."""
    if embedder is not None:
        embedder.filling = True
    yield
    if embedder is not None:
        embedder.filling = False


def _said(memory: Mapping[str, Any], *, with_tags: bool = False) -> str:
    tags = memory.get("tags") or () if with_tags else ()
    return "\n".join(filter(None, [memory.get("title"), memory["text"], *tags]))
