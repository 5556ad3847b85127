"""An embedding server gives vectors or a clear error, and is never sent a secret."""

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
LIMIT = 20  # seconds

Answer = Callable[[list[str]], object]
Serve = Callable[[Answer], OpenAiCompatible]


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, -2.0]


def whole(texts: list[str]) -> dict[str, object]:
    """What a good server answers, in the worst order that it may."""
    found = [{"object": "embedding", "index": n, "embedding": vector(text)} for n, text in enumerate(texts)]
    return {"object": "list", "data": found[::-1], "model": "m"}


@pytest.fixture
def asked() -> list[Request]:
    """The requests that came."""
    return []


@pytest.fixture
def serve(httpserver: HTTPServer, asked: list[Request]) -> Serve:
    """A server that answers with what a function makes of the texts: a value as JSON, or a response."""

    def serve(answer: Answer) -> OpenAiCompatible:
        def handler(request: Request) -> Response:
            asked.append(request)
            made = answer(json.loads(request.data)["input"])
            return made if isinstance(made, Response) else Response(json.dumps(made), mimetype="application/json")

        httpserver.expect_request("/v1/embeddings", method="POST").respond_with_handler(handler)
        return OpenAiCompatible(httpserver.url_for("/v1"), "m", key=KEY)

    return serve


def learnt(server: OpenAiCompatible) -> OpenAiCompatible:
    server.learn()
    return server


def test_rows_are_in_the_order_of_the_texts_whatever_the_servers(serve: Serve) -> None:
    rows = learnt(serve(whole)).embed(["a", "bbbb", "cc"])
    expected = np.array([vector(text) for text in ("a", "bbbb", "cc")])
    assert rows == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True), abs=1e-6)
    assert rows.dtype == np.float32


def test_many_texts_go_in_batches(serve: Serve, asked: list[Request]) -> None:
    rows = learnt(serve(whole)).embed(["x" * (number + 1) for number in range(70)])
    assert rows.shape == (70, 3)
    assert [len(json.loads(request.data)["input"]) for request in asked] == [1, 32, 32, 6]
    assert (np.diff(rows[:, 0]) > 0).all()


def test_the_length_of_vectors_is_learnt_from_the_server(serve: Serve) -> None:
    assert learnt(serve(whole)).dimensions == 3


def test_another_length_under_the_same_name_is_another_space(serve: Serve) -> None:
    server = learnt(serve(whole))
    assert server.model != OpenAiCompatible(server._url.removesuffix("/embeddings"), "m", dimensions=4).model


def test_lengths_that_the_user_chose_are_asked_for(httpserver: HTTPServer, serve: Serve, asked: list[Request]) -> None:
    serve(whole)
    server = OpenAiCompatible(httpserver.url_for("/v1"), "m", dimensions=3)
    server.learn()
    assert asked == []
    server.embed(["a"])
    assert json.loads(asked[0].data)["dimensions"] == 3


def test_the_key_goes_into_the_header_and_nowhere_else(serve: Serve, asked: list[Request]) -> None:
    server = learnt(serve(whole))
    assert asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert_hidden(KEY, server.model + asked[0].data.decode() + asked[0].url)


def test_the_space_is_named_by_model_and_server() -> None:
    names = {
        OpenAiCompatible(url, model, dimensions).model
        for url in ("https://one.test/v1", "https://two.test/v1")
        for model in ("m", "n")
        for dimensions in (0, 256)
    }
    assert len(names) == 8


def test_no_secret_is_sent(serve: Serve, asked: list[Request]) -> None:
    learnt(serve(whole)).embed([f"the token is {SECRET}"])
    assert_hidden(SECRET, asked[-1].data.decode())
    assert "the token is" in asked[-1].data.decode()


@pytest.mark.parametrize(
    "text", ["", "  ", "?!", "\ud800", "x" * 1_000_000], ids=["empty", "blank", "marks", "half", "long"]
)
def test_texts_that_servers_refuse_are_sent_in_a_form_that_they_take(
    serve: Serve, asked: list[Request], text: str
) -> None:
    learnt(serve(whole)).embed([text])
    (sent,) = json.loads(asked[-1].data)["input"]
    assert 0 < len(sent.strip()) <= 8_000


def one(**fields: object) -> Answer:
    """A server whose only vector has these fields."""
    return lambda _: {"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0], **fields}]}


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _: {"data": []}, id="no vectors"),
        pytest.param(lambda texts: {"data": [*whole([*texts, "more"])["data"]]}, id="one too many"),  # type: ignore[misc]
        pytest.param(one(index=1), id="another index"),
        pytest.param(one(index=[]), id="an index that is none"),
        pytest.param(one(embedding="AAAA"), id="text"),
        pytest.param(one(embedding=None), id="nothing"),
        pytest.param(one(embedding=7), id="a number"),
        pytest.param(one(embedding=[[1.0]]), id="a table"),
        pytest.param(one(embedding=[1.0, None]), id="a hole"),
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
def test_what_is_no_vector_is_refused_without_quoting_it(serve: Serve, answer: Answer) -> None:
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


def test_another_length_than_the_agreed_one_is_refused_and_nothing_mixed(serve: Serve) -> None:
    server = serve(whole)
    server.dimensions = 1536
    with pytest.raises(EmbeddingError, match="vectors of 3 numbers, and 1536 were agreed"):
        server.embed(["a"])


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "does not accept the key"),
        (403, "does not accept the key"),
        (404, "no such model"),
        (413, "too long"),
        (429, "enough requests"),
        (500, "try again later"),
        (503, "try again later"),
    ],
)
def test_a_refusal_is_told_with_what_to_do(serve: Serve, status: int, said: str) -> None:
    server = serve(lambda _: Response("quoted words", status=status))
    with pytest.raises(EmbeddingError, match=f"answered {status}[:;] .*{said}") as caught:
        server.learn()
    assert "quoted" not in str(caught.value)


def test_a_redirect_is_not_followed_so_that_the_key_stays_with_its_server(serve: Serve, asked: list[Request]) -> None:
    server = serve(lambda _: Response(status=307, headers={"Location": "/v1/embeddings"}))
    with pytest.raises(EmbeddingError, match="307: it has moved"):
        server.learn()
    assert len(asked) == 1


def test_a_server_that_nobody_runs_is_told() -> None:
    with pytest.raises(EmbeddingError, match=r"cannot be reached \(ConnectError\)"):
        OpenAiCompatible("http://127.0.0.1:9/v1", "m").learn()


def test_a_server_that_hangs_is_given_up(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def hang(_: list[str]) -> object:
        go_on.wait(LIMIT)
        return {}

    monkeypatch.setattr(openai_compatible, "_SECONDS_ONE", 0.2)
    server = serve(hang)
    server.dimensions = 3
    try:
        with pytest.raises(EmbeddingError, match=r"did not answer within 0\.2 seconds"):
            server.embed(["a"])
    finally:
        go_on.set()


def test_a_server_that_sends_a_byte_now_and_then_is_given_up(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    pause = threading.Event()

    def trickle() -> Iterator[bytes]:
        for _ in range(1000):
            pause.wait(0.05)
            yield b" "

    monkeypatch.setattr(openai_compatible, "_SECONDS_ONE", 0.3)
    server = serve(lambda _: Response(trickle()))
    server.dimensions = 3
    try:
        with pytest.raises(EmbeddingError, match="did not answer within"):
            server.embed(["a"])
    finally:
        pause.set()


def test_a_server_that_was_not_there_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_server_that_is_back_is_asked_again(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([Response(b"x", headers={"Content-Length": "9"}), whole(["a"])])
    server = serve(lambda _: next(answers))
    server.dimensions = 3
    monkeypatch.setattr(openai_compatible, "_REST", 0.0)
    with pytest.raises(EmbeddingError):
        server.embed(["a"])
    assert server.embed(["a"]).shape == (1, 3)


def test_an_answer_without_end_is_cut(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_compatible, "_LARGEST", 1 << 20)
    server = serve(lambda _: Response(b" " * (1 << 20 | 1)))
    with pytest.raises(EmbeddingError, match="larger than 1 MiB"):
        server.learn()


@pytest.fixture
def config(home: Path) -> Callable[..., settings.Settings]:
    """The settings of a user who wrote this into the section `embedding`."""

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


def test_a_server_without_a_name_or_model_is_asked_for(config: Callable[..., settings.Settings]) -> None:
    with pytest.raises(EmbeddingError, match=r"set embedding\.url and embedding\.model"):
        embedding.open_embedder(config(provider="openai-compatible"), {})


def test_texts_do_not_leave_the_machine_unencrypted(config: Callable[..., settings.Settings]) -> None:
    chosen = config(provider="openai-compatible", url="http://models.test/v1", model="m")
    with pytest.raises(EmbeddingError, match="plain http goes to this machine alone"):
        embedding.open_embedder(chosen, {})


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(
    config: Callable[..., settings.Settings], httpserver: HTTPServer
) -> None:
    chosen = config(provider="openai-compatible", url=httpserver.url_for("/v1"), model="m")
    with pytest.raises(KeepmumError, match="that is no key") as caught:
        embedding.open_embedder(chosen, {KEY_VARIABLE: f"{KEY}\nX-Other: 1"})
    assert_hidden(KEY, str(caught.value))


def test_a_key_that_is_stored_for_the_server_is_sent_to_it(
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


def test_a_broken_server_is_not_replaced_by_the_model_on_this_machine(
    config: Callable[..., settings.Settings], serve: Serve, httpserver: HTTPServer
) -> None:
    serve(lambda _: Response(status=500))
    chosen = config(provider="openai-compatible", url=httpserver.url_for("/v1"), model="m")
    background = embedding.in_background(chosen, {})
    assert background is not None
    assert background.wait(LIMIT) is None
    assert "answered 500" in background.problem


def test_who_wants_no_embeddings_gets_none(config: Callable[..., settings.Settings]) -> None:
    assert embedding.in_background(config(provider="none"), {}) is None


@pytest.mark.parametrize(
    "url", ["models.test", "https://u:p@models.test/v1", "https://models.test/v1?key=1", "https://["]
)
def test_an_address_with_more_than_a_place_is_refused(config: Callable[..., settings.Settings], url: str) -> None:
    with pytest.raises(SettingsError, match=r"config\.toml:2: embedding\.url must be https://"):
        config(url=url)


def test_a_project_cannot_choose_who_reads_memories(tmp_path: Path, home: Path) -> None:
    (tmp_path / ".keepmum.toml").write_text('embedding.provider = "openai-compatible"\n', encoding="utf-8")
    with pytest.raises(SettingsError, match="may not stand in this file"):
        settings.load({"KEEPMUM_HOME": str(home)}, str(tmp_path))


def test_no_variable_chooses_who_reads_memories() -> None:
    named = [setting for name, setting in settings.SETTINGS.items() if name.startswith("embedding.")]
    assert [setting.name for setting in named if setting.variables] == []
