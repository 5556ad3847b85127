"""Spelling correction: for a query word that no memory holds, similar words that memories hold."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Sequence

from keepmum.core.spelling import MIN_LENGTH, PREFIX, may_be_misspelt, misspelt, nearest
from keepmum.stores.sqlite import rows, schema

__all__ = ["Spelling"]

_VOCABULARY = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, row)"
_NEAR = """SELECT term FROM temp.vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?
    ORDER BY doc DESC"""


class Spelling:
    """Corrections of query words, from the vocabulary of the full-text index."""

    def __init__(self, query: Callable[[str, Sequence[rows.SqlValue]], list[sqlite3.Row]]) -> None:
        """`query` runs a statement on the store."""
        self._query = query

    def unknown(self, words: Iterable[str]) -> list[str]:
        """The words that no memory holds and that may be misspelt."""
        asked = list(filter(may_be_misspelt, words))
        if not asked:
            return []
        held = ", ".join(["EXISTS (SELECT 1 FROM words WHERE words MATCH ?)"] * len(asked))
        known = self._query(f"SELECT {held}", [f'"{word}"' for word in asked])[0]
        return [word for word, is_known in zip(asked, known, strict=True) if not is_known]

    def corrections(self, unknown: Iterable[str]) -> list[str]:
        """Full-text expressions that match words one typo away from the `unknown` ones, most frequent first."""
        suspects = misspelt(unknown)
        if not suspects:
            return []
        self._query(_VOCABULARY, ())
        with contextlib.closing(_Stemmer()) as stemmer:
            stems = [stem for stem in map(stemmer.stem, suspects) if len(stem) >= MIN_LENGTH]
            return [stemmer.expression(term) for stem in stems for term in self._near(stem)]

    def _near(self, stem: str) -> list[str]:
        """The terms of the index one typo away from a stem."""
        first, length = stem[:PREFIX], len(stem)
        found = self._query(_NEAR, (first, first + "\U0010ffff", length - 1, length + 1))
        return nearest(stem, (row[0] for row in found))


class _Stemmer:
    """The tokenizer of the full-text index, by way of an index in memory: SQLite has no other interface to it."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute(f"CREATE VIRTUAL TABLE said USING fts5(word, tokenize = '{schema.TOKENIZER}')")
        self._db.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(said, row)")

    def stem(self, word: str) -> str:
        """The term for a word in the index."""
        self._db.execute("DELETE FROM said")
        self._db.execute("INSERT INTO said VALUES (?)", (word,))
        return str(self._db.execute("SELECT term FROM stems").fetchone()[0])

    def expression(self, term: str) -> str:
        """The expression that matches a term of the index. A query stems the term again, which may shorten it."""
        again = self.stem(term)
        return f'"{term}"' if again == term else f'"{again}" *'

    def close(self) -> None:
        """Close the index."""
        self._db.close()
