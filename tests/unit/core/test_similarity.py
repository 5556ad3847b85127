"""The advice for two similar memories."""

from __future__ import annotations

import pytest

from contract.stores import a_memory
from keepmum.core.similarity import compare


@pytest.mark.parametrize(
    ("new", "old", "cosine", "advice"),
    [
        pytest.param("use blue pool", "use the blue pool first", 0.9, "skip", id="the old one contains the new"),
        pytest.param("use the blue pool first", "use blue pool", 0.9, "supersede", id="the new one contains the old"),
        pytest.param(
            "deploys use the blue pool, ask Ann Lee Kim Joe", "deploys use the blue pool, page Tom Max Ada Eve", 0.9,
            "merge", id="each says more",
        ),
        pytest.param("use blue pool", "use the blue pool first", 0.82, "keep both", id="only close"),
        pytest.param("never use the blue pool", "use the blue pool", 0.82, "supersede", id="the opposite"),
    ],
)  # fmt: skip
def test_advice(new: str, old: str, cosine: float, advice: str) -> None:
    assert compare(a_memory(new), a_memory(old), cosine).advice == advice


@pytest.mark.parametrize(
    ("new", "old", "contradicts"),
    [
        pytest.param("we don't use tabs", "we use tabs", True, id="a negation"),
        pytest.param("the limit is 30 requests", "the limit is 50 requests", True, id="another number"),
        pytest.param("the build runs on Postgres", "the build runs on Oracle", True, id="one thing replaced"),
        pytest.param("the build runs on Postgres 16", "the build runs on Postgres 16", False, id="the same"),
        pytest.param("the build runs on Postgres", "lunch is not at noon", False, id="another subject"),
        pytest.param("we use tabs in Go", "we use tabs", False, id="more detail"),
    ],
)
def test_contradictions_are_detected(new: str, old: str, *, contradicts: bool) -> None:
    assert compare(a_memory(new), a_memory(old), 0.9).contradicts is contradicts
