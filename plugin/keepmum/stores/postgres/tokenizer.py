"""The words of a text as SQLite's full-text tokenizer finds them, so that both stores find the same."""

from __future__ import annotations

import sqlite3
import threading
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from keepmum.stores.sqlite.schema import SEARCHED, TOKENIZER

__all__ = ["COLUMN_GAP", "CONTEXT_WEIGHT", "Posting", "Tokenizer"]

CONTEXT_WEIGHT = 0.5  # of the neighbours in the session; the other columns count whole
COLUMN_GAP = 1 << 20  # between the places of two columns, so that no phrase spans them
_MOST_KNOWN = 10_000  # query words that are remembered


class Posting(NamedTuple):
    """One word of a memory."""

    word: str
    weight: float  # how often it occurs, by column
    places: list[int]


class Tokenizer:
    """SQLite's full-text tokenizer, by way of an index in memory: SQLite has no other interface to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[str, ...]] = {}  # by query word: searches look up the same words again and again
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        columns = ", ".join(SEARCHED)
        self._db.execute(f"CREATE VIRTUAL TABLE said USING fts5({columns}, tokenize = '{TOKENIZER}')")
        self._db.execute("CREATE VIRTUAL TABLE found USING fts5vocab(said, instance)")

    def postings(self, texts: Sequence[str | None]) -> tuple[list[Posting], int]:
        """The words of a memory's `SEARCHED` columns, and how many there are with repetitions."""
        weights: defaultdict[str, float] = defaultdict(float)
        places: defaultdict[str, list[int]] = defaultdict(list)
        count = 0
        for _, word, column, place in self._tokens([[text or "" for text in texts]]):
            count += 1
            weights[word] += CONTEXT_WEIGHT if column == "context" else 1.0
            places[word].append(SEARCHED.index(column) * COLUMN_GAP + place)
        return [Posting(word, weight, places[word]) for word, weight in weights.items()], count

    def phrases(self, asked: Sequence[str]) -> list[tuple[str, ...]]:
        """The words that each query word consists of, in order: several for `foo-bar`, none for punctuation."""
        found = {word: self._known.get(word) for word in asked}
        if unknown := [word for word, known in found.items() if known is None]:
            split: list[list[str]] = [[] for _ in unknown]
            for number, word, _, _ in self._tokens([(word,) for word in unknown]):
                split[number - 1].append(word)
            learnt = dict(zip(unknown, map(tuple, split), strict=True))
            if len(self._known) + len(learnt) > _MOST_KNOWN:
                self._known.clear()
            self._known.update(learnt)
            found.update(learnt)
        return [found[word] or () for word in asked]

    def close(self) -> None:
        """Close the index."""
        with self._lock:  # SQLite would crash a thread that uses it
            self._db.close()

    def _tokens(self, texts: Sequence[Sequence[str]]) -> list[tuple[int, str, str, int]]:
        """Row (from 1), word, column and place of each token of some rows of columns."""
        width = max(map(len, texts), default=1)
        columns, marks = ", ".join(SEARCHED[:width]), ", ".join("?" * width)
        with self._lock:
            self._db.execute("BEGIN")
            try:
                self._db.executemany(f"INSERT INTO said({columns}) VALUES ({marks})", texts)
                return self._db.execute("SELECT doc, term, col, offset FROM found ORDER BY doc, col, offset").fetchall()
            finally:
                self._db.execute("ROLLBACK")
