"""Lexical search in PostgreSQL: the words of SQLite's tokenizer in a table of postings, ranked by BM25.

Both stores find the same words, because the same code splits and stems them, and rank them alike, because the formula
and the weights are those of SQLite's `bm25`. Source: https://sqlite.org/fts5.html#the_bm25_function, read 2026-11-22
"""

from __future__ import annotations

import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from keepmum.core import ranking
from keepmum.stores.postgres import rows
from keepmum.stores.postgres.access import Database
from keepmum.stores.sqlite.schema import SEARCHED, TOKENIZER

__all__ = ["LexicalSearch", "Tokenizer"]

_CONTEXT_WEIGHT = 0.5  # of the neighbours in the session; the other columns count whole
_COLUMN_GAP = 1 << 20  # between the places of two columns, so that no phrase spans them
_IN_CONTEXT = SEARCHED.index("context") * _COLUMN_GAP  # places from here on are in the context, the last column
_K1, _B = 1.2, 0.75

# How many memories hold each word, and the BM25 of each memory. `extra` are memories that hold a phrase.
_SEARCH = f"""
WITH size AS MATERIALIZED (
        SELECT count(*) AS memories, greatest(avg(words), 1)::float8 AS mean FROM memories m WHERE {{scope}}),
    held AS (SELECT tenant, seq, word, weight, count(*) OVER (PARTITION BY word) AS holders FROM postings m
        WHERE {{scope}} AND ({{words}})),
    matched AS (SELECT tenant, seq, weight, holders FROM held
        UNION ALL SELECT * FROM unnest(
            %(tenants_of)s::bigint[], %(textsof)s::bigint[], %(weights_of)s::real[], %(holders_of)s::bigint[])),
    scored AS (SELECT m.tenant, m.seq, sum(greatest(1e-6, ln((size.memories - holders + .5) / (holders + .5)))
            * weight * {_K1 + 1} / (weight + {_K1} * ({1 - _B} + {_B} * m.words / size.mean))) AS relevance
        FROM matched JOIN memories m USING (tenant, seq), size WHERE {{scope}} AND {{condition}}
        GROUP BY m.tenant, m.seq ORDER BY relevance DESC, m.seq LIMIT %(limit)s)
SELECT {{fields}}, relevance FROM scored JOIN memories m USING (tenant, seq) ORDER BY relevance DESC, m.seq
"""
_STATEMENT = ("title", "text", "identifiers")  # the columns of what a memory says
_IN_STATEMENT = " OR ".join(
    f"place BETWEEN {SEARCHED.index(name) * _COLUMN_GAP} AND {(SEARCHED.index(name) + 1) * _COLUMN_GAP - 1}"
    for name in _STATEMENT
)
# The memories that hold every word of a group; `of` is the place of the memory that the group is of.
_SHARING = f"""
WITH asked AS (SELECT of, part, word, count(*) OVER (PARTITION BY part) AS words FROM unnest(
        %(places_of)s::int[], %(groups_of)s::int[], %(words_of)s::text[]) AS given(of, part, word)),
    held AS MATERIALIZED (SELECT tenant, seq, word FROM postings m WHERE {{scope}} AND word = ANY (%(words)s)
        AND EXISTS (SELECT 1 FROM unnest(places) AS place WHERE {_IN_STATEMENT})),
    shared AS (SELECT DISTINCT of, tenant, seq FROM (SELECT of, tenant, seq FROM held JOIN asked USING (word)
        GROUP BY of, part, tenant, seq, words HAVING count(*) = words) AS whole),
    found AS (SELECT {{fields}}, (%(ids)s::text[])[of + 1] AS given,
        row_number() OVER (PARTITION BY of ORDER BY m.seq DESC) AS rank
        FROM shared JOIN memories m USING (tenant, seq)
        WHERE {{scope}} AND {{condition}} AND m.id != (%(ids)s::text[])[of + 1])
SELECT * FROM found WHERE rank <= %(limit)s ORDER BY rank
"""
_PHRASES = """
SELECT tenant, seq, array_agg(word), json_agg(places) FROM postings m
WHERE {scope} AND word = ANY (%(words)s) GROUP BY tenant, seq HAVING count(*) = %(count)s
"""


class Posting(NamedTuple):
    """One word of a memory."""

    word: str
    weight: float  # how often it occurs, by column
    places: list[int]


class Tokenizer:
    """SQLite's full-text tokenizer, by way of an index in memory: SQLite has no other interface to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
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
            weights[word] += _CONTEXT_WEIGHT if column == "context" else 1.0
            places[word].append(SEARCHED.index(column) * _COLUMN_GAP + place)
        return [Posting(word, weight, places[word]) for word, weight in weights.items()], count

    def phrases(self, asked: Sequence[str]) -> list[tuple[str, ...]]:
        """The words that each query word consists of, in order: several for `foo-bar`, none for punctuation."""
        found: list[list[str]] = [[] for _ in asked]
        for number, word, _, _ in self._tokens([(word,) for word in asked]):
            found[number - 1].append(word)
        return list(map(tuple, found))

    def close(self) -> None:
        """Close the index."""
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


class LexicalSearch:
    """Postings of memories, and the search in them."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def index(self, db: Database, tenant: int, numbers: Sequence[int]) -> None:
        """Replace the postings of these rows by those of their present columns."""
        if not numbers:
            return
        given = list(numbers)
        found = db.query(f"SELECT seq, {', '.join(SEARCHED)} FROM memories WHERE tenant = %s AND seq = ANY (%s)",
                         tenant, given)  # fmt: skip
        by_row = {seq: self._tokenizer.postings(texts) for seq, *texts in found}
        postings = [(seq, one) for seq, (words, _) in by_row.items() for one in words]
        db.run("DELETE FROM postings WHERE tenant = %s AND seq = ANY (%s)", tenant, given)
        db.run(
            "INSERT INTO postings(tenant, word, seq, weight, places) SELECT %s, word, seq, weight, places::int[]"
            " FROM unnest(%s::text[], %s::bigint[], %s::real[], %s::text[]) AS given(word, seq, weight, places)",
            tenant, [one.word for _, one in postings], [seq for seq, _ in postings],
            [one.weight for _, one in postings], [f"{{{','.join(map(str, one.places))}}}" for _, one in postings],
        )  # fmt: skip
        db.run(
            "UPDATE memories SET words = given.words FROM unnest(%s::bigint[], %s::int[]) AS given(seq, words)"
            " WHERE tenant = %s AND memories.seq = given.seq",
            list(by_row), [count for _, count in by_row.values()], tenant,
        )  # fmt: skip

    def sharing(
        self,
        db: Database,
        fields: str,
        asked: Sequence[tuple[str, Sequence[Sequence[str]]]],
        condition: rows.Condition,
        limit: int,
    ) -> list[tuple[Any, ...]]:
        """Up to `limit` memories for each of `asked`, an id and groups of words: those that hold all words of a group.

        The latest come first, and the memory with that id is left out. Rows are `fields`, then the id.
        """
        wanted: list[tuple[int, int, str]] = []  # place of the id, number of the group, word
        groups = [(place, group) for place, (_, groups) in enumerate(asked) for group in groups]
        for number, (place, group) in enumerate(groups):
            held = {word for phrase in self._tokenizer.phrases(group) for word in phrase}
            wanted += [(place, number, word) for word in sorted(held)]
        if not wanted:
            return []
        places, numbers, words = (list(column) for column in zip(*wanted, strict=True))
        return db.query_named(
            _SHARING.format(fields=fields, scope=condition.scope, condition=condition.passes),
            {**condition.named, "ids": [name for name, _ in asked], "places_of": places, "groups_of": numbers,
             "words_of": words, "words": list({*words}), "limit": limit},
        )  # fmt: skip

    def best(
        self, db: Database, fields: str, asked: Iterable[str], condition: rows.Condition, limit: int
    ) -> list[tuple[Any, ...]]:
        """Up to `limit` memories that hold any word `asked` and pass, best first: `fields`, then the relevance."""
        single: list[str] = []
        prefixes: list[str] = []
        phrases: list[tuple[str, ...]] = []
        words = list(asked)
        for word, found in zip(words, self._tokenizer.phrases(words), strict=True):
            if len(found) > 1:
                phrases.append(found)
            elif found and ranking.is_lone_character(word):
                prefixes.append(found[0] + "%")
            else:
                single += found
        if not (single or prefixes or phrases):
            return []
        extra = [match for phrase in phrases for match in _phrase(db, phrase, condition)]
        lists = zip(*extra, strict=True) if extra else ([], [], [], [])
        names = ("tenants_of", "textsof", "weights_of", "holders_of")
        holds = "word = ANY (%(words)s)" + (" OR word LIKE ANY (%(prefixes)s)" if prefixes else "")
        return db.query_named(
            _SEARCH.format(fields=fields, scope=condition.scope, words=holds, condition=condition.passes),
            {**condition.named, "words": single, "prefixes": prefixes, "limit": limit}
            | {name: list(values) for name, values in zip(names, lists, strict=True)},
        )


def _phrase(db: Database, phrase: tuple[str, ...], condition: rows.Condition) -> list[tuple[int, int, float, int]]:
    """The memories that hold the words of a phrase next to each other: tenant, row, weight, and how many there are."""
    asked = {**condition.named, "words": list(phrase), "count": len(set(phrase))}
    found: list[tuple[int, int, float]] = []
    for tenant, seq, words, places in db.query_named(_PHRASES.format(scope=condition.scope), asked):
        by_word = dict(zip(words, map(frozenset, places), strict=True))
        starts = [
            start
            for start in by_word[phrase[0]]
            if all(start + step in by_word[word] for step, word in enumerate(phrase))
        ]
        if starts:
            weights = [_CONTEXT_WEIGHT if start >= _IN_CONTEXT else 1.0 for start in starts]
            found.append((tenant, seq, sum(weights)))
    return [(*match, len(found)) for match in found]
