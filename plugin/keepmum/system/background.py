"""Work that goes on beside its caller's, on another core where there is one: its answer is asked for when needed."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["BackgroundTask"]

_Answer = TypeVar("_Answer")


class BackgroundTask:
    """A thread for one piece of work at a time; it is made with the first, since a new one for each takes longer."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._idle = threading.Lock()
        self._pieces: queue.SimpleQueue[_Piece | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def begin(self, work: Callable[[], _Answer]) -> Callable[[], _Answer]:
        """What waits for the answer of `work` and gives it, or raises what `work` raised.

        While the thread is at other work, whoever asks for the answer does the work.
        """
        if not self._idle.acquire(blocking=False):
            return work
        piece = _Piece(work, self._idle)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._pieces.put(piece)
        return piece.answer

    def close(self) -> None:
        """Let the thread end, once it has done what it is at."""
        if self._thread is not None:
            self._pieces.put(None)

    def _run(self) -> None:
        while (piece := self._pieces.get()) is not None:
            piece.do()


class _Piece:
    """One piece of work and what came of it."""

    def __init__(self, work: Callable[[], Any], idle: threading.Lock) -> None:
        self._work = work
        self._idle = idle
        self._done = threading.Lock()
        self._done.acquire()
        self._answer: Any = None
        self._raised: BaseException | None = None

    def do(self) -> None:
        try:
            self._answer = self._work()
        except BaseException as error:  # noqa: BLE001 - it is its caller's, whatever it is
            self._raised = error
        finally:
            self._idle.release()
            self._done.release()

    def answer(self) -> Any:
        with self._done:
            if self._raised is not None:
                raise self._raised
            return self._answer
