"""Lexical search: which query words to look up, and the memories that hold them, ranked by BM25."""

from __future__ import annotations

import bisect
import itertools
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from keepmum.core import ranking
from keepmum.core.memory import Filter
from keepmum.core.spelling import MOST_MEMORIES
from keepmum.stores.sqlite import rows, schema
from keepmum.stores.sqlite.spelling import Spelling

__all__ = ["LexicalSearch", "Query", "Scored", "filtered"]

Query = Callable[[str, Sequence[rows.SqlValue]], list[sqlite3.Row]]
Scored = list[tuple[sqlite3.Row, float]]  # rows with their scores, best first

_MAX_MATCHES = 12_000  # memories per word, summed over the words of a query: scoring that many takes 12 ms
_GROWTH = (1, 2, 8, 32)  # growth of the candidate limit until enough rows pass the filter
_USUAL_GROWTH = 2  # usually enough
# Weights of the columns; the context of a memory counts half.
_WEIGHTS = ", ".join("0.5" if column == "context" else "1" for column in schema.SEARCHED)
_MATCHING = (
    f"SELECT rowid AS number, -bm25(words, {_WEIGHTS}) AS relevance FROM words"
    " WHERE words MATCH ? AND rowid >= ? ORDER BY relevance DESC, number LIMIT ?"
)
_STATEMENT = "{title text identifiers}"  # the columns of what a memory says
_SHARING = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"


class LexicalSearch:
    """Lexical search in a SQLite store."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._spelling = Spelling(query)
        self._growth = _USUAL_GROWTH  # that the last search needed
        self._common: set[str] = set()  # words that are common
        self._counted_in = 0  # number of memories when `_common` was counted

    def best(self, fields: str, words: Sequence[str], wanted: Filter, limit: int) -> Scored:
        """Up to `limit` memories that hold any of `words` and pass the filter, as rows of `number` and `fields`."""
        if not words:
            return []
        memories = int(self._query("SELECT coalesce(max(seq), 0) FROM memories", ())[0][0])
        selected, first = self._selected({_quoted(word): word for word in words}, memories)
        expression = " OR ".join(selected)
        # Enough of the best matches usually pass the filter, so that thousands of rows need not be filtered. If too few
        # of them do, all matches are filtered.
        found: Scored = []
        asked, checked = limit * self._growth, 0
        ranked = self._ranked(expression, first, asked)
        for growth in _GROWTH:
            if checked == asked:
                asked = limit * growth
                ranked = self._ranked(expression, first, asked)
            found += filtered(self._query, fields, ranked[checked : limit * growth], wanted)
            checked = limit * growth
            too_few = len(found) * _GROWTH[-1] < checked  # at this rate the last step would not be enough either
            if len(found) >= limit or len(ranked) < checked or too_few:
                break
        if len(found) >= limit:
            self._growth = max(growth, _USUAL_GROWTH)
        elif first or len(ranked) >= checked:
            return filtered(self._query, fields, self._ranked_and_filtered(expression, wanted, limit), wanted)
        return found[:limit]

    def sharing(self, wanted: Sequence[Sequence[Sequence[str]]], limit: int) -> list[list[int]]:
        """For each of `wanted`, up to `limit` row numbers of memories that hold all words of one of its groups.

        The latest rows come first.
        """
        queries = [
            " OR ".join(f"({' AND '.join(map(_quoted, group))})" for group in groups) for groups in wanted if groups
        ]
        if not queries:
            return [[] for _ in wanted]
        parts = [f"SELECT {number} AS place, rowid FROM ({_SHARING})" for number in range(len(queries))]
        parameters = [value for query in queries for value in (f"{_STATEMENT} : ({query})", limit)]
        found: list[list[int]] = [[] for _ in queries]
        for place, row in self._query(" UNION ALL ".join(parts), parameters):
            found[place].append(row)
        given = iter(found)
        return [next(given) if groups else [] for groups in wanted]

    def _ranked(self, expression: str, first: int, limit: int) -> list[tuple[int, float]]:
        return [(row[0], row[1]) for row in self._query(_MATCHING, (expression, first, limit))]

    def _ranked_and_filtered(self, expression: str, wanted: Filter, limit: int) -> list[tuple[int, float]]:
        condition, parameters = rows.where(wanted)
        found = self._query(
            f"SELECT number, relevance FROM ({_MATCHING}) CROSS JOIN memories m ON m.seq = number"
            f" WHERE {condition} ORDER BY relevance DESC, number LIMIT ?",
            (expression, 0, -1, *parameters, limit),
        )
        return [(row[0], row[1]) for row in found]

    def _selected(self, words: Mapping[str, str], memories: int) -> tuple[Sequence[str], int]:
        """Expressions for the words to look up, and the first row number to search.

        Without common words (see `ranking.COMMON`) the slowest searches take half the time. In a large store the rarest
        words are taken until their matches sum up to more than can be scored in a few milliseconds. If two words
        already match more than that, or all words are common, only the latest memories are scored.
        """
        if memories < ranking.MIN_MEMORIES or (len(words) <= ranking.MIN_WORDS and memories <= _MAX_MATCHES):
            return [*words, *self._spelling.corrections(self._spelling.unknown(words.values()))], 0
        common = int(min(memories * ranking.COMMON, _MAX_MATCHES)) + 1
        counted = self._counted(words, memories, common)
        unknown = [word for quoted, word in words.items() if not counted[quoted]]
        corrected = self._spelling.corrections(unknown) if memories <= MOST_MEMORIES else []
        rare = sorted(((count, word) for word, count in counted.items() if count > 0), key=lambda pair: pair[0])
        uncommon = [(count, word) for count, word in rare if count < common]
        if not rare or (len(uncommon) < ranking.MIN_WORDS and memories <= _MAX_MATCHES):
            return [*words, *corrected], 0
        sums = list(itertools.accumulate(count for count, _ in uncommon))
        fitting = max(ranking.MIN_WORDS, bisect.bisect_right(sums, _MAX_MATCHES))
        chosen = [word for _, word in (uncommon or rare)[:fitting]]
        if uncommon and sums[len(chosen) - 1] <= _MAX_MATCHES:
            return chosen + corrected, 0
        first = self._query(
            f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET {_MAX_MATCHES}",
            (" OR ".join(chosen),),
        )
        return chosen, int(first[0][0]) if first else 0

    def _counted(self, words: Iterable[str], memories: int, common: int) -> dict[str, int]:
        """Number of memories that hold each word, at most `common`.

        Common words take longest to count and rarely change, so they are cached until the store has grown or shrunk by
        one percent.
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


def filtered(
    query: Query,
    fields: str,
    found: Sequence[tuple[int, float]],
    wanted: Filter,
    known: Mapping[int, sqlite3.Row] = MappingProxyType({}),
) -> Scored:
    """The rows among `found`, row numbers with scores, that pass the filter, in that order.

    Each has the columns `number` and `fields`. Rows in `known` are not read again.
    """
    by_number = dict(known)
    unknown = [number for number, _ in found if number not in by_number]
    if unknown:
        condition, parameters = rows.where(wanted)
        # The cross join makes SQLite read these rows first; without it, it would filter all memories first.
        passed = query(
            f"SELECT m.seq AS number, {fields} FROM json_each(?) CROSS JOIN memories m ON m.seq = value"
            f" WHERE {condition}",
            (str(unknown), *parameters),
        )
        by_number.update((row[0], row) for row in passed)
    return [(by_number[number], score) for number, score in found if number in by_number]


def _quoted(word: str) -> str:
    """A word as a string literal of the full-text query language.

    A single character of a script without spaces matches as a prefix, because such text is indexed as pairs.
    """
    whole = '"' + word.replace('"', '""') + '"'
    return f"{whole} *" if ranking.is_lone_character(word) else whole
