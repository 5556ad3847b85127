"""Origin, confirmation and citations in the SQLite store."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from contract.stores import NOW, a_memory
from keepmum.core import serialization
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import Change, Citation, JsonValue
from keepmum.stores.sqlite import SqliteStore

CITED = (
    Citation(path="src/a.py", commit="a" * 40, blob="b" * 40, symbol="A.b", line=3, digest="c" * 32),
    Citation(path="README", commit="a" * 40, blob="d" * 40),
)


def test_origin_confirmation_and_citations_are_kept(store: SqliteStore) -> None:
    whole = a_memory(
        trust="outside", source_kind="web", confirmed_at=NOW, confirmed_by="ada", pinned=True, citations=CITED
    )
    store.commit([Change(None, whole)])
    assert store.get([whole.id]) == [whole]
    assert serialization.parse(json.loads(json.dumps(serialization.to_json(whole)))) == whole


def test_citations_are_stored_without_a_new_revision(store: SqliteStore) -> None:
    memory, other = a_memory(), a_memory("elsewhere", project="beta")
    store.commit([Change(None, memory), Change(None, other)])
    assert store.uncited("alpha", 5) == [memory]
    assert store.cite([(memory, CITED)]) == 1
    assert store.get([memory.id]) == [replace(memory, citations=CITED)]
    assert store.uncited("alpha", 5) == []


def test_citations_of_an_older_revision_are_not_stored(store: SqliteStore) -> None:
    old = a_memory()
    store.commit([Change(None, old)])
    store.commit([Change(old, replace(old, text="new", revision=2))])
    assert store.cite([(old, CITED)]) == 0


def test_the_history_has_citations_as_plain_values(store: SqliteStore) -> None:
    old = a_memory(citations=CITED)
    store.commit([Change(None, old)])
    store.commit([Change(old, replace(old, text="new", revision=2))])
    (past,) = store.history(old.id)
    assert serialization.parse(past.before) == old


@pytest.mark.parametrize(
    "citations",
    [
        pytest.param("src/a.py", id="a text"),
        pytest.param([{"path": "a"}], id="without commit and blob"),
        pytest.param([{"path": "a", "commit": "x" * 40, "blob": "b" * 40}], id="a commit that is not a hash"),
        pytest.param([{"path": "a", "commit": "a" * 40, "blob": "b" * 40, "line": True}], id="a line that is a flag"),
        pytest.param([{"path": "a", "commit": "a" * 40, "blob": "b" * 40, "more": 1}], id="an unknown entry"),
        pytest.param([{"path": "a", "commit": "a" * 40, "blob": "b" * 40}] * 101, id="too many"),
    ],
)
def test_citations_of_another_form_are_refused(citations: JsonValue) -> None:
    with pytest.raises(InvalidInput, match="citations"):
        serialization.parse({**serialization.to_json(a_memory()), "citations": citations})
