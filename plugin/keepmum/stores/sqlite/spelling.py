"""Words of a question that no memory holds: which words of the memories they may be a slip of the keyboard from."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Sequence

from keepmum.stores.sqlite import rows, schema

__all__ = ["Spelling", "is_slip"]

# Letters of a word without its ending: among shorter ones too many are one letter apart, as layer is from later.
# With 6, questions with one slip find .008 to .036 nDCG@10 more, in six sets, and those without lose nothing.
_LEAST = 6
_BEGINNING = 2  # letters that are taken to be right, so that few words of the index have to be compared
_UNKNOWN = 3  # words: a question with more that stand nowhere is no slip but in another language
_MEANT = 3  # words that one may have been meant to be
_VOCABULARY = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, row)"
_NEAR = """SELECT term FROM temp.vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?
    ORDER BY doc DESC"""


class Spelling:
    """What the full-text index says of words that it does not hold."""

    def __init__(self, query: Callable[[str, Sequence[rows.SqlValue]], list[sqlite3.Row]]) -> None:
        """`query` asks the store."""
        self._query = query

    def unknown(self, words: Iterable[str]) -> list[str]:
        """Those that no memory holds and that may be a slip."""
        asked = list(filter(_may_be_one, words))
        if not asked:
            return []
        held = ", ".join(["EXISTS (SELECT 1 FROM words WHERE words MATCH ?)"] * len(asked))
        known = self._query(f"SELECT {held}", [f'"{word}"' for word in asked])[0]
        return [word for word, is_known in zip(asked, known, strict=True) if not is_known]

    def meant(self, unknown: Iterable[str]) -> list[str]:
        """For words that no memory holds, expressions that match those one slip away, commonest first."""
        unknown = list(filter(_may_be_one, unknown))
        if not 0 < len(unknown) <= _UNKNOWN:
            return []
        self._query(_VOCABULARY, ())
        with contextlib.closing(_Stemmer()) as stemmer:
            stems = [stem for stem in map(stemmer.stem, unknown) if len(stem) >= _LEAST]
            return [stemmer.expression(term) for stem in stems for term in self._near(stem)]

    def _near(self, stem: str) -> list[str]:
        """The terms of the index that are one slip from a stem."""
        first, length = stem[:_BEGINNING], len(stem)
        found = self._query(_NEAR, (first, first + "\U0010ffff", length - 1, length + 1))
        return [row[0] for row in found if row[0].isalpha() and is_slip(stem, row[0])][:_MEANT]


def _may_be_one(word: str) -> bool:
    return len(word) >= _LEAST and word.isalpha()


class _Stemmer:
    """The tokenizer of the full-text index, which SQLite lends to indexes alone."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute(f"CREATE VIRTUAL TABLE said USING fts5(word, tokenize = '{schema.TOKENIZER}')")
        self._db.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(said, row)")

    def stem(self, word: str) -> str:
        """The term under which a word stands in the index."""
        self._db.execute("DELETE FROM said")
        self._db.execute("INSERT INTO said VALUES (?)", (word,))
        return str(self._db.execute("SELECT term FROM stems").fetchone()[0])

    def expression(self, term: str) -> str:
        """What matches a term of the index, which is stemmed once more where it is asked for, and may lose a letter."""
        again = self.stem(term)
        return f'"{term}"' if again == term else f'"{again}" *'

    def close(self) -> None:
        """Let go of its table."""
        self._db.close()


def is_slip(one: str, other: str) -> bool:
    """Whether a letter was left out, put in, changed, or swapped with the next."""
    both = zip(one, other, strict=False)
    same = next((at for at, (left, right) in enumerate(both) if left != right), min(len(one), len(other)))
    rest, others = one[same:], other[same:]
    swapped = rest[:2] == others[1::-1] and rest[2:] == others[2:]
    return rest[1:] == others[1:] or rest[1:] == others or rest == others[1:] or swapped
