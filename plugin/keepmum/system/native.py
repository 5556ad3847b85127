"""Makes the end of the process wait for native code in background threads.

At exit, the interpreter ends a daemon thread when it returns from native code. C++ code treats that as a crash and
aborts the process. So background threads wrap such calls in `native_call`, and exit waits for the running ones: at most
a tenth of a second, while the model is being loaded.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
from collections.abc import Iterator

from keepmum.core.errors import EmbeddingError

__all__ = ["native_call"]

_TIMEOUT = 10.0  # seconds that exit waits at most
_changed = threading.Condition()
_running: list[object] = []
_exiting = threading.Event()


@contextlib.contextmanager
def native_call() -> Iterator[None]:
    """Delay the end of the process until the block is left.

    Raises: EmbeddingError when the process is exiting; the block is not entered.
    """
    token = object()
    with _changed:
        if _exiting.is_set():
            raise EmbeddingError("the process is ending")
        _running.append(token)
    try:
        yield
    finally:
        with _changed:
            _running.remove(token)
            _changed.notify_all()


@atexit.register
def _wait_for_calls() -> None:
    with _changed:
        _exiting.set()
        _changed.wait_for(lambda: not _running, _TIMEOUT)
