"""Vector search in PostgreSQL: exact within the searched projects, by pgvector.

A memory has two vectors: `own`, of its text, and `mixed`, with a share of its neighbours in the session, which search
compares. All vectors of an organisation are of one model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepmum.core.memory import Candidate, Embedding, Filter, Memory
from keepmum.stores import vectors as arrays
from keepmum.stores.base import QueryVector
from keepmum.stores.postgres import rows, stored_vectors
from keepmum.stores.postgres.access import Database
from keepmum.stores.postgres.words import LexicalSearch

__all__ = ["FACTS", "PostgresVectors"]

_GROWTH = 4  # nearest vectors per result that are filtered first
FACTS = ", ".join(f'm."{name}"' for name in Candidate._fields[:-2])
_NEAR = f"""
WITH near AS (SELECT tenant, seq, -(mixed <#> %(vector)s::real[]::halfvec) AS cosine FROM vectors m
    WHERE {{scope}} AND model = %(model)s AND mixed IS NOT NULL ORDER BY cosine DESC LIMIT %(reach)s)
SELECT m.tenant, m.seq, {FACTS}, cosine FROM near JOIN memories m USING (tenant, seq)
WHERE {{scope}} AND {{condition}} ORDER BY cosine DESC, m.seq LIMIT %(limit)s
"""
_COSINES = """
SELECT tenant, seq, -({column} <#> %(vector)s::real[]::halfvec) FROM vectors
WHERE (tenant, seq) IN (SELECT * FROM unnest(%(tenants_of)s::bigint[], %(rows_of)s::bigint[]))
    AND model = %(model)s AND {column} IS NOT NULL
"""
_MOST_COMPARED = 10_000  # vectors; more than these take too long for a search that compares ten memories with each
_SIZE = f"""
SELECT EXISTS (SELECT 1 FROM vectors m WHERE {{scope}} AND awaited),
    (SELECT count(*) FROM (SELECT 1 FROM vectors m WHERE {{scope}} LIMIT {_MOST_COMPARED + 1}) AS enough)
"""
_AMONG = "(m.tenant, m.seq) IN (SELECT tenant, seq FROM memories WHERE id = ANY (%(among)s))"
# The given rows with others. Only then the memories are read, since few pairs are similar.
_ALIKE = f"""
WITH given AS MATERIALIZED (SELECT tenant, seq, id, own, model FROM memories m JOIN vectors v USING (tenant, seq)
        WHERE m.id = ANY (%(ids)s) AND own IS NOT NULL),
    near AS MATERIALIZED (SELECT m.tenant, m.seq, given.id AS given, -(given.own <#> m.own) AS cosine
        FROM given, vectors m WHERE {{scope}} AND {{others}} AND m.model = given.model AND m.own IS NOT NULL
        AND (m.tenant, m.seq) != (given.tenant, given.seq) AND -(given.own <#> m.own) >= %(cosine)s)
SELECT {rows.FIELDS}, near.cosine, near.given FROM near JOIN memories m USING (tenant, seq)
WHERE {{scope}} AND {{condition}}
"""
_PENDING = "FROM vectors v JOIN memories m USING (tenant, seq) WHERE v.awaited OR v.model IS DISTINCT FROM %s"

Acting = Callable[[], AbstractContextManager[Database]]


class PostgresVectors:
    """The `VectorSearch` of a PostgreSQL store (see `keepmum.stores.base` for what each method returns)."""

    problem = ""

    def __init__(
        self,
        acting: Acting,
        lexical: LexicalSearch,
        condition: Callable[[Filter], rows.Condition],
    ) -> None:
        """`acting` opens transactions; `condition` is a filter as SQL."""
        self._acting = acting
        self._lexical = lexical
        self._condition = condition

    def search(self, words: Sequence[str], vector: QueryVector, wanted: Filter, limit: int) -> list[Candidate]:
        """Candidates of both searches. Every candidate that has a vector also has its cosine."""
        with self._acting() as db:
            condition = self._condition(wanted)
            fields = f"m.tenant, m.seq, {FACTS}"
            lexical = self._lexical.best(db, fields, words, condition, limit)
            asked = vector()
            known = None if asked is None else stored_vectors.model_number(db, asked)
            if asked is None or known is None:
                return [Candidate._make((*row[2:], None)) for row in lexical]
            point = {"vector": arrays.unpack_one(asked.vector).tolist(), "model": known}
            near = _nearest(db, point, condition, limit)
            cosines = _cosines(db, point, [row[:2] for row in lexical])
        seen = {row[:2] for row in lexical}
        found = [(*row[2:], cosines.get(row[:2])) for row in lexical]
        found += [(*row[2:-1], 0.0, row[-1]) for row in near if row[:2] not in seen]
        return list(map(Candidate._make, found))

    def similar(self, embedding: Embedding, wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        """The memories nearest to a text, by their own text without neighbours."""
        with self._acting() as db:
            condition = self._condition(wanted)
            model = stored_vectors.model_number(db, embedding)
            if model is None:
                return []
            point = {"vector": arrays.unpack_one(embedding.vector).tolist(), "model": model}
            near = [row[:2] for row in _nearest(db, point, condition, limit * _GROWTH)]
            cosines = _cosines(db, point, near, column="own")
            best = sorted(cosines, key=lambda place: -cosines[place])[:limit]
            return [
                (rows.from_row(row), cosines[place])
                for place in best
                for row in db.query(f"SELECT {rows.FIELDS} FROM memories m WHERE tenant = %s AND seq = %s", *place)
            ]

    def near_by_vectors(
        self, db: Database, ids: Sequence[str], condition: rows.Condition, cosine: float, among: Sequence[str]
    ) -> tuple[list[tuple[Any, ...]], frozenset[str]]:
        """Pairs of one of the memories `ids` and a similar one that passes, by their own texts; and those compared.

        A row is the memory, its cosine, and the id of the other one. None is compared while memories await vectors. In
        a large project they are compared with those `among` only.
        """
        if not ids:
            return [], frozenset()
        ((pending, count),) = db.query_named(_SIZE.format(scope=condition.scope), condition.named)
        if pending:
            return [], frozenset()
        compared = db.query(
            "SELECT m.id FROM memories m JOIN vectors v USING (tenant, seq) WHERE m.id = ANY (%s) AND own IS NOT NULL",
            list(ids),
        )
        others = _AMONG if count > _MOST_COMPARED else "TRUE"
        found = db.query_named(
            _ALIKE.format(scope=condition.scope, condition=condition.passes, others=others),
            {**condition.named, "ids": list(ids), "cosine": cosine, "among": list(among)},
        )
        return found, frozenset(name for (name,) in compared)

    def neighbours(
        self, ids: Sequence[str], among: Sequence[str], cosine: float, most: int
    ) -> dict[str, list[tuple[str, float]]]:
        names, matrix = self._own([*ids, *among])
        return arrays.neighbours(names, matrix, frozenset(ids), cosine, most) if names else {}

    def other_model(self, model: str) -> str | None:
        with self._acting() as db:
            found = db.query(
                "SELECT n.name FROM vectors v JOIN models n ON n.id = v.model WHERE n.name != %s LIMIT 1", model
            )
        return str(found[0][0]) if found else None

    def pending(self, model: str, limit: int) -> list[Memory]:
        with self._acting() as db:
            found = db.query(f"SELECT {rows.FIELDS} {_PENDING} LIMIT %s", _number(db, model), limit)
        return list(map(rows.from_row, found))

    def count_pending(self, model: str) -> int:
        with self._acting() as db:
            return int(db.query(f"SELECT count(*) {_PENDING}", _number(db, model))[0][0])

    def is_ready(self, model: str) -> bool:
        with self._acting() as db:
            return not db.query(f"SELECT 1 {_PENDING} LIMIT 1", _number(db, model))

    def save(self, embedded: Sequence[tuple[Memory, Embedding]]) -> int:
        with self._acting() as db:
            return sum(self._save(db, memory, embedding) for memory, embedding in embedded)

    def update_index(self, model: str) -> None:
        """Nothing: a search reads the vectors themselves."""

    def _own(self, ids: Sequence[str]) -> tuple[list[str], NDArray[np.float32]]:
        """Those of these memories that have a vector, each once and in this order, and the vectors of their texts."""
        with self._acting() as db:
            found = db.query(
                "SELECT m.id, v.own::real[] FROM memories m JOIN vectors v USING (tenant, seq)"
                " WHERE m.id = ANY (%s) AND v.own IS NOT NULL",
                list(ids),
            )
        stored = dict(found)
        names = [memory for memory in dict.fromkeys(ids) if memory in stored]
        return names, arrays.normalised(np.array([stored[memory] for memory in names], dtype=np.float32))

    @staticmethod
    def _save(db: Database, memory: Memory, embedding: Embedding) -> bool:
        tags = rows.to_row(memory)["tags"]
        found = db.query(
            "SELECT tenant, seq FROM memories WHERE id = %s AND title = %s AND text = %s AND tags = %s",
            memory.id, memory.title, memory.text, tags,
        )  # fmt: skip
        for tenant, seq in found:
            stored_vectors.save(db, tenant, seq, embedding, replaces=True)
            adjacent = stored_vectors.neighbours(db, tenant, [seq])
            stored_vectors.mix(
                db, tenant, [seq, *(one for sides in adjacent.values() for side in sides for one in side)]
            )
        return bool(found)


def _nearest(db: Database, point: Mapping[str, object], condition: rows.Condition, limit: int) -> list[tuple[Any, ...]]:
    """The nearest rows that pass: tenant, row, facts and cosine, nearest first."""
    sql = _NEAR.format(scope=condition.scope, condition=condition.passes)
    asked = {**condition.named, **point, "limit": limit}
    found = db.query_named(sql, {**asked, "reach": limit * _GROWTH})
    return found if len(found) == limit else db.query_named(sql, {**asked, "reach": None})


def _cosines(
    db: Database, point: Mapping[str, object], found: Sequence[tuple[Any, ...]], column: str = "mixed"
) -> dict[tuple[Any, ...], float]:
    """The cosines of rows by tenant and number."""
    asked = {**point, "tenants_of": [one[0] for one in found], "rows_of": [one[1] for one in found]}
    return {(tenant, seq): cosine for tenant, seq, cosine in db.query_named(_COSINES.format(column=column), asked)}


def _number(db: Database, model: str) -> int:
    """The number of a model; 0 for one without vectors."""
    found = db.query("SELECT id FROM models WHERE name = %s", model)
    return int(found[0][0]) if found else 0
