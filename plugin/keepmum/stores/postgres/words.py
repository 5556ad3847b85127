"""Lexical search in PostgreSQL: the words of SQLite's tokenizer in a table of postings, ranked by BM25.

Both stores find the same words, because the same code splits and stems them, and rank them alike, because the formula
and the weights are those of SQLite's `bm25`. Source: https://sqlite.org/fts5.html#the_bm25_function, read 2026-11-22
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keepmum.core import ranking, spelling
from keepmum.stores.postgres import rows
from keepmum.stores.postgres.access import Database
from keepmum.stores.postgres.tokenizer import COLUMN_GAP, CONTEXT_WEIGHT, Tokenizer
from keepmum.stores.sqlite.schema import SEARCHED

__all__ = ["LexicalSearch"]

_IN_CONTEXT = SEARCHED.index("context") * COLUMN_GAP  # places from here on are in the context, the last column
_K1, _B = 1.2, 0.75

# How many memories hold each word, and the BM25 of each memory, to which a word counts as often as the query has it.
# `*_of` are memories that hold a phrase.
_SEARCH = f"""
WITH size AS MATERIALIZED (
        SELECT count(*) AS memories, greatest(avg(words), 1)::float8 AS mean FROM memories m WHERE {{scope}}),
    held AS (SELECT tenant, seq, word, weight, count(*) OVER (PARTITION BY word) AS holders,
        1 + cardinality(array_positions(%(again)s::text[], word)) AS times FROM postings m
        WHERE {{scope}} AND ({{words}})),
    matched AS (SELECT tenant, seq, weight, holders, times FROM held
        UNION ALL SELECT *, 1 FROM unnest(
            %(tenants_of)s::bigint[], %(rows_of)s::bigint[], %(weights_of)s::real[], %(holders_of)s::bigint[])),
    scored AS (SELECT m.tenant, m.seq, sum(times * greatest(1e-6, ln((size.memories - holders + .5) / (holders + .5)))
            * weight * {_K1 + 1} / (weight + {_K1} * ({1 - _B} + {_B} * m.words / size.mean))) AS relevance
        FROM matched JOIN memories m USING (tenant, seq), size WHERE {{scope}} AND {{condition}}
        GROUP BY m.tenant, m.seq ORDER BY relevance DESC, m.seq LIMIT %(limit)s)
SELECT {{fields}}, relevance FROM scored JOIN memories m USING (tenant, seq) ORDER BY relevance DESC, m.seq
"""
_HOLDERS = """
SELECT (SELECT count(*) FROM memories m WHERE {scope}), (SELECT coalesce(json_object_agg(word, holders), '{{}}') FROM (
    SELECT word, count(*) AS holders FROM postings m WHERE {scope} AND word = ANY (%(words)s) GROUP BY word) AS held)
"""
_SIMILAR = """
SELECT word FROM postings m WHERE {scope} AND word >= %(first)s AND word < %(last)s
    AND length(word) BETWEEN %(shortest)s AND %(longest)s GROUP BY word ORDER BY count(*) DESC, word
"""
_STATEMENT = ("title", "text", "identifiers")  # the columns of what a memory says


def _is_in_statement(place: str) -> str:
    """The condition that a place is in one of these columns."""
    columns = map(SEARCHED.index, _STATEMENT)
    return " OR ".join(f"{place} BETWEEN {one * COLUMN_GAP} AND {(one + 1) * COLUMN_GAP - 1}" for one in columns)


# The memories that hold every word of a group; `of` is the place of the memory that the group is of. The last place of
# a word is nearly always in the title or the text, and a look at all places takes longer than the rest of the posting.
_SHARING = f"""
WITH asked AS (SELECT of, part, word, count(*) OVER (PARTITION BY part) AS words FROM unnest(
        %(places_of)s::int[], %(groups_of)s::int[], %(words_of)s::text[]) AS given(of, part, word)),
    held AS MATERIALIZED (SELECT tenant, seq, word FROM postings m WHERE {{scope}} AND word = ANY (%(words)s)
        AND ({_is_in_statement("places[cardinality(places)]")}
            OR EXISTS (SELECT 1 FROM unnest(places) AS place WHERE {_is_in_statement("place")}))),
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


_Match = tuple[int, int, float, int]  # of a phrase: tenant, row, weight, and how many memories hold it


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
        words_in = list({word for _, group in groups for word in group})
        phrases = dict(zip(words_in, self._tokenizer.phrases(words_in), strict=True))
        for number, (place, group) in enumerate(groups):
            held = {part for word in group for part in phrases[word]}
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
        words = list(asked)
        single: list[tuple[str, str]] = []  # a word of the query, and the word of the postings
        prefixes: list[str] = []
        phrases: list[tuple[str, ...]] = []
        for word, found in zip(words, self._tokenizer.phrases(words), strict=True):
            if len(found) > 1:
                phrases.append(found)
            elif found and ranking.is_lone_character(word):
                prefixes.append(found[0] + "%")
            elif found:
                single.append((word, found[0]))
        if not (single or prefixes or phrases):
            return []
        matches = [_phrase(db, phrase, condition) for phrase in phrases]
        chosen, matches = _selected(db, single, matches, condition, len(words))
        lists = zip(*itertools.chain.from_iterable(matches), strict=True) if any(matches) else ([], [], [], [])
        names = ("tenants_of", "rows_of", "weights_of", "holders_of")
        again = [word for place, word in enumerate(chosen) if word in chosen[:place]]
        holds = "word = ANY (%(words)s)" + (" OR word LIKE ANY (%(prefixes)s)" if prefixes else "")
        return db.query_named(
            _SEARCH.format(fields=fields, scope=condition.scope, words=holds, condition=condition.passes),
            {**condition.named, "words": chosen, "again": again, "prefixes": prefixes, "limit": limit}
            | {name: list(values) for name, values in zip(names, lists, strict=True)},
        )


def _selected(
    db: Database,
    words: Sequence[tuple[str, str]],
    phrases: list[list[_Match]],
    condition: rows.Condition,
    count: int,
) -> tuple[list[str], list[list[_Match]]]:
    """Of a query of `count` words, the words to look up, and the phrases by their matches.

    Those that are not common (all of them if these are too few), and corrections of words that no memory holds.

    Counted in a statement of its own: within the search, the planner would no longer know how many postings to expect.
    """
    every = [word for _, word in words]
    if count <= ranking.MIN_WORDS and not any(spelling.may_be_misspelt(asked) for asked, _ in words):
        return every, phrases
    ((memories, holders),) = db.query_named(
        _HOLDERS.format(scope=condition.scope), {**condition.named, "words": list(set(every))}
    )
    corrected = _corrections(db, words, holders, condition) if memories <= spelling.MOST_MEMORIES else []
    most = memories * ranking.COMMON
    uncommon = [word for word in every if 0 < holders.get(word, 0) <= most]
    rare = [matches for matches in phrases if 0 < len(matches) <= most]
    if memories < ranking.MIN_MEMORIES or count <= ranking.MIN_WORDS or len(uncommon) + len(rare) < ranking.MIN_WORDS:
        return every + corrected, phrases
    return uncommon + corrected, rare


def _corrections(
    db: Database, words: Sequence[tuple[str, str]], holders: Mapping[str, int], condition: rows.Condition
) -> list[str]:
    """The words of postings that are one typo away from words of a query that no memory holds."""
    suspects = spelling.misspelt(asked for asked, word in words if word not in holders)
    found: list[str] = []
    for word in (word for asked, word in words if asked in suspects and len(word) >= spelling.MIN_LENGTH):
        first = word[: spelling.PREFIX]
        near = {
            "first": first,
            "last": first + chr(sys.maxunicode),
            "shortest": len(word) - 1,
            "longest": len(word) + 1,
        }
        similar = db.query_named(_SIMILAR.format(scope=condition.scope), {**condition.named, **near})
        found += spelling.nearest(word, (row[0] for row in similar))
    return found


def _phrase(db: Database, phrase: tuple[str, ...], condition: rows.Condition) -> list[_Match]:
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
            weights = [CONTEXT_WEIGHT if start >= _IN_CONTEXT else 1.0 for start in starts]
            found.append((tenant, seq, sum(weights)))
    return [(*match, len(found)) for match in found]
