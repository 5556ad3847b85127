"""Vector search in the service: when texts are embedded, what is reported, and what happens without a model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import keepmum
from keepmum.core.errors import EmbeddingError, InvalidInput, ModelMissing
from keepmum.embedding import BackgroundEmbedder
from keepmum.embedding.fake import FakeEmbedder
from keepmum.service import MemoryService
from unit.core.service_parts import OpenService

if TYPE_CHECKING:
    from keepmum.embedding.base import Vectors

PATIENCE = 20.0  # seconds


class Broken(FakeEmbedder):
    """An embedder that fails."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise EmbeddingError(f"the endpoint did not answer for {len(texts)} text")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Callable[..., MemoryService]]:
    """Opens the same file, as a program does."""
    opened: list[MemoryService] = []

    def open_again(embedder: FakeEmbedder | None = None, **options: str) -> MemoryService:
        opened.append(keepmum.open_memory(tmp_path / "notes.db", embedder, **options))
        return opened[-1]

    yield open_again
    for service in opened:
        service.close()


def texts(service: MemoryService, query: str, limit: int = 5) -> list[str]:
    return [match.memory.text for match in service.recall(query, limit=limit)]


def opened(embedder: FakeEmbedder | None = None) -> BackgroundEmbedder:
    """An embedder that is already loaded."""
    background = BackgroundEmbedder(lambda: embedder or FakeEmbedder())
    assert background.wait(PATIENCE) is not None
    return background


# -- the library


def test_a_program_remembers_and_recalls_in_two_lines(library: Callable[..., MemoryService]) -> None:
    memory = library(FakeEmbedder())
    kept = memory.remember(
        text="Deploys go to the blue pool", title="Deploys", tags=["deploy"], session="s", project="p"
    )
    (match,) = memory.recall("where do deploys go?", limit=3)
    assert (kept.action, match.memory, match.score > 0) == ("created", kept.memory, True)
    assert match.why.startswith("fit 0.96, lexical 1.00 (rank 1), vector ")


def test_without_a_project_a_program_looks_at_all_of_them(library: Callable[..., MemoryService]) -> None:
    library().remember(text="the blue pool", project="p1")
    library().remember(text="the blue sky", project="p2")
    assert len(texts(library(), "blue")) == 2
    assert texts(library(project="p1"), "blue") == ["the blue pool"]


def test_without_an_embedder_search_is_lexical_without_a_notice(library: Callable[..., MemoryService]) -> None:
    memory = library(None)
    memory.remember(text="the blue pool")
    assert texts(memory, "pool") == ["the blue pool"]
    assert (memory.lexical_only, memory.notices()) == ("", [])


def test_the_model_that_is_not_installed_is_named_with_the_command(library: Callable[..., MemoryService]) -> None:
    memory = library("installed")
    memory.remember(text="the blue pool")
    assert texts(memory, "pool") == ["the blue pool"]
    assert "keepmum model install" in memory.lexical_only


def test_a_waiting_search_first_embeds_what_was_stored_without_a_model(library: Callable[..., MemoryService]) -> None:
    for number in range(50):
        library(None).remember(text=f"zebra {number}")
    found = library(FakeEmbedder()).recall("zebra 7", limit=50)
    assert len(found) == 50
    assert all("vector" in match.why for match in found)


def test_the_package_exports_no_other_name() -> None:
    with pytest.raises(AttributeError, match="open_nothing"):
        _ = keepmum.open_nothing  # type: ignore[attr-defined]  # it is not exported


# -- in the background


def test_search_is_lexical_until_the_model_is_loaded(open_memory: OpenService) -> None:
    may_open = threading.Event()

    def opening() -> FakeEmbedder:
        may_open.wait(PATIENCE)
        return FakeEmbedder()

    background = BackgroundEmbedder(opening)
    service = open_memory(embedder=background)
    service.remember("the blue pool")
    service.warm()
    assert [match.why for match in service.recall("pool")] == [
        "fit 0.99, lexical 1.00 (rank 1), words pool, prior 1.00"
    ]
    assert service.lexical_only == "the model for search by meaning is not ready yet"
    may_open.set()
    assert background.wait(PATIENCE) is not None
    assert service.lexical_only == ""


def test_memories_stored_meanwhile_are_embedded_in_the_background(open_memory: OpenService) -> None:
    open_memory().remember("the blue pool")
    service = open_memory(embedder=opened())
    service.recall("anything")  # notices that vectors are missing
    assert service.context.embeddings.join(PATIENCE)
    assert "vector 1.00" in service.recall("the blue pool")[0].why


def test_a_caller_that_waits_for_the_model_finds_the_latest_memory(open_memory: OpenService) -> None:
    open_memory().remember("Deploys go to the blue pool")
    service = open_memory(embedder=BackgroundEmbedder(FakeEmbedder))
    service.warm(wait=True)
    (match,) = service.recall("where do deploys go?")
    assert "vector" in match.why


def test_a_model_installed_while_a_server_runs_is_used(open_memory: OpenService) -> None:
    installed = threading.Event()

    def opening() -> FakeEmbedder:
        if not installed.is_set():
            raise ModelMissing("the model is not installed")
        return FakeEmbedder()

    background = BackgroundEmbedder(opening, retry_seconds=0)
    service = open_memory(embedder=background)
    service.remember("the blue pool")
    assert background.wait(PATIENCE) is None
    assert "vector" not in service.recall("pool")[0].why
    assert service.lexical_only == "the model is not installed"
    installed.set()
    service.recall("pool")  # tries the model again
    assert background.wait(PATIENCE) is not None
    service.recall("pool")  # notices that vectors are missing
    assert service.context.embeddings.join(PATIENCE)
    assert "vector 1.00" in service.recall("the blue pool")[0].why
    assert service.lexical_only == ""


def test_closing_stops_background_work(open_memory: OpenService) -> None:
    for number in range(40):
        open_memory().remember(f"zebra {number}")
    service = open_memory(embedder=opened())
    service.recall("zebra")
    service.close()
    assert service.context.embeddings.join(PATIENCE)


def test_search_is_lexical_with_a_notice_when_the_model_fails(open_memory: OpenService) -> None:
    service = open_memory(embedder=opened(Broken()))
    assert service.remember("the blue pool").action == "created"
    assert texts(service, "pool") == ["the blue pool"]
    assert "the endpoint did not answer" in service.lexical_only
    assert service.notices()


def test_a_store_of_another_model_is_not_searched_by_this_one(open_memory: OpenService) -> None:
    open_memory(embedder=opened()).remember("the blue pool")
    service = open_memory(embedder=opened(FakeEmbedder(model="other")))
    service.remember("the red pool")
    assert all("vector" not in match.why for match in service.recall("pool"))
    (notice,) = service.notices()
    assert "embedded by fake-64" in notice
    assert "`keepmum reembed`" in notice


def test_reembedding_moves_a_store_to_another_model(open_memory: OpenService) -> None:
    first = open_memory(embedder=opened())
    for number in range(40):
        first.remember(f"zebra {number}")
    service = open_memory(embedder=opened(FakeEmbedder(dimensions=32, model="other")))
    progress: list[tuple[int, int]] = []
    assert service.reembed(lambda done, total: progress.append((done, total))) == 40
    assert progress == [(8, 40), (16, 40), (24, 40), (32, 40), (40, 40)]
    assert service.notices() == []
    assert "vector" in service.recall("zebra 7")[0].why
    assert service.reembed() == 0


def test_a_search_notices_that_another_process_reembedded(open_memory: OpenService) -> None:
    service = open_memory(embedder=opened())
    service.remember("the blue pool")
    assert "vector" in service.recall("pool")[0].why
    assert open_memory(embedder=opened(FakeEmbedder(model="other"))).reembed() == 1
    assert "vector" not in service.recall("pool")[0].why
    assert "embedded by other" in service.lexical_only


def test_a_search_embeds_what_another_process_stored_without_a_model(open_memory: OpenService) -> None:
    service = open_memory(embedder=opened(), patient=True)
    service.remember("the blue pool")
    assert "vector" in service.recall("pool")[0].why
    open_memory().remember("the red pool")
    assert all("vector" in match.why for match in service.recall("pool"))


def test_an_interrupted_reembedding_continues(open_memory: OpenService) -> None:
    first = open_memory(embedder=opened())
    for number in range(40):
        first.remember(f"zebra {number}")

    def cut_off(done: int, total: int) -> None:
        raise KeyboardInterrupt(done, total)

    other = FakeEmbedder(model="other")
    with pytest.raises(KeyboardInterrupt):
        open_memory(embedder=opened(other)).reembed(cut_off)
    service = open_memory(embedder=opened(other))
    assert "lexical only" in service.notices()[0], "vectors of two models are never searched together"
    assert service.reembed() == 32


def test_without_a_model_reembedding_fails(open_memory: OpenService) -> None:
    with pytest.raises(EmbeddingError, match="no embedder"):
        open_memory().reembed()


# -- similarity


def test_a_near_duplicate_is_reported_with_what_to_do(open_memory: OpenService) -> None:
    service = open_memory(embedder=opened())
    first = service.remember("deploys go to the blue pool first, then to all").memory
    (similar,) = service.remember("deploys go first to the blue pool then to all").similar
    assert (similar.memory, similar.advice, similar.contradicts) == (first, "skip", False)
    assert similar.cosine > 0.97


def test_a_contradiction_is_reported_as_such(open_memory: OpenService) -> None:
    service = open_memory(embedder=opened())
    service.remember("deploys always go to the blue pool first")
    (similar,) = service.remember("deploys never go to the blue pool first").similar
    assert (similar.contradicts, similar.advice) == (True, "supersede")


def test_an_unrelated_memory_is_reported_without_advice(open_memory: OpenService) -> None:
    service = open_memory(embedder=opened())
    service.remember("deploys go to the blue pool first")
    assert service.remember("a zebra runs").similar == ()


def test_a_memory_in_which_one_name_differs_is_reported_whatever_its_cosine(open_memory: OpenService) -> None:
    service = open_memory(embedder=opened(FakeEmbedder(dimensions=512)))
    old = service.remember("Our goalkeeper is Amira.").memory
    (similar,) = service.remember("Our goalkeeper is Noor.").similar
    assert (similar.memory.id, similar.advice, similar.contradicts) == (old.id, "supersede", True)
    assert similar.cosine < 0.8


def test_similar_memories_are_reported_without_a_model(library: Callable[..., MemoryService]) -> None:
    service = library()
    old = service.remember("the nightly report is written at two by the scheduler").memory
    service.remember("the weekly report is mailed by Ada")
    (similar,) = service.remember("the nightly report is written at four by the scheduler").similar
    assert (similar.memory.id, similar.advice) == (old.id, "supersede")


def test_a_search_shows_the_best_of_near_duplicates(open_memory: OpenService) -> None:
    service = open_memory(embedder=opened())
    for text in ("one two three", "three two one", "one two three four"):
        service.remember(text)
    first, second = texts(service, "one two three")
    assert first in {"one two three", "three two one"}
    assert second == "one two three four"


# -- the number of results


def test_a_list_stays_within_its_token_budget(open_memory: OpenService) -> None:
    service = open_memory()
    for number in range(5):
        service.remember(f"zebra {number} " + "runs " * 20)
    assert len(service.recall("zebra", tokens=120)) == 2
    assert len(service.recall("zebra", tokens=1)) == 1
    assert len(service.recall(tokens=120)) == 2


@pytest.mark.parametrize("query", ["the of and", '"a" OR (b* NEAR c)', "🦓🦓🦓", "' -- ;", "数", "x" * 1_000])
@pytest.mark.parametrize("with_model", [True, False])
def test_every_query_gets_an_answer(open_memory: OpenService, query: str, *, with_model: bool) -> None:
    service = open_memory(embedder=opened() if with_model else None)
    service.remember("the zebra runs")
    assert len(service.recall(query)) <= 1


def test_a_question_beyond_the_limit_is_refused_with_the_limit(open_memory: OpenService) -> None:
    with pytest.raises(InvalidInput, match="1,000"):
        open_memory(embedder=opened()).recall("x" * 10_000)
