"""The model hub. An interrupted download resumes where it stopped, at once or at the next start."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from keepmum.core.errors import EmbeddingError
from keepmum.embedding.local_model import LocalModel, StepProgress, has_hash

if TYPE_CHECKING:
    import httpx

__all__ = ["fetch"]

_HUB = "https://huggingface.co"  # HF_ENDPOINT names a mirror, as for every program that uses the hub
_ATTEMPTS = 4
_TIMEOUT = 30.0  # seconds without a byte
_OK, _PARTIAL, _RANGE_NOT_SATISFIABLE = 200, 206, 416
_MAX_BYTES = 1 << 28  # so that a server cannot fill the disk


def fetch(model: LocalModel, into: str, progress: StepProgress) -> str:
    """The folder `into`, after downloading the files to it.

    Raises: EmbeddingError when the hub is unreachable or sends other files; OSError.
    """
    try:
        import httpx
    except ImportError:
        raise EmbeddingError("the package httpx is missing; `keepmum install` fetches it") from None
    endpoint = (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/")
    with httpx.Client(timeout=_TIMEOUT, follow_redirects=True) as client:
        for name, pinned in model.published.items():
            path = os.path.join(into, name)
            if not has_hash(path, pinned):
                url = f"{endpoint}/{model.publisher}/{model.name}/resolve/main/{name}"
                _download(client, url, f"{path}.part", progress)
                if not has_hash(f"{path}.part", pinned):
                    os.unlink(f"{path}.part")
                    raise EmbeddingError(f"the hub sent a {name} whose hash differs from the pinned one")
                os.replace(f"{path}.part", path)
    return into


def _download(client: httpx.Client, url: str, part: str, progress: StepProgress) -> None:
    """Download a file to `part`, retrying while attempts make progress.

    Raises: EmbeddingError; the bytes received are kept for the next attempt.
    """
    import httpx

    reason = ""
    for _ in range(_ATTEMPTS):
        before = _size(part)
        try:
            if _resume(client, url, part, progress):
                return
            reason = "it ended early"
        except httpx.InvalidURL:
            raise EmbeddingError("HF_ENDPOINT is not a URL") from None
        except httpx.HTTPError as error:
            reason = type(error).__name__
        if _size(part) == before:
            break
    kept = f"; {_size(part):,} bytes are kept, and the next attempt resumes there" if _size(part) else ""
    raise EmbeddingError(f"the hub cannot be reached ({reason}){kept}")


def _resume(client: httpx.Client, url: str, part: str, progress: StepProgress) -> bool:
    """Append what the hub sends; True when the file is complete by its announced length."""
    done = _size(part)
    # Lengths and ranges refer to the uncompressed file.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
    with client.stream("GET", url, headers=headers) as answer:
        if answer.status_code == _RANGE_NOT_SATISFIABLE:  # nothing is left to send
            return True
        if answer.status_code not in {_OK, _PARTIAL}:
            raise EmbeddingError(f"the hub answered {answer.status_code} for {os.path.basename(part)[:-5]}")
        if answer.status_code == _OK:  # the server ignores ranges and sends the whole file
            done = 0
        total = done + int(answer.headers.get("Content-Length", 0))
        with open(part, "ab" if done else "wb") as file:
            for chunk in answer.iter_bytes():
                file.write(chunk)
                done += len(chunk)
                if done > _MAX_BYTES:
                    raise EmbeddingError("the hub sends more bytes than any file of the model has")
                progress(f"fetching {os.path.basename(part)[:-5]}", done, total)
    return done >= total


def _size(path: str) -> int:
    with contextlib.suppress(OSError):
        return os.path.getsize(path)
    return 0
