"""The vectors of rows: of the text itself, and mixed with a share of the neighbours in the session."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from keepmum.core.errors import StoreError
from keepmum.core.memory import Embedding
from keepmum.stores import vectors as arrays
from keepmum.stores.postgres.access import Database
from keepmum.stores.vectors import NEIGHBOUR_WEIGHTS

__all__ = ["await_new", "mix", "model_number", "neighbours", "save"]

_STEPS = len(NEIGHBOUR_WEIGHTS)
_SIDE = (
    "array(SELECT n.seq FROM memories n WHERE n.tenant = m.tenant AND n.session = m.session AND n.space = m.space"
    " AND n.status = 'active' AND n.seq {} m.seq ORDER BY n.seq {} LIMIT %s)"
)
_NEIGHBOURS = (
    f"SELECT m.seq, {_SIDE.format('<', 'DESC')}, {_SIDE.format('>', 'ASC')} FROM memories m"
    " WHERE m.tenant = %s AND m.seq = ANY (%s) AND m.status = 'active'"
)


def neighbours(db: Database, tenant: int, numbers: Sequence[int]) -> dict[int, tuple[list[int], list[int]]]:
    """For each of these rows that is active, the rows before and after it in its session, nearest first."""
    found = db.query(_NEIGHBOURS, _STEPS, _STEPS, tenant, list(numbers))
    return {seq: (earlier, later) for seq, earlier, later in found}


def await_new(db: Database, tenant: int, seq: int) -> None:
    """Drop the vector of a row whose text changed."""
    db.run(
        "INSERT INTO vectors(tenant, seq) VALUES (%s, %s) ON CONFLICT (tenant, seq)"
        " DO UPDATE SET model = NULL, own = NULL, mixed = NULL, awaited = TRUE",
        tenant, seq,
    )  # fmt: skip


def save(db: Database, tenant: int, seq: int, embedding: Embedding, *, replaces: bool = False) -> None:
    """Store the vector of a row's text.

    While other rows have vectors of another model the row stays pending, so that a search never compares two models.
    With `replaces` it is stored anyway, as when all memories are embedded again.

    Raises: StoreError when the model is known with another number of dimensions.
    """
    vector = arrays.unpack_one(embedding.vector)
    ((model, dimensions),) = db.query("SELECT id, dimensions FROM model_of(%s, %s)", embedding.model, len(vector))
    if dimensions != len(vector):
        raise StoreError(
            f"vectors of the model {embedding.model} have {dimensions} dimensions here, and {len(vector)} were given: "
            "nothing was stored"
        )
    if not replaces and db.query("SELECT 1 FROM vectors WHERE model != %s LIMIT 1", model):
        return
    db.run(
        "UPDATE vectors SET model = %s, own = %s::real[]::halfvec, mixed = NULL, awaited = FALSE"
        " WHERE tenant = %s AND seq = %s",
        model, vector.tolist(), tenant, seq,
    )  # fmt: skip


def mix(db: Database, tenant: int, numbers: Sequence[int]) -> None:
    """Compute the mixed vectors of these rows."""
    adjacent = neighbours(db, tenant, numbers)
    needed = {*numbers, *(number for sides in adjacent.values() for side in sides for number in side)}
    found = db.query(
        "SELECT seq, model, own::real[] FROM vectors WHERE tenant = %s AND seq = ANY (%s) AND own IS NOT NULL",
        tenant, sorted(needed),
    )  # fmt: skip
    models = {seq: model for seq, model, _ in found}
    own = {seq: arrays.normalised(np.array(vector, dtype=np.float32)) for seq, _, vector in found}
    mixed = {
        seq: _mixed(
            own[seq],
            [[own[one] for one in side if models.get(one) == model] for side in _by_step(adjacent.get(seq, ()))],
        )
        for seq, model in models.items()
        if seq in numbers
    }
    if mixed:
        db.run(
            "UPDATE vectors SET mixed = given.mixed::halfvec FROM unnest(%s::bigint[], %s::text[]) AS given(seq, mixed)"
            " WHERE vectors.tenant = %s AND vectors.seq = given.seq",
            list(mixed), [str(vector.tolist()) for vector in mixed.values()], tenant,
        )  # fmt: skip


def model_number(db: Database, embedding: Embedding) -> int | None:
    """The number of the model of a vector that is compared; None when no vector is of it.

    Raises: StoreError when the number of dimensions differs from the stored vectors.
    """
    found = db.query("SELECT id, dimensions FROM models WHERE name = %s", embedding.model)
    if not found:
        return None
    number, dimensions = found[0]
    given = len(arrays.unpack_one(embedding.vector))
    if given != dimensions:
        raise StoreError(
            f"vectors of the model {embedding.model} have {dimensions} dimensions here, and {given} were given: they "
            "cannot be compared. Give the model of the embedder that changed another name"
        )
    return int(number)


def _by_step(sides: Sequence[Sequence[int]]) -> list[list[int]]:
    """The next rows on both sides, then the second next ones."""
    return [[side[step] for side in sides if step < len(side)] for step in range(_STEPS)]


def _mixed(own: NDArray[np.float32], nearby: Sequence[Sequence[NDArray[np.float32]]]) -> NDArray[np.float32]:
    """A vector with a share of its neighbours, which are given by their distance in the session."""
    mixed = own
    for weight, adjacent in zip(NEIGHBOUR_WEIGHTS, nearby, strict=True):
        if adjacent:
            mixed = mixed + np.float32(weight) * np.sum(adjacent, axis=0) / np.float32(len(adjacent))
    return arrays.normalised(mixed)
