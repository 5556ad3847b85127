"""Whether this process serves, or is about to stop."""

from __future__ import annotations

import threading

__all__ = ["ServerState"]


class ServerState:
    """Shared by all requests; streams end when it stops."""

    def __init__(self) -> None:
        self._stopping = threading.Event()

    @property
    def stopping(self) -> bool:
        """Whether the process got a signal to stop: requests that run are finished, streams end."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Begin to stop."""
        self._stopping.set()

    def wait(self, seconds: float) -> bool:
        """Wait at most this long; returns early, with True, when the process is to stop."""
        return self._stopping.wait(seconds)
