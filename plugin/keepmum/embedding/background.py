"""An embedder that is opened beside the work: whoever searches meanwhile finds by words alone and waits for nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable

from keepmum.embedding.base import Embedder
from keepmum.errors import KeepmumError

__all__ = ["Background"]


class Background:
    """Opens an embedder once, in a thread of its own."""

    def __init__(self, opening: Callable[[], Embedder]) -> None:
        self._opening = opening
        self._begun = threading.Lock()
        self._ended = threading.Event()
        self._embedder: Embedder | None = None
        self._problem = ""

    def start(self) -> None:
        """Begin to open it; a second call changes nothing."""
        if self._begun.acquire(blocking=False):
            threading.Thread(target=self._open, name="keepmum-embedding", daemon=True).start()

    def ready(self) -> Embedder | None:
        """The embedder; None while it is being opened, and for good when there is a `problem`."""
        return self._embedder

    def wait(self, seconds: float) -> Embedder | None:
        """The embedder, once it is open, or None when it cannot be opened or that takes longer than `seconds`."""
        self.start()
        self._ended.wait(seconds)
        return self._embedder

    @property
    def problem(self) -> str:
        """Why there will be none, in a sentence that says what to do; empty while there may be one."""
        return self._problem

    def _open(self) -> None:
        try:
            self._embedder = self._opening()
        except KeepmumError as error:
            self._problem = str(error)
        except Exception as error:  # noqa: BLE001 - a search that goes on by words beats one that ends with a thread
            self._problem = f"search goes by words alone: the embedder failed to open ({type(error).__name__})"
        finally:
            self._ended.set()
