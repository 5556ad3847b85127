"""A server that may be away: asked where it answers, and left alone for a moment where it does not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from keepmum.core.errors import StoreError, StoreReadOnly, StoreUnavailable

if TYPE_CHECKING:
    from keepmum.stores.rest.api import Api
    from keepmum.workspace.credentials import Server

__all__ = ["Contact"]

_Answer = TypeVar("_Answer")
_DOWN = 5.0  # seconds for which a server that could not be reached is left alone by reads


class Contact:
    """The way to one server, and whether the last answer was its own."""

    def __init__(self, server: Server, connect: Callable[[Server], Api], clock: Callable[[], float]) -> None:
        self.server = server
        self.on_return: Callable[[], object] = lambda: None  # called when the server answers again
        self.caveat = ""  # that the last answer was not the server's, and why
        self._connect = connect
        self._clock = clock
        self._opening = threading.Lock()
        self._api: Api | None = None
        self._down_until = 0.0
        self._problem = ""

    @property
    def api(self) -> Api:
        """The server's API; whatever has to be imported for it is imported now.

        Raises: StoreReadOnly when there is no key for it.
        """
        if not self.server.key:
            raise StoreReadOnly(self.server.no_key)
        with self._opening:
            if self._api is None:
                self._api = self._connect(self.server)
            return self._api

    @property
    def is_full(self) -> bool | None:
        """Whether the server takes whole memories; None while that is not known."""
        return None if self._api is None else self._api.is_full

    @property
    def is_down(self) -> bool:
        """Whether the server could not be reached a moment ago."""
        return self._clock() < self._down_until

    def ask(self, question: Callable[[Api], _Answer], otherwise: Callable[[], _Answer]) -> _Answer:
        """The server's answer, or what is known here when it gives none, marked as that."""
        if self.is_down:
            return self._unasked(otherwise)
        try:
            answer = question(self.api)
        except StoreError as error:
            self.note(error)
            return self._unasked(otherwise)
        if self.caveat:
            self.caveat = ""
            self.on_return()
        return answer

    def note(self, error: StoreError) -> None:
        """Remember why the server gave no answer, and leave it alone for a moment where that may pass."""
        self._problem = "" if isinstance(error, StoreReadOnly) else f": {error}"  # that one is told at any rate
        if isinstance(error, StoreUnavailable):
            self._down_until = self._clock() + _DOWN

    def close(self) -> None:
        """Let the connections go."""
        if self._api is not None:
            self._api.close()

    def _unasked(self, otherwise: Callable[[], _Answer]) -> _Answer:
        """What is known here, marked as that."""
        self.caveat = f"This is what was known here, not the server's answer{self._problem}."
        return otherwise()
