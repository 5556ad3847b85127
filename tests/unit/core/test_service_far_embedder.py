"""A service with an embedding server: whatever the server does, memories are stored and queries answered."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from keepmum.embedding import BackgroundEmbedder
from keepmum.embedding.fake import FakeEmbedder
from keepmum.embedding.openai_compatible import OpenAiCompatible
from keepmum.service import MemoryService
from unit.core.service_parts import OpenService

LIMIT = 60.0  # seconds
ONE, OTHER = "deploys go to the blue pool first, then to all", "deploys go first to the blue pool then to all"

Answer = Callable[[list[str]], object]


class Server:
    """An embedding server on this machine whose answers a test chooses."""

    def __init__(self, http: HTTPServer) -> None:
        self.asked: list[list[str]] = []
        self.answer: Answer = good
        http.expect_request("/v1/embeddings", method="POST").respond_with_handler(self._handle)
        self.embedder = OpenAiCompatible(http.url_for("/v1"), "m", dimensions=64)

    def _handle(self, request: Request) -> Response:
        texts = json.loads(request.data)["input"]
        self.asked.append(texts)
        made = self.answer(texts)
        return made if isinstance(made, Response) else Response(json.dumps(made), mimetype="application/json")


def good(texts: list[str], dimensions: int = 64) -> dict[str, Any]:
    rows = FakeEmbedder(dimensions).embed(texts).tolist()
    return {"data": [{"index": number, "embedding": row} for number, row in enumerate(rows)]}


def too_few(texts: list[str]) -> object:
    return {"data": good(texts)["data"][1:]}


def no_numbers(texts: list[str]) -> object:
    return Response(json.dumps(good(texts)).replace("0.", "NaN, 0.", 1))


def nothing_but_nan(texts: list[str]) -> object:
    return {"data": [{"index": number, "embedding": [float("nan")] * 64} for number in range(len(texts))]}


def other_lengths(texts: list[str]) -> object:
    return good(texts, dimensions=32)


def fault(_: list[str]) -> object:
    return Response("what was asked, quoted: " + ONE, status=500)


@pytest.fixture
def server(httpserver: HTTPServer) -> Iterator[Server]:
    made = Server(httpserver)
    yield made
    made.answer = fault  # pending requests end


def opened(server: Server) -> BackgroundEmbedder:
    """A remote embedder that is open already."""
    background = BackgroundEmbedder(lambda: server.embedder, remote=True)
    assert background.wait(LIMIT) is not None
    return background


@pytest.fixture
def service(open_memory: OpenService, server: Server) -> MemoryService:
    return open_memory(embedder=opened(server))


def settled(service: MemoryService) -> None:
    """Wait until no embedding runs in the background."""
    assert service.context.embeddings.join(LIMIT)


def held(server: Server) -> threading.Event:
    """Make the server delay its answers until the event is set."""
    go_on = threading.Event()

    def hang(texts: list[str]) -> object:
        go_on.wait(LIMIT)
        return good(texts)

    server.answer = hang
    return go_on


def test_a_memory_is_stored_while_the_server_hangs(service: MemoryService, server: Server) -> None:
    go_on = held(server)
    kept = service.remember(ONE)
    assert (kept.action, kept.similar) == ("created", ())
    assert service.find(kept.memory.id).text == ONE, "and the server has still not answered"
    assert not go_on.is_set()
    go_on.set()
    settled(service)


def test_memories_stored_during_an_outage_are_embedded_when_the_server_answers(
    service: MemoryService, server: Server
) -> None:
    go_on = held(server)
    service.remember(ONE)
    go_on.set()
    settled(service)
    assert "vector 1.00" in service.recall(ONE)[0].why


def test_each_memory_is_sent_once(service: MemoryService, server: Server) -> None:
    for text in (ONE, OTHER, "a zebra runs"):
        service.remember(text)
    settled(service)
    sent = [text for texts in server.asked for text in texts]
    assert len(sent) == len(set(sent)) == 3


def test_similar_memories_are_reported_when_the_server_answers_in_time(
    open_memory: OpenService, server: Server
) -> None:
    service = open_memory(embedder=opened(server), vector_timeout=LIMIT)
    first = service.remember(ONE).memory
    (similar,) = service.remember(OTHER).similar
    assert (similar.memory.id, similar.advice) == (first.id, "skip")


def test_memories_added_during_a_batch_are_embedded_too(service: MemoryService, server: Server) -> None:
    go_on = held(server)
    service.remember(ONE)
    service.remember("a zebra runs")
    go_on.set()
    settled(service)
    assert "vector" in service.recall("a zebra runs")[0].why


@pytest.mark.parametrize("answer", [fault, too_few, no_numbers, nothing_but_nan, other_lengths])
def test_a_bad_answer_loses_no_memory_and_fails_no_search(
    service: MemoryService, server: Server, answer: Answer
) -> None:
    server.answer = answer
    assert service.remember(ONE).action == "created"
    settled(service)
    (match,) = service.recall("blue pool")
    assert "vector" not in match.why
    assert "embedding server" in service.lexical_only
    assert "quoted" not in service.lexical_only


@pytest.mark.parametrize("answer", [fault, too_few, no_numbers, nothing_but_nan, other_lengths])
def test_a_good_answer_after_a_bad_one_embeds_everything(
    service: MemoryService, server: Server, answer: Answer
) -> None:
    server.answer = answer
    service.remember(ONE)
    settled(service)
    server.answer = good
    service.recall("anything")  # notices that vectors are missing
    settled(service)
    assert "vector 1.00" in service.recall(ONE)[0].why
    assert (service.lexical_only, service.notices()) == ("", [])


def test_search_is_lexical_while_the_server_hangs(
    service: MemoryService, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.remember(ONE)
    settled(service)
    monkeypatch.setattr("keepmum.embedding.openai_compatible._TIMEOUT_ONE", 0.2)
    go_on = held(server)
    (match,) = service.recall("blue pool")
    assert "vector" not in match.why
    assert "did not answer" in service.lexical_only
    go_on.set()


def test_a_waiting_caller_gets_the_memory_embedded_before_the_answer(open_memory: OpenService, server: Server) -> None:
    service = open_memory(embedder=BackgroundEmbedder(lambda: server.embedder, remote=True), patient=True)
    first = service.remember(ONE).memory
    assert [similar.memory.id for similar in service.remember(OTHER).similar] == [first.id]
    assert "vector" in service.recall("blue pool")[0].why


def test_a_waiting_caller_does_not_wait_for_a_server_that_fails(open_memory: OpenService, server: Server) -> None:
    service = open_memory(embedder=opened(server), patient=True)
    server.answer = fault
    began = time.monotonic()
    assert service.remember(ONE).similar == ()
    assert time.monotonic() - began < LIMIT, "and not until the time for opening a model is over"


def test_a_new_value_with_the_same_text_is_compared_without_waiting(open_memory: OpenService, server: Server) -> None:
    service = open_memory(embedder=opened(server), vector_timeout=LIMIT)
    first = service.remember(ONE).memory
    service.remember(OTHER)
    began = time.monotonic()
    (similar,) = service.remember(OTHER, importance=0.9).similar
    assert similar.memory.id == first.id
    assert time.monotonic() - began < LIMIT / 2


def test_memories_near_to_an_older_one_are_found(service: MemoryService) -> None:
    first, other = service.remember(ONE).memory, service.remember(OTHER).memory
    settled(service)
    assert [memory.id for memory, _ in service.near(service.find(first.id))] == [other.id]
