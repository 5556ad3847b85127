"""The model hub. A file that was fetched in part goes on where it stopped, after a lost connection or another day."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from keepmum.core.errors import EmbeddingError
from keepmum.embedding.local_model import LocalModel, is_right
from keepmum.embedding.sources.progress import Progress

if TYPE_CHECKING:
    import httpx

__all__ = ["fetch"]

_HUB = "https://huggingface.co"  # HF_ENDPOINT names a mirror, as it does for every program that uses the hub
_ATTEMPTS = 4
_SILENCE = 30.0  # seconds in which nothing came
_PARTIAL = 206
_OK = 200
_NOTHING_LEFT = 416
_MOST = 1 << 28  # bytes; a server that never stops sending does not fill the disk


def fetch(model: LocalModel, into: str, progress: Progress) -> str:
    """The folder `into`, with the files in it.

    Raises: EmbeddingError when the hub cannot be reached, or sends other files; OSError.
    """
    try:
        import httpx
    except ImportError:
        raise EmbeddingError("the package httpx is not here; `keepmum install` fetches it") from None
    endpoint = (os.environ.get("HF_ENDPOINT") or _HUB).rstrip("/")
    with httpx.Client(timeout=_SILENCE, follow_redirects=True) as client:
        for name, pinned in model.published.items():
            path = os.path.join(into, name)
            if not is_right(path, pinned):
                address = f"{endpoint}/{model.publisher}/{model.name}/resolve/main/{name}"
                _fetch_file(client, address, f"{path}.part", progress)
                if not is_right(f"{path}.part", pinned):
                    os.unlink(f"{path}.part")
                    raise EmbeddingError(f"the hub sent another {name} than the one that is pinned")
                os.replace(f"{path}.part", path)
    return into


def _fetch_file(client: httpx.Client, address: str, part: str, progress: Progress) -> None:
    """All of a file, in as many attempts as it is worth.

    Raises: EmbeddingError; what has come stays for the next time.
    """
    import httpx

    reason = ""
    for _ in range(_ATTEMPTS):
        before = _size(part)
        try:
            if _go_on(client, address, part, progress):
                return
            reason = "it ended early"
        except httpx.InvalidURL:
            raise EmbeddingError("HF_ENDPOINT is no address") from None
        except httpx.HTTPError as error:
            reason = type(error).__name__
        if _size(part) == before:
            break
    kept = f"; {_size(part):,} bytes are kept, and the next attempt goes on from there" if _size(part) else ""
    raise EmbeddingError(f"the hub cannot be reached ({reason}){kept}")


def _go_on(client: httpx.Client, address: str, part: str, progress: Progress) -> bool:
    """Whether the file is complete, as far as its length tells, after appending what the hub sends."""
    done = _size(part)
    # Lengths and ranges are of the file as it is, so it must not come compressed.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
    with client.stream("GET", address, headers=headers) as answer:
        if answer.status_code == _NOTHING_LEFT:
            return True
        if answer.status_code not in {_OK, _PARTIAL}:
            raise EmbeddingError(f"the hub answered {answer.status_code} for {os.path.basename(part)[:-5]}")
        if answer.status_code == _OK:  # from the start, since it knows no ranges
            done = 0
        total = done + int(answer.headers.get("Content-Length", 0))
        with open(part, "ab" if done else "wb") as file:
            for chunk in answer.iter_bytes():
                file.write(chunk)
                done += len(chunk)
                if done > _MOST:
                    raise EmbeddingError("the hub sends more than any file of the model has")
                progress(f"fetching {os.path.basename(part)[:-5]}", done, total)
    return done >= total


def _size(path: str) -> int:
    with contextlib.suppress(OSError):
        return os.path.getsize(path)
    return 0
