"""What is known of a server: whether it is Keepmum's own, and what it can do; kept on this machine between sessions."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Mapping

from keepmum.core.errors import StoreError, StoreUnavailable
from keepmum.stores.rest.circuit_breaker import CircuitBreaker
from keepmum.stores.rest.full_api import FullApi, ServerFacts
from keepmum.system import private_files

__all__ = ["KnownServer"]

_NOT_FOUND = 404


class KnownServer:
    """The facts of one server. A server of version 1 has none, so none are requested."""

    def __init__(self, breaker: CircuitBreaker, path: str) -> None:
        """The facts are kept in the file at `path`."""
        self._breaker = breaker
        self._path = path
        self._lock = threading.Lock()
        self._facts = _read(path)
        self._is_certain = False  # whether the server has said it in this process

    @property
    def api(self) -> FullApi:
        """The calls of the server. Use it only when there are facts."""
        return self._breaker.api.full

    def facts(self) -> ServerFacts | None:
        """What the server can do; None for one that is not Keepmum's own, or not known yet. Asks it once."""
        with self._lock:
            version = self._breaker.is_v2
            if version is False and self._facts is not None:
                self._set(None)
            if version and not self._is_certain and not self._breaker.skips_reads:
                self._ask()
            return self._facts

    def ask(self) -> ServerFacts | None:
        """As `facts`, after asking a server that has not answered in this process which version it is of.

        Raises: StoreError when it does not answer.
        """
        if self._breaker.is_v2 is None and self._facts is None:
            self._breaker.api.ask_version()
        return self.facts()

    def _ask(self) -> None:
        try:
            self._set(self.api.describe())
        except StoreUnavailable:
            return
        except StoreError as error:
            if getattr(error, "status", 0) == _NOT_FOUND:
                self._set(None)
            else:
                self._breaker.record_failure(error)

    def _set(self, facts: ServerFacts | None) -> None:
        self._is_certain = True
        if facts == self._facts:
            return
        self._facts = facts
        with contextlib.suppress(OSError, StoreError):
            if facts is None:
                os.unlink(self._path)
            else:
                values = {"promises": sorted(facts.promises), "model": facts.model, "roles": dict(facts.roles)}
                private_files.replace_file(self._path, json.dumps(values))


def _read(path: str) -> ServerFacts | None:
    try:
        with open(path, "rb") as file:
            values = json.load(file)
        if isinstance(values, Mapping):
            return ServerFacts(frozenset(values["promises"]), str(values["model"]), dict(values["roles"]))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None
