"""An embedder that is opened beside the work: whoever searches meanwhile finds by words alone and waits for nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from keepmum.core.errors import KeepmumError, ModelMissing
from keepmum.embedding.base import Embedder

__all__ = ["BackgroundEmbedder"]

_PAUSE = 10.0  # seconds from one attempt that failed to the next: a look for a model that is missing costs nothing


class BackgroundEmbedder:
    """Opens an embedder in a thread of its own: once, and anew a while after that failed."""

    def __init__(self, opening: Callable[[], Embedder], *, remote: bool = False, pause: float = _PAUSE) -> None:
        """`remote` is an embedder behind a network, which nothing that is to be kept may wait for or depend on."""
        self.remote = remote
        self._opening = opening
        self._pause = pause
        self._deciding = threading.Lock()
        self._begun = False
        self._ended = threading.Event()
        self._failed_at = 0.0
        self._embedder: Embedder | None = None
        self._problem = ""
        self._missing = False

    def start(self) -> None:
        """Begin to open it; a second call changes nothing."""
        with self._deciding:
            if not self._begun:
                self._begin()

    def retry(self) -> None:
        """Begin anew where it failed a while ago: what was missing may have been installed, or a server be back."""
        with self._deciding:
            if self._problem and self._ended.is_set() and time.monotonic() > self._failed_at + self._pause:
                self._ended.clear()
                self._begin()

    def ready(self) -> Embedder | None:
        """The embedder; None while it is being opened, and where there is a `problem`."""
        return self._embedder

    def wait(self, seconds: float) -> Embedder | None:
        """The embedder, once it is open, or None when it cannot be opened or that takes longer than `seconds`."""
        self.start()
        self._ended.wait(seconds)
        return self._embedder

    @property
    def problem(self) -> str:
        """Why there is none, in a sentence that says what to do; empty while there may be one."""
        return self._problem

    @property
    def missing(self) -> bool:
        """Whether the problem is that none was installed, which may be what the user wants."""
        return bool(self._problem) and self._missing

    def _begin(self) -> None:
        self._begun = True
        threading.Thread(target=self._open, name="keepmum-embedding", daemon=True).start()

    def _open(self) -> None:
        try:
            self._embedder = self._opening()
            self._problem = ""
        except KeepmumError as error:
            self._missing = isinstance(error, ModelMissing)
            self._problem = str(error)
        except Exception as error:  # noqa: BLE001 - a search that goes on by words beats one that ends with a thread
            self._missing = False
            self._problem = f"search goes by words alone: the embedder failed to open ({type(error).__name__})"
        finally:
            self._failed_at = time.monotonic()
            self._ended.set()
