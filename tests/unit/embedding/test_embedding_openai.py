"""An embedding server yields vectors or a clear error, and never receives a secret."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from hidden import assert_hidden
from keepmum import embedding
from keepmum.core.errors import EmbeddingError, KeepmumError, SettingsError
from keepmum.embedding import openai_compatible
from keepmum.embedding.openai_compatible import KEY_VARIABLE, OpenAiCompatible
from keepmum.workspace import credentials, settings

KEY = "dummy-" + "key"
SECRET = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
LIMIT = 60.0  # seconds

Answer = Callable[[list[str]], object]
Serve = Callable[[Answer], OpenAiCompatible]


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, -2.0]


def whole(texts: list[str]) -> dict[str, object]:
    """A valid answer, in reverse order."""
    found = [{"object": "embedding", "index": n, "embedding": vector(text)} for n, text in enumerate(texts)]
    return {"object": "list", "data": found[::-1], "model": "m"}


@pytest.fixture
def asked() -> list[Request]:
    """The requests received."""
    return []


@pytest.fixture
def serve(httpserver: HTTPServer, asked: list[Request]) -> Serve:
    """A server whose answer a function computes from the texts: a JSON value or a response."""

    def serve(answer: Answer) -> OpenAiCompatible:
        def handler(request: Request) -> Response:
            asked.append(request)
            made = answer(json.loads(request.data)["input"])
            return made if isinstance(made, Response) else Response(json.dumps(made), mimetype="application/json")

        httpserver.expect_request("/v1/embeddings", method="POST").respond_with_handler(handler)
        return OpenAiCompatible(httpserver.url_for("/v1"), "m", key=KEY)

    return serve


def with_dimensions(server: OpenAiCompatible) -> OpenAiCompatible:
    server.fetch_dimensions()
    return server


def test_rows_are_in_the_order_of_the_texts(serve: Serve) -> None:
    rows = with_dimensions(serve(whole)).embed(["a", "bbbb", "cc"])
    expected = np.array([vector(text) for text in ("a", "bbbb", "cc")])
    assert rows == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True), abs=1e-6)
    assert rows.dtype == np.float32


def test_many_texts_are_sent_in_batches(serve: Serve, asked: list[Request]) -> None:
    rows = with_dimensions(serve(whole)).embed(["x" * (number + 1) for number in range(70)])
    assert rows.shape == (70, 3)
    assert [len(json.loads(request.data)["input"]) for request in asked] == [1, 32, 32, 6]
    assert (np.diff(rows[:, 0]) > 0).all()


def test_the_length_of_vectors_is_learnt_from_the_server(serve: Serve) -> None:
    assert with_dimensions(serve(whole)).dimensions == 3


def test_another_length_under_the_same_name_is_another_space(serve: Serve) -> None:
    server = with_dimensions(serve(whole))
    assert server.model != OpenAiCompatible(server._url.removesuffix("/embeddings"), "m", dimensions=4).model


def test_configured_dimensions_are_requested(httpserver: HTTPServer, serve: Serve, asked: list[Request]) -> None:
    serve(whole)
    server = OpenAiCompatible(httpserver.url_for("/v1"), "m", dimensions=3)
    server.fetch_dimensions()
    assert asked == []
    server.embed(["a"])
    assert json.loads(asked[0].data)["dimensions"] == 3


def test_the_key_is_sent_in_the_header_only(serve: Serve, asked: list[Request]) -> None:
    server = with_dimensions(serve(whole))
    assert asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert_hidden(KEY, server.model + asked[0].data.decode() + asked[0].url)


def test_the_space_name_contains_model_and_server() -> None:
    names = {
        OpenAiCompatible(url, model, dimensions).model
        for url in ("https://one.test/v1", "https://two.test/v1")
        for model in ("m", "n")
        for dimensions in (0, 256)
    }
    assert len(names) == 8


def test_no_secret_is_sent(serve: Serve, asked: list[Request]) -> None:
    with_dimensions(serve(whole)).embed([f"the token is {SECRET}"])
    assert_hidden(SECRET, asked[-1].data.decode())
    assert "the token is" in asked[-1].data.decode()


@pytest.mark.parametrize(
    "text", ["", "  ", "?!", "\ud800", "x" * 1_000_000], ids=["empty", "blank", "marks", "half", "long"]
)
def test_empty_and_long_texts_are_changed_before_sending(serve: Serve, asked: list[Request], text: str) -> None:
    with_dimensions(serve(whole)).embed([text])
    (sent,) = json.loads(asked[-1].data)["input"]
    assert 0 < len(sent.strip()) <= 8_000


def one(**fields: object) -> Answer:
    """An answer with one vector with these fields."""
    return lambda _: {"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0], **fields}]}


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _: {"data": []}, id="no vectors"),
        pytest.param(lambda texts: {"data": [*whole([*texts, "more"])["data"]]}, id="one too many"),  # type: ignore[misc]
        pytest.param(one(index=1), id="another index"),
        pytest.param(one(index=[]), id="invalid index"),
        pytest.param(one(embedding="AAAA"), id="text"),
        pytest.param(one(embedding=None), id="nothing"),
        pytest.param(one(embedding=7), id="a number"),
        pytest.param(one(embedding=[[1.0]]), id="a table"),
        pytest.param(one(embedding=[1.0, None]), id="null"),
        pytest.param(lambda _: [], id="a list"),
        pytest.param(lambda _: {"error": {"message": "quoted words"}}, id="an error in a good answer"),
        pytest.param(lambda _: Response("<html>quoted words", mimetype="text/html"), id="a page"),
        pytest.param(lambda _: Response("[" * 100_000), id="brackets"),
        pytest.param(one(embedding=[1.0, float("nan"), 3.0]), id="NaN"),
        pytest.param(one(embedding=[1.0, float("inf"), 3.0]), id="infinity"),
        pytest.param(one(embedding=[1e300, 1.0, 3.0]), id="too large"),
        pytest.param(one(embedding=[0.0, 0.0, 0.0]), id="all zero"),
        pytest.param(one(embedding=[]), id="empty"),
    ],
)
def test_an_invalid_answer_is_refused_without_quoting_it(serve: Serve, answer: Answer) -> None:
    server = serve(answer)
    server.dimensions = 3
    with pytest.raises(EmbeddingError, match="the embedding server") as caught:
        server.embed(["a"])
    assert "quoted" not in str(caught.value)


def test_vectors_of_two_lengths_are_refused(serve: Serve) -> None:
    server = serve(lambda _: {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]})
    server.dimensions = 2
    with pytest.raises(EmbeddingError, match="not 2 vectors of one length"):
        server.embed(["a", "b"])


def test_vectors_of_another_length_are_refused(serve: Serve) -> None:
    server = serve(whole)
    server.dimensions = 1536
    with pytest.raises(EmbeddingError, match="vectors of 3 numbers instead of 1536"):
        server.embed(["a"])


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "does not accept the key"),
        (403, "does not accept the key"),
        (404, "no such model"),
        (413, "too long"),
        (429, "too many requests"),
        (500, "try again later"),
        (503, "try again later"),
    ],
)
def test_an_error_status_is_reported_with_the_next_step(serve: Serve, status: int, said: str) -> None:
    server = serve(lambda _: Response("quoted words", status=status))
    with pytest.raises(EmbeddingError, match=f"answered {status}[:;] .*{said}") as caught:
        server.fetch_dimensions()
    assert "quoted" not in str(caught.value)


def test_a_redirect_is_not_followed(serve: Serve, asked: list[Request]) -> None:
    server = serve(lambda _: Response(status=307, headers={"Location": "/v1/embeddings"}))
    with pytest.raises(EmbeddingError, match="307: it has moved"):
        server.fetch_dimensions()
    assert len(asked) == 1


def test_an_unreachable_server_is_reported() -> None:
    with pytest.raises(EmbeddingError, match=r"cannot be reached \(ConnectError\)"):
        OpenAiCompatible("http://127.0.0.1:9/v1", "m").fetch_dimensions()


def test_a_server_that_hangs_times_out(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def hang(_: list[str]) -> object:
        go_on.wait(LIMIT)
        return {}

    monkeypatch.setattr(openai_compatible, "_TIMEOUT_ONE", 0.2)
    server = serve(hang)
    server.dimensions = 3
    try:
        with pytest.raises(EmbeddingError, match=r"did not answer within 0\.2 seconds"):
            server.embed(["a"])
    finally:
        go_on.set()


def test_a_server_that_trickles_bytes_times_out(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    pause = threading.Event()

    def trickle() -> Iterator[bytes]:
        for _ in range(1000):
            pause.wait(0.05)
            yield b" "

    monkeypatch.setattr(openai_compatible, "_TIMEOUT_ONE", 0.3)
    server = serve(lambda _: Response(trickle()))
    server.dimensions = 3
    try:
        with pytest.raises(EmbeddingError, match="did not answer within"):
            server.embed(["a"])
    finally:
        pause.set()


def test_an_unreachable_server_is_not_retried_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    server = OpenAiCompatible("http://127.0.0.1:9/v1", "m", dimensions=3)
    tried: list[str] = []
    connection = server._connection

    def counted() -> httpx.Client:
        tried.append("")
        return connection()

    monkeypatch.setattr(server, "_connection", counted)
    for _ in range(3):
        with pytest.raises(EmbeddingError, match="cannot be reached"):
            server.embed(["a"])
    assert len(tried) == 1


def test_a_server_is_asked_again_after_the_retry_time(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([Response(b"x", headers={"Content-Length": "9"}), whole(["a"])])
    server = serve(lambda _: next(answers))
    server.dimensions = 3
    monkeypatch.setattr(openai_compatible, "_RETRY_SECONDS", 0.0)
    with pytest.raises(EmbeddingError):
        server.embed(["a"])
    assert server.embed(["a"]).shape == (1, 3)


def test_a_too_large_answer_is_refused(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_compatible, "_MAX_ANSWER", 1 << 20)
    server = serve(lambda _: Response(b" " * (1 << 20 | 1)))
    with pytest.raises(EmbeddingError, match="larger than 1 MiB"):
        server.fetch_dimensions()


@pytest.fixture
def config(home: Path) -> Callable[..., settings.Settings]:
    """Settings with these values in the section `embedding`."""

    def config(**values: object) -> settings.Settings:
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())
        (home / "config.toml").write_text(f"[embedding]\n{lines}", encoding="utf-8")
        return settings.load({"KEEPMUM_HOME": str(home)}, None)

    return config


def test_settings_open_the_server(
    config: Callable[..., settings.Settings], serve: Serve, httpserver: HTTPServer, asked: list[Request]
) -> None:
    serve(whole)
    chosen = config(provider="openai-compatible", url=httpserver.url_for("/v1"), model="m")
    assert embedding.open_embedder(chosen, {KEY_VARIABLE: KEY}).dimensions == 3
    assert asked[0].headers["Authorization"] == f"Bearer {KEY}"


def test_a_missing_url_or_model_is_reported(config: Callable[..., settings.Settings]) -> None:
    with pytest.raises(EmbeddingError, match=r"set embedding\.url and embedding\.model"):
        embedding.open_embedder(config(provider="openai-compatible"), {})


def test_plain_http_to_another_machine_is_refused(config: Callable[..., settings.Settings]) -> None:
    chosen = config(provider="openai-compatible", url="http://models.test/v1", model="m")
    with pytest.raises(EmbeddingError, match="plain http is allowed to this machine only"):
        embedding.open_embedder(chosen, {})


def test_an_invalid_key_is_refused_without_showing_it(
    config: Callable[..., settings.Settings], httpserver: HTTPServer
) -> None:
    chosen = config(provider="openai-compatible", url=httpserver.url_for("/v1"), model="m")
    with pytest.raises(KeepmumError, match="that is not a key") as caught:
        embedding.open_embedder(chosen, {KEY_VARIABLE: f"{KEY}\nX-Other: 1"})
    assert_hidden(KEY, str(caught.value))


def test_the_key_stored_for_the_server_is_sent(
    config: Callable[..., settings.Settings], serve: Serve, httpserver: HTTPServer, asked: list[Request], home: Path
) -> None:
    serve(whole)
    credentials.store(str(home), httpserver.url_for("").rstrip("/"), KEY)
    chosen = config(provider="openai-compatible", url=httpserver.url_for("/v1"), model="m")
    embedding.open_embedder(chosen, {})
    assert asked[0].headers["Authorization"] == f"Bearer {KEY}"


def test_the_key_of_another_server_is_not_sent(
    config: Callable[..., settings.Settings], serve: Serve, httpserver: HTTPServer, asked: list[Request], home: Path
) -> None:
    serve(whole)
    credentials.store(str(home), "https://memories.test", KEY)
    chosen = config(provider="openai-compatible", url=httpserver.url_for("/v1"), model="m")
    embedding.open_embedder(chosen, {"MEMORY_API_KEY": KEY})
    assert "Authorization" not in asked[0].headers


def test_the_local_model_is_not_a_fallback_for_a_broken_server(
    config: Callable[..., settings.Settings], serve: Serve, httpserver: HTTPServer
) -> None:
    serve(lambda _: Response(status=500))
    chosen = config(provider="openai-compatible", url=httpserver.url_for("/v1"), model="m")
    background = embedding.in_background(chosen, {})
    assert background is not None
    assert background.wait(LIMIT) is None
    assert "answered 500" in background.problem


def test_the_provider_none_has_no_embedder(config: Callable[..., settings.Settings]) -> None:
    assert embedding.in_background(config(provider="none"), {}) is None


@pytest.mark.parametrize(
    "url", ["models.test", "https://u:p@models.test/v1", "https://models.test/v1?key=1", "https://["]
)
def test_a_url_with_user_or_query_is_refused(config: Callable[..., settings.Settings], url: str) -> None:
    with pytest.raises(SettingsError, match=r"config\.toml:2: embedding\.url must be https://"):
        config(url=url)


def test_a_project_file_cannot_choose_the_embedder(tmp_path: Path, home: Path) -> None:
    (tmp_path / ".keepmum.toml").write_text('embedding.provider = "openai-compatible"\n', encoding="utf-8")
    with pytest.raises(SettingsError, match="is not allowed in this file"):
        settings.load({"KEEPMUM_HOME": str(home)}, str(tmp_path))


def test_no_variable_chooses_the_embedder() -> None:
    named = [setting for name, setting in settings.SETTINGS.items() if name.startswith("embedding.")]
    assert [setting.name for setting in named if setting.variables] == []
