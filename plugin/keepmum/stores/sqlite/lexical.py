"""Search by words: which words are worth looking up, and the memories that hold them, best first by BM25."""

from __future__ import annotations

import bisect
import itertools
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from keepmum.core import ranking
from keepmum.core.memory import Filter
from keepmum.stores.sqlite import rows, schema
from keepmum.stores.sqlite.spelling import Spelling

__all__ = ["Found", "LexicalSearch", "Query", "passing"]

Query = Callable[[str, Sequence[rows.SqlValue]], list[sqlite3.Row]]
Found = list[tuple[sqlite3.Row, float]]  # rows with how well they fit, best first

_COMMON = 0.15  # of all memories hold it: a word that says little
_ENOUGH_WORDS = 2
_WEIGHED = 12_000  # memories that hold a word, counted once for each word: weighing so many takes 12 ms
_SPELT = 20_000  # memories; in more it takes over a millisecond to look for words like one that stands nowhere
_WORTH_COUNTING = 1000  # memories; a search among fewer is fast in any case
_REACHES = (1, 2, 8, 32)  # times as many matches as are wanted, of which so many may pass the filter
_MOSTLY = 2  # of which they mostly do
# What a word counts in each column; what was said around a memory counts half.
_WEIGHTS = ", ".join("0.5" if column == "context" else "1" for column in schema.SEARCHED)
_MATCHING = (
    f"SELECT rowid AS place, -bm25(words, {_WEIGHTS}) AS relevance FROM words"
    " WHERE words MATCH ? AND rowid >= ? ORDER BY relevance DESC, place LIMIT ?"
)


class LexicalSearch:
    """The full-text leg of the embedded store."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._spelling = Spelling(query)
        self._reach = _MOSTLY  # times as many matches as are wanted: what the last search had need of
        self._common: set[str] = set()  # words that were found too common, in a store of
        self._counted_in = 0  # so many memories

    def best(self, fields: str, words: Sequence[str], wanted: Filter, limit: int) -> Found:
        """Up to `limit` memories that hold any of `words` and pass the filter, as rows of `number` and `fields`."""
        if not words:
            return []
        memories = int(self._query("SELECT coalesce(max(seq), 0) FROM memories", ())[0][0])
        telling, first = self._telling({_quoted(word): word for word in words}, memories)
        expression = " OR ".join(telling)
        # Most searches are answered by the best few of all, which spares a look at thousands of rows; where the filter
        # leaves out too many of these, all that match are looked at.
        found: Found = []
        asked, looked_at = limit * self._reach, 0
        ranked = self._ranked(expression, first, asked)
        for reach in _REACHES:
            if looked_at == asked:
                asked = limit * reach
                ranked = self._ranked(expression, first, asked)
            found += passing(self._query, fields, ranked[looked_at : limit * reach], wanted)
            looked_at = limit * reach
            too_few = len(found) * _REACHES[-1] < looked_at  # to be enough at last, if they go on like this
            if len(found) >= limit or len(ranked) < looked_at or too_few:
                break
        if len(found) >= limit:
            self._reach = max(reach, _MOSTLY)
        elif first or len(ranked) >= looked_at:
            return passing(self._query, fields, self._best_that_pass(expression, wanted, limit), wanted)
        return found[:limit]

    def _ranked(self, expression: str, first: int, limit: int) -> list[tuple[int, float]]:
        return [(row[0], row[1]) for row in self._query(_MATCHING, (expression, first, limit))]

    def _best_that_pass(self, expression: str, wanted: Filter, limit: int) -> list[tuple[int, float]]:
        condition, parameters = rows.where(wanted)
        found = self._query(
            f"SELECT place, relevance FROM ({_MATCHING}) CROSS JOIN memories m ON m.seq = place"
            f" WHERE {condition} ORDER BY relevance DESC, place LIMIT ?",
            (expression, 0, -1, *parameters, limit),
        )
        return [(row[0], row[1]) for row in found]

    def _telling(self, words: Mapping[str, str], memories: int) -> tuple[Sequence[str], int]:
        """The words that tell so many memories apart, as many as a search can afford, and the first row to look at.

        A word that every seventh memory holds costs the most to look up and decides the least: leaving such words out
        halves the slowest searches and moves nDCG@10 by .001 at most, on our development questions. In a large store
        the rarest words go first, until what they stand in adds up to more than can be weighed in a few milliseconds.
        Where even two do, be it that no word is rarer, the latest memories are weighed alone.
        """
        if memories < _WORTH_COUNTING or (len(words) <= _ENOUGH_WORDS and memories <= _WEIGHED):
            return [*words, *self._spelling.meant(self._spelling.unknown(words.values()))], 0
        common = int(min(memories * _COMMON, _WEIGHED)) + 1
        counted = self._counted(words, memories, common)
        unknown = [word for quoted, word in words.items() if not counted[quoted]]
        meant = self._spelling.meant(unknown) if memories <= _SPELT else []
        rare = sorted(((count, word) for word, count in counted.items() if count > 0), key=lambda pair: pair[0])
        telling = [(count, word) for count, word in rare if count < common]
        if not rare or (len(telling) < _ENOUGH_WORDS and memories <= _WEIGHED):
            return [*words, *meant], 0
        added_up = list(itertools.accumulate(count for count, _ in telling))
        fitting = max(_ENOUGH_WORDS, bisect.bisect_right(added_up, _WEIGHED))
        chosen = [word for _, word in (telling or rare)[:fitting]]
        if telling and added_up[len(chosen) - 1] <= _WEIGHED:
            return chosen + meant, 0
        return chosen, self._first_of_latest(" OR ".join(chosen))

    def _counted(self, words: Iterable[str], memories: int, common: int) -> dict[str, int]:
        """How many memories hold each word, `common` standing for as many or more.

        To count these takes the longest, and they stay what they are: they are counted again when the store has grown
        or shrunk by one in a hundred.
        """
        if abs(memories - self._counted_in) * 100 > memories:
            self._common, self._counted_in = set(), memories
        counts = dict.fromkeys(words, common)
        unknown = [word for word in counts if word not in self._common]
        if unknown:
            held = f"(SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT {common}))"
            counts.update(
                zip(unknown, self._query(f"SELECT {', '.join([held] * len(unknown))}", unknown)[0], strict=True)
            )
            self._common.update(word for word in unknown if counts[word] == common)
        return counts

    def _first_of_latest(self, expression: str) -> int:
        """The row from which on as many memories match as are weighed."""
        found = self._query(
            f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET {_WEIGHED}", (expression,)
        )
        return int(found[0][0]) if found else 0


def passing(
    query: Query,
    fields: str,
    found: Sequence[tuple[int, float]],
    wanted: Filter,
    known: Mapping[int, sqlite3.Row] = MappingProxyType({}),
) -> Found:
    """Those of `found`, row numbers with how well they fit, that pass the filter, in that order.

    Each is a row of its `number` and `fields`; those `known` are not looked up again.
    """
    by_number = dict(known)
    unknown = [number for number, _ in found if number not in by_number]
    if unknown:
        condition, parameters = rows.where(wanted)
        # The cross join has these rows looked up and then filtered; left to itself SQLite filters all there are first.
        passed = query(
            f"SELECT m.seq AS number, {fields} FROM json_each(?) CROSS JOIN memories m ON m.seq = value"
            f" WHERE {condition}",
            (str(unknown), *parameters),
        )
        by_number.update((row[0], row) for row in passed)
    return [(by_number[number], fit) for number, fit in found if number in by_number]


def _quoted(word: str) -> str:
    """A word as a string of the full-text query language, in which nothing is an operator.

    A lone character of a script without spaces finds the pairs that it begins.
    """
    whole = '"' + word.replace('"', '""') + '"'
    return f"{whole} *" if ranking.is_lone_character(word) else whole
