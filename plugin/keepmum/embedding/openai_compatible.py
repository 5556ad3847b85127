"""A server that speaks OpenAI's embeddings API: OpenAI itself, Ollama, vLLM, LM Studio and many others.

What is sent to it is text, so no secret is: texts are redacted on the way, queries among them, which no store scans.
Nothing that it answers is repeated in a message, since it may quote what it was sent.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from keepmum.core.errors import EmbeddingError
from keepmum.workspace import credentials
from keepmum.workspace.settings import Settings
from keepmum_scanner import redact, scan

if TYPE_CHECKING:
    import httpx

    from keepmum.embedding.base import Vectors

__all__ = ["KEY_VARIABLE", "OpenAiCompatible", "open_server"]

KEY_VARIABLE = "KEEPMUM_EMBEDDING_KEY"
_BATCH = 32  # texts of one request
_LONGEST = 8_000  # characters of a text: 8,191 tokens is what the largest of these models read, in any script
_SECONDS_ONE, _SECONDS_MANY = 5.0, 60.0  # for a query, which a person waits for, and for a batch
_REST = 30.0  # seconds in which a server that was not there is not asked again, or each search would wait for it
_LARGEST = 64 << 20  # bytes of an answer
_OK, _MOVED = 200, range(300, 400)
_MEANINGS = {
    401: "it does not accept the key",
    403: "it does not accept the key",
    404: "it has no such model, or embedding.url is not its address up to /embeddings",
    413: "the texts are too long for it",
    429: "it has had enough requests for now",
}
_WORD = re.compile(r"\w")


def open_server(chosen: Settings, environ: Mapping[str, str]) -> OpenAiCompatible:
    """The server that the settings name, once it has answered when the length of its vectors is to be learnt.

    Raises: EmbeddingError when a setting is missing, or the server cannot be used; KeepmumError when its key is none.
    """
    wanted = chosen.embedding
    if wanted.url is None or wanted.model is None:
        raise EmbeddingError(
            'embedding.provider is "openai-compatible": set embedding.url and embedding.model in your config.toml too'
        )
    parts = urlsplit(wanted.url)
    origin = f"{parts.scheme}://{parts.netloc}".lower()
    if parts.scheme == "http" and not credentials.is_loopback(origin):
        raise EmbeddingError("embedding.url: plain http goes to this machine alone, since texts are sent; use https")
    key = _key(chosen.home, environ, origin)
    server = OpenAiCompatible(wanted.url, wanted.model, wanted.dimensions, key)
    server.learn()
    return server


def _key(home: str | None, environ: Mapping[str, str], origin: str) -> str:
    """The key in the variable, which is for the server of the user's own settings, or the one stored for its origin.

    Raises: KeepmumError when it can be no key, or the file of keys is wrong.
    """
    named = environ.get(KEY_VARIABLE, "").strip()
    if named:
        return credentials.check_key(named)
    no_variables: Mapping[str, str] = {}  # the others are for the server of memories
    stored = credentials.find(home, no_variables, origin, approved=False)
    return stored.secret if stored else ""


class OpenAiCompatible:
    """One model of one server. Its connection is kept between calls, and threads share it."""

    def __init__(self, url: str, model: str, dimensions: int = 0, key: str = "") -> None:
        self.dimensions = dimensions
        self._named = f"{model} at {urlsplit(url).netloc}"
        self._asked = {"model": model, "encoding_format": "float"} | ({"dimensions": dimensions} if dimensions else {})
        self._url = f"{url}/embeddings"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client: httpx.Client | None = None
        self._gone: tuple[float, str] | None = None  # when it was not there, and in which words that was told

    @property
    def model(self) -> str:
        """The name of the space; a server that sends another length under the same name serves another model."""
        return f"{self._named} in {self.dimensions}"

    def learn(self) -> None:
        """Ask the server for the length of its vectors, unless it is known.

        Raises: EmbeddingError.
        """
        if not self.dimensions:
            self.dimensions = self._rows(["How long is a vector?"], _SECONDS_MANY).shape[1]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row of length 1 for each text, in their order, whatever order the server answers in."""
        import numpy as np

        seconds = _SECONDS_ONE if len(texts) == 1 else _SECONDS_MANY
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = self._rows(texts[start : start + _BATCH], seconds)
            if batch.shape[1] != self.dimensions:
                raise EmbeddingError(
                    f"the embedding server sends vectors of {batch.shape[1]} numbers, and {self.dimensions} were "
                    "agreed: it serves another model now. Nothing was mixed; set embedding.model to the one you mean"
                )
            rows[start : start + _BATCH] = batch
        return rows

    def _rows(self, texts: Sequence[str], seconds: float) -> Vectors:
        """The vectors of one batch.

        Raises: EmbeddingError when they do not come in time, or are not what vectors are.
        """
        import numpy as np

        body = self._post({**self._asked, "input": [_fit(text) for text in texts]}, seconds)
        try:
            with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused below
                rows = np.array(_in_order(json.loads(body), len(texts)), dtype=np.float32)
                norms: Vectors = np.linalg.norm(rows, axis=1, keepdims=True)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise EmbeddingError(
                f"the embedding server's answer is not {len(texts)} vectors of one length, by their index"
            ) from None
        if not (rows.size and np.isfinite(rows).all() and np.isfinite(norms).all() and norms.all()):
            raise EmbeddingError("the embedding server sent a vector without a direction: not all numbers, or all zero")
        return rows / norms

    def _post(self, question: Mapping[str, Any], seconds: float) -> bytes:
        """What the server answers within so many seconds in all.

        Raises: EmbeddingError.
        """
        import httpx

        if self._gone is not None and time.monotonic() < self._gone[0] + _REST:
            raise EmbeddingError(self._gone[1])
        try:
            with self._connection().stream("POST", self._url, json=question, timeout=seconds) as answer:
                if answer.status_code != _OK:
                    raise EmbeddingError(f"the embedding server answered {_meaning(answer.status_code)}")
                body = b"".join(_within(answer, seconds))
        except httpx.TimeoutException:
            self._gone = time.monotonic(), f"the embedding server did not answer within {seconds:g} seconds"
            raise EmbeddingError(self._gone[1]) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            self._gone = time.monotonic(), f"the embedding server cannot be reached ({type(error).__name__})"
            raise EmbeddingError(self._gone[1]) from None
        self._gone = None
        return body

    def _connection(self) -> httpx.Client:
        """The client, which follows no redirect: the key is for this server alone.

        Raises: EmbeddingError when httpx is missing.
        """
        if self._client is None:
            try:
                import httpx
            except ImportError:
                raise EmbeddingError(
                    "embeddings of a server need the package httpx; `keepmum install` fetches it"
                ) from None
            self._client = httpx.Client(headers=self._headers, follow_redirects=False)
        return self._client


def _fit(text: str) -> str:
    """A text as it may be sent: without secrets, not too long, and never empty, which these servers refuse."""
    cut = text[:_LONGEST]
    clean = redact(cut, scan(cut)).encode("utf-8", "replace").decode()
    return clean if _WORD.search(clean) else f"no words {clean}"


def _within(answer: httpx.Response, seconds: float) -> Iterator[bytes]:
    """The chunks of an answer, while they come in time and are not too many; httpx limits each wait, and not their sum.

    Raises: EmbeddingError, httpx.ReadTimeout.
    """
    import httpx

    deadline = time.monotonic() + seconds
    size = 0
    for chunk in answer.iter_bytes():
        size += len(chunk)
        if time.monotonic() > deadline:
            raise httpx.ReadTimeout("in all")
        if size > _LARGEST:
            raise EmbeddingError(f"the embedding server's answer is larger than {_LARGEST >> 20} MiB")
        yield chunk


def _in_order(answer: Any, count: int) -> list[list[float]]:
    """The vectors of an answer by their index.

    Raises: ValueError, TypeError or KeyError when it is not one vector for each index.
    """
    by_index = {item["index"]: item["embedding"] for item in answer["data"]}
    if len(answer["data"]) != count:
        raise ValueError
    return [by_index[number] for number in range(count)]


def _meaning(status: int) -> str:
    if status in _MOVED:
        return f"{status}: it has moved; set embedding.url to where it is"
    return f"{status}: {_MEANINGS[status]}" if status in _MEANINGS else f"{status}; try again later"
