"""Each part of the service works on a context alone, and `MemoryService` offers its methods unchanged."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from keepmum.core.errors import SecretFound, StoreError
from keepmum.service import MemoryService, Place, ServiceOptions
from keepmum.service.context import ServiceContext
from keepmum.service.forget import Forgetter
from keepmum.service.read import Reader
from keepmum.service.review import Reviewer
from keepmum.service.search import Searcher
from keepmum.service.transfer import Transfer
from keepmum.service.write import Writer
from keepmum.stores import SqliteSpec, open_store
from keepmum_scanner import scan


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ServiceContext]:
    with closing(open_store(SqliteSpec(str(tmp_path / "memory.db")))) as store:
        yield ServiceContext.create(store, scan, ServiceOptions(place=Place(project="alpha"), agent="codex"))


def test_a_writer_stores_a_memory(context: ServiceContext) -> None:
    kept = Writer(context).remember("Deploys go to the blue pool").memory
    assert [(memory.id, memory.agent) for memory in context.store.get([kept.id])] == [(kept.id, "codex")]


def test_a_writer_refuses_a_secret(context: ServiceContext) -> None:
    with pytest.raises(SecretFound):
        Writer(context).remember("deploy with " + "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21")
    assert Reader(context).count() == 0


def test_parts_of_one_context_see_the_same_memories(context: ServiceContext) -> None:
    kept = Writer(context).remember("Deploys go to the blue pool").memory
    assert Reader(context).find(kept.id) == kept
    assert Reviewer(context).review().items == ()
    assert Forgetter(context).forget([kept.id]).done
    assert Searcher(context).recall("deploys") == []


def test_a_context_of_another_place_has_other_memories(context: ServiceContext) -> None:
    Writer(context).remember("Deploys go to the blue pool")
    elsewhere = replace(context, place=Place(project="beta"))
    assert Searcher(elsewhere).recall() == []
    assert len(Searcher(context).recall()) == 1


def test_a_single_store_has_nothing_to_transfer(context: ServiceContext) -> None:
    with pytest.raises(StoreError, match="only one store"):
        Transfer(context).migrate("sqlite", "markdown")


def test_a_context_cannot_be_changed(context: ServiceContext) -> None:
    with pytest.raises(FrozenInstanceError):
        context.place = Place()  # type: ignore[misc] # that is the claim


@pytest.mark.parametrize(
    ("method", "of_part"),
    [
        (MemoryService.remember, Writer.remember),
        (MemoryService.recall, Searcher.recall),
        (MemoryService.forget, Forgetter.forget),
        (MemoryService.migrate, Transfer.migrate),
        (MemoryService.review, Reviewer.review),
    ],
)
def test_the_service_shows_signature_and_documentation_of_its_parts(
    method: Callable[..., object], of_part: Callable[..., object]
) -> None:
    assert inspect.signature(method) == inspect.signature(of_part)
    assert inspect.getdoc(method) == inspect.getdoc(of_part)
