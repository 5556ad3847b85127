"""`keepmum recall` and the server when vector search fails: a lexical answer, and the reason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import patient_launch
from keepmum.embedding.fake import FakeEmbedder
from mcp_process import ServerProcess

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("shared_bytecode")]

LIMIT = 60  # seconds
POOL, OTHER = "deploys go through the blue pool first", "the parser skips blanks"
Keepmum = Callable[..., "subprocess.CompletedProcess[str]"]
Answer = Callable[[list[str]], object]


@pytest.fixture
def keepmum(root: Path, project: Path) -> Keepmum:
    """Runs one command in a new project."""

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = patient_launch.command(root / "plugin" / "launch.py", *words, python=[sys.executable])
        return subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", timeout=LIMIT, check=False, cwd=project
        )

    return call


@pytest.fixture
def server(root: Path, keepmum: Keepmum) -> Iterator[ServerProcess]:
    """A server for a project with one memory."""
    assert keepmum("remember", POOL).returncode == 0
    command = [sys.executable, str(root / "plugin" / "launch.py"), "mcp"]
    with ServerProcess(command, os.environ) as started:
        started.greet()
        yield started


def recall(server: ServerProcess, query: str) -> tuple[bool, str]:
    """Whether a recall failed, and its text."""
    answer: Any = server.ask("tools/call", {"name": "recall", "arguments": {"query": query}}, query[:20])["result"]
    return bool(answer.get("isError")), answer["content"][0]["text"]


# -- the model on this machine


def install(home: Path, content: bytes) -> None:
    """Install model files with this content."""
    folder = home / ".keepmum" / "models" / "all-MiniLM-L6-v2"
    folder.mkdir(parents=True)
    for name in ("model.bin", "model.onnx"):
        (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    "content", [pytest.param(b"", id="empty"), pytest.param(b"\0" * 5_000, id="other bytes than the pinned ones")]
)
def test_search_is_lexical_with_a_damaged_model_and_names_it(keepmum: Keepmum, home: Path, content: bytes) -> None:
    install(home, content)
    keepmum("remember", POOL)
    done = keepmum("recall", "blue pool")
    assert (done.returncode, POOL in done.stdout) == (0, True)
    assert "lexical only: model.onnx in" in done.stderr
    assert "`keepmum model install` replaces it" in done.stderr


def test_an_empty_result_mentions_that_no_model_is_installed(keepmum: Keepmum) -> None:
    keepmum("remember", POOL)
    assert keepmum("recall", "blue pool").stderr == ""
    missed = keepmum("recall", "shipping")
    assert missed.returncode == 1
    assert "is not installed; `keepmum model install` fetches it" in missed.stderr


# -- an embedding server


class Embeddings:
    """An embedding server on this machine whose answers a test chooses."""

    def __init__(self, http: HTTPServer, home: Path) -> None:
        self.answer: Answer = good
        http.expect_request("/v1/embeddings", method="POST").respond_with_handler(self._handle)
        folder = home / ".keepmum"
        folder.mkdir(exist_ok=True)
        url = http.url_for("/v1")
        (folder / "config.toml").write_text(
            f'[embedding]\nprovider = "openai-compatible"\nurl = "{url}"\nmodel = "m"\n', encoding="utf-8"
        )

    def _handle(self, request: Request) -> Response:
        made = self.answer(json.loads(request.data)["input"])
        return made if isinstance(made, Response) else Response(json.dumps(made), mimetype="application/json")


def good(texts: list[str], dimensions: int = 64) -> dict[str, Any]:
    rows = FakeEmbedder(dimensions).embed(texts).tolist()
    return {"data": [{"index": number, "embedding": row} for number, row in enumerate(rows)]}


def fault(_: list[str]) -> object:
    return Response("this text is not shown", status=500)


def one_too_many(texts: list[str]) -> object:
    return good([*texts, "more"])


def not_a_number(texts: list[str]) -> object:
    return {"data": [{"index": number, "embedding": [float("nan")] * 64} for number in range(len(texts))]}


def shorter(texts: list[str]) -> object:
    return good(texts, dimensions=32)


@pytest.fixture
def embeddings(httpserver: HTTPServer, home: Path) -> Embeddings:
    return Embeddings(httpserver, home)


@pytest.mark.parametrize("answer", [fault, one_too_many, not_a_number])
def test_search_is_lexical_after_an_invalid_answer_and_reports_it(
    keepmum: Keepmum, embeddings: Embeddings, answer: Answer
) -> None:
    keepmum("remember", POOL)
    assert "vector" in keepmum("recall", "blue pool", "--explain").stdout
    embeddings.answer = answer
    done = keepmum("recall", "blue pool", "--explain")
    assert (done.returncode, POOL in done.stdout, "vector" in done.stdout) == (0, True, False)
    assert done.stderr.startswith("keepmum: lexical only: ")
    assert "this text" not in done.stderr
    assert keepmum("remember", OTHER).returncode == 0


def test_vectors_of_another_length_count_as_another_model(keepmum: Keepmum, embeddings: Embeddings) -> None:
    keepmum("remember", POOL)
    assert "vector" in keepmum("recall", "blue pool", "--explain").stdout
    embeddings.answer = shorter
    done = keepmum("recall", "blue pool", "--explain")
    assert (done.returncode, POOL in done.stdout, "vector" in done.stdout) == (0, True, False)
    assert "until `keepmum reembed` embeds them again" in done.stderr
    assert keepmum("reembed").returncode == 0
    assert "vector" in keepmum("recall", "blue pool", "--explain").stdout


def test_a_memory_stored_during_a_failure_is_embedded_later(keepmum: Keepmum, embeddings: Embeddings) -> None:
    keepmum("remember", OTHER)
    embeddings.answer = fault
    keepmum("remember", POOL)
    embeddings.answer = good
    done = keepmum("recall", "blue pool", "--explain")
    assert POOL in done.stdout.partition("\n")[0]
    assert "vector 0." in done.stdout.splitlines()[1]


@pytest.mark.usefixtures("embeddings")
def test_damaged_vector_files_are_rebuilt(keepmum: Keepmum, home: Path) -> None:
    keepmum("remember", POOL)
    whole = keepmum("recall", "blue pool", "--explain").stdout
    files = [path for path in (home / ".keepmum" / "cache").glob("vectors-*/*") if path.name != "lock"]
    assert files
    for path in files:
        path.write_bytes(b"\xff" * 100)
    assert keepmum("recall", "blue pool", "--explain").stdout == whole


# -- queries


ODD = {  # queries, and whether each finds the memory
    "": True,
    "the of and": True,  # it has the first of these
    "of and to": False,
    '"pool" OR (b* NEAR c) AND NOT title:x': True,
    "pool'; DROP TABLE memories; --": True,
    "\N{ZEBRA FACE}\N{ZEBRA FACE}": False,
    "\N{ZEBRA FACE} pool \N{FAMILY}": True,
    '(*:^"': False,
    "pool " * 190: True,
}


def test_every_query_gets_an_answer(server: ServerProcess) -> None:
    answers = {query: recall(server, query) for query in ODD}
    assert {query: (failed, POOL in text) for query, (failed, text) in answers.items()} == {
        query: (False, found) for query, found in ODD.items()
    }


def test_a_query_of_10_000_characters_is_refused_with_the_limit(server: ServerProcess, keepmum: Keepmum) -> None:
    failed, text = recall(server, "x" * 10_000)
    assert failed
    assert "query" in text
    assert "the limit is 1,000" in text
    done = keepmum("recall", "x" * 10_000)
    assert (done.returncode, "the limit is 1,000" in done.stderr, "Traceback" in done.stderr) == (1, True, False)


def test_an_empty_lexical_result_says_that_search_was_lexical(server: ServerProcess) -> None:
    failed, text = recall(server, "shipping")
    assert not failed
    assert "No memories match." in text
    assert "Lexical only: the model for search by meaning is not " in text
