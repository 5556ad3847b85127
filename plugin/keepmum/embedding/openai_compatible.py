"""A client of servers with OpenAI's embeddings API: OpenAI itself, Ollama, vLLM, LM Studio and many others.

Secrets are redacted from every text that is sent, queries included, which no store scans. No message repeats a
server's answer, since it may quote the text.
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
_BATCH = 32  # texts per request
_MAX_CHARACTERS = 8_000  # per text; the largest of these models read 8,191 tokens, in any script
_TIMEOUT_ONE, _TIMEOUT_MANY = 5.0, 60.0  # seconds: for a query, which a person waits for, and for a batch
_RETRY_SECONDS = 30.0  # after a failure to connect; otherwise each search would wait for the timeout
_MAX_ANSWER = 64 << 20  # bytes
_OK, _REDIRECTS = 200, range(300, 400)
_REASONS = {
    401: "it does not accept the key",
    403: "it does not accept the key",
    404: "it has no such model, or embedding.url is not its address up to /embeddings",
    413: "the texts are too long for it",
    429: "too many requests",
}
_WORD = re.compile(r"\w")


def open_server(chosen: Settings, environ: Mapping[str, str]) -> OpenAiCompatible:
    """A client of the configured server; asks the server for the vector length unless that is configured.

    Raises: EmbeddingError when a setting is missing or the server cannot be used; KeepmumError for an invalid key.
    """
    wanted = chosen.embedding
    if wanted.url is None or wanted.model is None:
        raise EmbeddingError(
            'embedding.provider is "openai-compatible": set embedding.url and embedding.model in your config.toml too'
        )
    parts = urlsplit(wanted.url)
    origin = f"{parts.scheme}://{parts.netloc}".lower()
    if parts.scheme == "http" and not credentials.is_loopback(origin):
        raise EmbeddingError(
            "embedding.url: plain http is allowed to this machine only, since texts are sent; use https"
        )
    key = _key(chosen.home, environ, origin)
    server = OpenAiCompatible(wanted.url, wanted.model, wanted.dimensions, key)
    server.fetch_dimensions()
    return server


def _key(home: str | None, environ: Mapping[str, str], origin: str) -> str:
    """The key from KEEPMUM_EMBEDDING_KEY, else the key stored for this origin, else "".

    Raises: KeepmumError when the key or the credentials file is invalid.
    """
    key = environ.get(KEY_VARIABLE, "").strip()
    if key:
        return credentials.check_key(key)
    no_variables: Mapping[str, str] = {}  # the other variables hold keys of the memory server
    stored = credentials.find(home, no_variables, origin, approved=False)
    return stored.secret if stored else ""


class OpenAiCompatible:
    """One model of one server; threads share its connection, which stays open between calls."""

    def __init__(self, url: str, model: str, dimensions: int = 0, key: str = "") -> None:
        self.dimensions = dimensions
        self._name = f"{model} at {urlsplit(url).netloc}"
        self._parameters: dict[str, object] = {"model": model, "encoding_format": "float"}
        if dimensions:
            self._parameters["dimensions"] = dimensions
        self._url = f"{url}/embeddings"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client: httpx.Client | None = None
        self._failure: tuple[float, str] | None = None  # time and message of the last failure to connect

    @property
    def model(self) -> str:
        """The name of the vector space, with the length: another length under the same name is another model."""
        return f"{self._name} in {self.dimensions}"

    def fetch_dimensions(self) -> None:
        """Learn the length of the vectors from the server, unless it is known.

        Raises: EmbeddingError.
        """
        if not self.dimensions:
            self.dimensions = self._rows(["How long is a vector?"], _TIMEOUT_MANY).shape[1]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text, in order."""
        import numpy as np

        seconds = _TIMEOUT_ONE if len(texts) == 1 else _TIMEOUT_MANY
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = self._rows(texts[start : start + _BATCH], seconds)
            if batch.shape[1] != self.dimensions:
                raise EmbeddingError(
                    f"the embedding server sends vectors of {batch.shape[1]} numbers instead of {self.dimensions}: it "
                    "serves another model now. No vector was stored; set embedding.model to the one you mean"
                )
            rows[start : start + _BATCH] = batch
        return rows

    def _rows(self, texts: Sequence[str], seconds: float) -> Vectors:
        """The vectors of one batch.

        Raises: EmbeddingError on a timeout or an invalid answer.
        """
        import numpy as np

        body = self._post({**self._parameters, "input": [_prepare(text) for text in texts]}, seconds)
        try:
            with np.errstate(over="ignore"):  # too large numbers become infinite and are refused below
                rows = np.array(_in_order(json.loads(body), len(texts)), dtype=np.float32)
                norms: Vectors = np.linalg.norm(rows, axis=1, keepdims=True)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise EmbeddingError(
                f"the embedding server's answer is not {len(texts)} vectors of one length, by their index"
            ) from None
        if not (rows.size and np.isfinite(rows).all() and np.isfinite(norms).all() and norms.all()):
            raise EmbeddingError("the embedding server sent a vector of length zero, or with infinite values or NaN")
        return rows / norms

    def _post(self, body: Mapping[str, object], seconds: float) -> bytes:
        """The body of the server's answer, received within `seconds` in total.

        Raises: EmbeddingError.
        """
        import httpx

        if self._failure is not None and time.monotonic() < self._failure[0] + _RETRY_SECONDS:
            raise EmbeddingError(self._failure[1])
        try:
            with self._connection().stream("POST", self._url, json=body, timeout=seconds) as answer:
                if answer.status_code != _OK:
                    raise EmbeddingError(f"the embedding server answered {_describe(answer.status_code)}")
                content = b"".join(_chunks(answer, seconds))
        except httpx.TimeoutException:
            self._failure = time.monotonic(), f"the embedding server did not answer within {seconds:g} seconds"
            raise EmbeddingError(self._failure[1]) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            self._failure = time.monotonic(), f"the embedding server cannot be reached ({type(error).__name__})"
            raise EmbeddingError(self._failure[1]) from None
        self._failure = None
        return content

    def _connection(self) -> httpx.Client:
        """The HTTP client, which follows no redirect, since the key is for this server only.

        Raises: EmbeddingError when httpx is missing.
        """
        if self._client is None:
            try:
                import httpx
            except ImportError:
                raise EmbeddingError(
                    "an embedding server needs the package httpx, which is missing; `keepmum install` fetches it"
                ) from None
            self._client = httpx.Client(headers=self._headers, follow_redirects=False)
        return self._client


def _prepare(text: str) -> str:
    """The text as sent: without secrets, cut to the limit, and never empty, which these servers refuse."""
    cut = text[:_MAX_CHARACTERS]
    clean = redact(cut, scan(cut)).encode("utf-8", "replace").decode()
    return clean if _WORD.search(clean) else f"no words {clean}"


def _chunks(answer: httpx.Response, seconds: float) -> Iterator[bytes]:
    """The chunks of an answer, with a limit on the total time and size; httpx limits only each single wait.

    Raises: EmbeddingError, httpx.ReadTimeout.
    """
    import httpx

    deadline = time.monotonic() + seconds
    size = 0
    for chunk in answer.iter_bytes():
        size += len(chunk)
        if time.monotonic() > deadline:
            raise httpx.ReadTimeout("total time")
        if size > _MAX_ANSWER:
            raise EmbeddingError(f"the embedding server's answer is larger than {_MAX_ANSWER >> 20} MiB")
        yield chunk


def _in_order(answer: Any, count: int) -> list[list[float]]:  # Any: parsed JSON, checked here by use
    """The vectors of an answer in the order of their index.

    Raises: ValueError, TypeError or KeyError when it is not one vector for each index.
    """
    by_index = {item["index"]: item["embedding"] for item in answer["data"]}
    if len(answer["data"]) != count:
        raise ValueError
    return [by_index[number] for number in range(count)]


def _describe(status: int) -> str:
    if status in _REDIRECTS:
        return f"{status}: it has moved; set embedding.url to its new address"
    return f"{status}: {_REASONS[status]}" if status in _REASONS else f"{status}; try again later"
