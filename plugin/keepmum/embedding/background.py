"""Loads the embedding model in a background thread; until it is ready, search is lexical."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from keepmum.core.calibration import COMMON, Calibration
from keepmum.core.errors import KeepmumError, ModelMissing
from keepmum.embedding.base import Embedder

__all__ = ["BackgroundEmbedder"]

_RETRY_SECONDS = 10.0  # between two attempts; checking for a missing model is cheap


class BackgroundEmbedder:
    """Opens an embedder once, in a thread; after a failure `retry` tries again."""

    def __init__(
        self,
        opener: Callable[[], Embedder],
        *,
        calibrate: Callable[[Embedder], Calibration] | None = None,
        remote: bool = False,
        retry_seconds: float = _RETRY_SECONDS,
    ) -> None:
        """Prepare to open an embedder.

        Args:
            opener: opens the embedder; runs in the thread.
            calibrate: measures it, in the thread too; without it, its cosines are taken as they are.
            remote: whether the embedder is behind a network, so that no write may wait for it or depend on it.
            retry_seconds: the minimum time from a failure to the next attempt.
        """
        self.remote = remote
        self.calibration = COMMON  # of the embedder, once it is open
        self._opener = opener
        self._calibrate = calibrate
        self._retry_seconds = retry_seconds
        self._lock = threading.Lock()
        self._started = False
        self._finished = threading.Event()
        self._failed_at = 0.0
        self._embedder: Embedder | None = None
        self._problem = ""
        self._missing = False

    def start(self) -> None:
        """Start to open the embedder; further calls do nothing."""
        with self._lock:
            if not self._started:
                self._start_thread()

    def retry(self) -> None:
        """Try again if the last attempt failed some time ago: a model may be installed now, or a server back."""
        with self._lock:
            due = time.monotonic() > self._failed_at + self._retry_seconds
            if self._problem and self._finished.is_set() and due:
                self._finished.clear()
                self._start_thread()

    def ready(self) -> Embedder | None:
        """The embedder; None while it is opening or after a failure (see `problem`)."""
        return self._embedder

    def wait(self, seconds: float) -> Embedder | None:
        """The embedder once it is open; None when opening fails or takes longer than `seconds`."""
        self.start()
        self._finished.wait(seconds)
        return self._embedder

    @property
    def problem(self) -> str:
        """Why the last attempt failed and what to do, in one sentence; empty before a failure."""
        return self._problem

    @property
    def missing(self) -> bool:
        """Whether the attempt failed because no model is installed, which the user may have chosen."""
        return bool(self._problem) and self._missing

    def _start_thread(self) -> None:
        self._started = True
        threading.Thread(target=self._open, name="keepmum-embedding", daemon=True).start()

    def _open(self) -> None:
        try:
            opened = self._opener()
            if self._calibrate is not None:
                self.calibration = self._calibrate(opened)
            self._embedder = opened
            self._problem = ""
        except KeepmumError as error:
            self._missing = isinstance(error, ModelMissing)
            self._problem = str(error)
        except Exception as error:  # noqa: BLE001 - lexical search continues, whatever failed in this thread
            self._missing = False
            self._problem = f"search is lexical only: the embedder failed to open ({type(error).__name__})"
        finally:
            self._failed_at = time.monotonic()
            self._finished.set()
