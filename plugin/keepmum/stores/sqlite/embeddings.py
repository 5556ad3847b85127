"""Vectors as rows, inside a transaction that the caller holds."""

from __future__ import annotations

import sqlite3

from keepmum.core.errors import StoreError
from keepmum.core.memory import Embedding, Memory
from keepmum.stores.sqlite import rows

__all__ = ["OTHER_MODEL", "keep", "model_number"]

_BYTES = 2  # a dimension
# The number of a model that vectors are of and that is not the one given twice; two ends of an index, never all of it.
OTHER_MODEL = " UNION ALL ".join(
    f"SELECT * FROM (SELECT model FROM vectors WHERE vector IS NOT NULL AND model {side} ? LIMIT 1)" for side in "<>"
)


def keep(db: sqlite3.Connection, memory: Memory, embedding: Embedding, change: int, *, instead: bool = False) -> bool:
    """Keep the vector of a memory that says still what it said; whether it did.

    While other memories have vectors of another model it is left to be embedded later, so that no two models are ever
    searched together; with `instead` it takes its place all the same, as when all are embedded anew.

    Raises: StoreError when the model's vectors are known to have other dimensions.
    """
    model = model_number(db, embedding.model, len(embedding.vector) // _BYTES)
    if not instead and db.execute(OTHER_MODEL, (model, model)).fetchone():
        return False
    kept = db.execute(
        "UPDATE vectors SET model = ?, vector = ?, awaited = FALSE, change = ?"
        " WHERE memory = (SELECT seq FROM memories WHERE id = ? AND title = ? AND text = ? AND tags = ?)",
        (model, embedding.vector, change, memory.id, memory.title, memory.text, rows.encoded(memory.tags)),
    )
    return kept.rowcount == 1


def model_number(db: sqlite3.Connection, name: str, dimensions: int) -> int:
    """The number under which a model's vectors are kept.

    Raises: StoreError when they are known to have other dimensions.
    """
    db.execute("INSERT INTO models(name, dimensions) VALUES (?, ?) ON CONFLICT(name) DO NOTHING", (name, dimensions))
    number, known = db.execute("SELECT id, dimensions FROM models WHERE name = ?", (name,)).fetchone()
    if known != dimensions:
        raise StoreError(
            f"vectors of the model {name} have {known} dimensions here, and {dimensions} were given: nothing was stored"
        )
    return int(number)
