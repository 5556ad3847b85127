"""Where native code runs, so that the process does not end in the midst of it.

An interpreter that ends also ends its background threads, at the moment when they come back from native code; C++ takes
that for a crash and aborts the process. So each such call is announced here, and the end waits for those under way:
a tenth of a second at most, where the model is just being opened.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections.abc import Iterator

from keepmum.core.errors import EmbeddingError

__all__ = ["native_call"]

_PATIENCE = 10.0  # seconds that the end waits, whatever happens
_changed = threading.Condition()
_under_way: list[object] = []
_ending = threading.Event()


@contextlib.contextmanager
def native_call() -> Iterator[None]:
    """Announce native code for the length of a block.

    Raises: EmbeddingError when the process is ending; the block is not entered.
    """
    mark = object()
    with _changed:
        if _ending.is_set():
            raise EmbeddingError("the process is ending")
        _under_way.append(mark)
    try:
        yield
    finally:
        with _changed:
            _under_way.remove(mark)
            _changed.notify_all()


@atexit.register
def _end() -> None:
    with _changed:
        _ending.set()
        _changed.wait_for(lambda: not _under_way, _PATIENCE)
