"""Search by words: which words are worth looking up, and the memories that hold them, best first by BM25."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from keepmum import ranking
from keepmum.memory import Filter
from keepmum.stores.sqlite import rows, schema

__all__ = ["Found", "Query", "SqliteWords", "passing"]

Query = Callable[[str, Sequence[rows.SqlValue]], list[sqlite3.Row]]
Found = list[tuple[sqlite3.Row, float]]  # rows with how well they fit, best first

_COMMON = 0.15  # of all memories hold it: a word that says little
_ENOUGH_WORDS = 2
_WEIGHED = 15_000  # memories that hold a word, counted once for each word: weighing so many takes 15 ms
_WORTH_COUNTING = 1000  # memories; a search among fewer is fast in any case
_OVERFETCH = 8  # times as many matches as are wanted, before the filter
_MOSTLY = 2  # times as many, of which as many as are wanted mostly pass it
# What a word counts in each column; what was said around a memory counts half.
_WEIGHTS = ", ".join("0.5" if column == "context" else "1" for column in schema.SEARCHED)
_MATCHING = (
    f"SELECT rowid AS place, -bm25(words, {_WEIGHTS}) AS relevance FROM words"
    " WHERE words MATCH ? AND rowid >= ? ORDER BY relevance DESC, place LIMIT ?"
)


class SqliteWords:
    """The full-text leg of the embedded store."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def best(self, fields: str, words: Sequence[str], wanted: Filter, limit: int) -> Found:
        """Up to `limit` memories that hold any of `words` and pass the filter, as rows of `number` and `fields`."""
        if not words:
            return []
        telling, first = self._telling([_quoted(word) for word in words])
        expression = " OR ".join(telling)
        # Most searches are answered by the best few of all, which spares a look at thousands of rows; where the filter
        # leaves out too many of these, all that match are looked at.
        ranked = [(row[0], row[1]) for row in self._query(_MATCHING, (expression, first, limit * _OVERFETCH))]
        found: Found = []
        for some in (ranked[: limit * _MOSTLY], ranked[limit * _MOSTLY :]):
            if len(found) < limit:
                found += passing(self._query, fields, some, wanted)
        if len(found) < limit and (first or len(ranked) == limit * _OVERFETCH):
            return passing(self._query, fields, self._best_that_pass(expression, wanted, limit), wanted)
        return found[:limit]

    def _best_that_pass(self, expression: str, wanted: Filter, limit: int) -> list[tuple[int, float]]:
        condition, parameters = rows.where(wanted)
        found = self._query(
            f"SELECT place, relevance FROM ({_MATCHING}) CROSS JOIN memories m ON m.seq = place"
            f" WHERE {condition} ORDER BY relevance DESC, place LIMIT ?",
            (expression, 0, -1, *parameters, limit),
        )
        return [(row[0], row[1]) for row in found]

    def _telling(self, words: Sequence[str]) -> tuple[Sequence[str], int]:
        """The words that tell memories apart, as many as a search can afford, and the first row to look at.

        A word that every seventh memory holds costs the most to look up and decides the least: leaving such words out
        halves the slowest searches and moves nDCG@10 by .001 at most, on our development questions. In a large store
        the rarest words go first, until what they stand in adds up to more than can be weighed in a few milliseconds.
        Where even the rarest stands in more, the latest memories are weighed alone.
        """
        memories = int(self._query("SELECT coalesce(max(seq), 0) FROM memories", ())[0][0])
        if memories < _WORTH_COUNTING or (len(words) <= _ENOUGH_WORDS and memories <= _WEIGHED):
            return words, 0
        common = int(min(memories * _COMMON, _WEIGHED)) + 1
        held = f"(SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT {common}))"
        counted = zip(words, tuple(self._query(f"SELECT {', '.join([held] * len(words))}", words)[0]), strict=True)
        rare = sorted(((count, word) for word, count in counted if count > 0), key=lambda pair: pair[0])
        telling: list[str] = []
        left = _WEIGHED
        for count, word in rare:
            left -= count
            if count < common and (left >= 0 or not telling):
                telling.append(word)
        if len(telling) < _ENOUGH_WORDS and memories * _COMMON <= _WEIGHED:
            return words, 0
        if telling or not rare:
            return telling or words, 0
        rarest = [word for _, word in rare[:_ENOUGH_WORDS]]
        return rarest, self._first_of_latest(" OR ".join(rarest))

    def _first_of_latest(self, expression: str) -> int:
        """The row from which on as many memories match as are weighed."""
        found = self._query(
            f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET {_WEIGHED}", (expression,)
        )
        return int(found[0][0]) if found else 0


def passing(query: Query, fields: str, found: Sequence[tuple[int, float]], wanted: Filter) -> Found:
    """Those of `found`, row numbers with how well they fit, that pass the filter, in that order.

    Each is a row of its `number` and `fields`.
    """
    if not found:
        return []
    condition, parameters = rows.where(wanted)
    numbers = ", ".join(str(number) for number, _ in found)
    # The cross join has these rows looked up and then filtered; left to itself SQLite filters all there are first.
    passed = query(
        f"SELECT m.seq AS number, {fields} FROM json_each(?) CROSS JOIN memories m ON m.seq = value WHERE {condition}",
        (f"[{numbers}]", *parameters),
    )
    by_number = {row[0]: row for row in passed}
    return [(by_number[number], fit) for number, fit in found if number in by_number]


def _quoted(word: str) -> str:
    """A word as a string of the full-text query language, in which nothing is an operator.

    A lone character of a script without spaces finds the pairs that it begins.
    """
    whole = '"' + word.replace('"', '""') + '"'
    return f"{whole} *" if ranking.is_part(word) else whole
