"""Fusion of the results of several stores: ours by score, those of a server by rank."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from contract.stores import a_memory, wanted
from keepmum.core.memory import Candidate, Change, Filter, Memory
from keepmum.stores import Capabilities, Features, Store
from keepmum.stores.composite import CompositeStore
from keepmum.stores.composite.fusion import fused, fused_score, has_own_scores
from keepmum.stores.sqlite import SqliteStore


class Server:
    """A store with scores of its own and an empty mirror."""

    caveat = ""
    capabilities = Capabilities(cannot={"search": "in its own way"})

    def __init__(self, store: SqliteStore, empty: SqliteStore, scores: Mapping[str, float]) -> None:
        self._store, self._scores = store, scores
        self.local: Store = empty
        self.features = Features(remote=self)

    def search(self, _: Sequence[str], wanted: Filter, limit: int) -> list[tuple[Memory, float]]:
        found = [(memory, self._scores[memory.title]) for memory in self._store.browse(wanted, limit=limit)]
        return sorted(found, key=lambda pair: -pair[1])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


OURS = {"ours, best": "zebra zebra zebra", "ours, last": "a zebra among so many other words that it hardly counts"}


@pytest.fixture(params=[1e-3, 1e3], ids=["tiny scores", "huge scores"])
def composite(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CompositeStore]:
    """Two memories of ours, and two of a server with scores of another magnitude."""
    scores = {"theirs, best": 2 * request.param, "theirs, last": request.param}
    with contextlib.ExitStack() as stack:
        ours, theirs, empty = (
            stack.enter_context(contextlib.closing(SqliteStore(str(tmp_path / name / "memory.db")))) for name in "abc"
        )
        ours.commit([Change(None, a_memory(text, title=title)) for title, text in OURS.items()])
        theirs.commit([Change(None, a_memory("zebra", title=title)) for title in scores])
        server = cast(Store, Server(theirs, empty, scores))
        yield CompositeStore({"sqlite": ours, "rest": server}, {})


def test_the_size_of_a_servers_scores_does_not_matter(composite: CompositeStore) -> None:
    titles = [memory.title for memory, _ in composite.search(["zebra"], wanted(), 10)]
    assert titles[0] == "ours, best"
    assert titles.index("theirs, best") < titles.index("theirs, last")


def test_vector_results_are_fused_like_lexical_ones(composite: CompositeStore) -> None:
    vectors = composite.features.vector_search
    assert vectors is not None
    by_title = {memory.id: memory.title for memory in composite.browse(wanted(), limit=10)}
    found = sorted(vectors.search(["zebra"], lambda: None, wanted(), 10), key=lambda candidate: -candidate.lexical)
    assert by_title[found[0].id] == "ours, best"
    assert {by_title[candidate.id] for candidate in found} == {*OURS, "theirs, best", "theirs, last"}


@pytest.mark.parametrize(
    ("rank", "local", "expected"), [(0, 0.0, 4.0), (1, 0.0, 2.0), (0, 8.0, 8.0), (3, 0.0, 1.0), (1, 6.0, 5.0)]
)
def test_a_fused_score_is_half_by_rank_and_half_local(rank: int, local: float, expected: float) -> None:
    assert fused_score(rank, local, [8.0, 4.0]) == expected


def test_without_own_results_the_order_of_the_server_is_kept() -> None:
    values = [fused_score(rank, 0.0, []) for rank in range(5)]
    assert values == sorted(values, reverse=True)


def test_a_local_cosine_replaces_the_cosine_by_rank() -> None:
    def candidate(name: str, lexical: float, cosine: float | None) -> Candidate:
        return Candidate(
            name, "note", "project", "alpha", "long", 0.5, 0, None, 0, "agent", lexical=lexical, cosine=cosine
        )

    theirs = [candidate("a", 0.03, None), candidate("b", 0.02, None)]
    local = {"b": candidate("b", 1.0, 0.9)}
    results = fused(theirs, local, [candidate("c", 3.0, 0.5)], wanted())
    assert [each.cosine for each in results] == [0.5, 0.9]


def test_only_a_server_has_own_scores(composite: CompositeStore) -> None:
    assert [name for name, store in composite._members.parts.items() if has_own_scores(store)] == ["rest"]
