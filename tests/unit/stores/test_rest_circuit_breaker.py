"""The circuit breaker: when a server is asked, when it is skipped, and what is called when it is back."""

from __future__ import annotations

from typing import Any

from keepmum.core.errors import StoreUnavailable
from keepmum.stores.rest.circuit_breaker import CircuitBreaker
from keepmum.workspace.credentials import Server


def test_recovery_is_reported_once_after_the_open_time() -> None:
    now, recovered = [0.0], []
    breaker = CircuitBreaker(Server("https://memory.example", "a-key"), lambda _: _api(), lambda: now[0])
    breaker.on_recovery = lambda: recovered.append(now[0])
    assert breaker.call(lambda _: _unavailable(), lambda: "known here") == "known here"
    assert breaker.call(lambda _: "the server's", lambda: "known here") == "known here"  # the circuit is open
    now[0] = 6.0
    assert breaker.call(lambda _: "the server's", lambda: "known here") == "the server's"
    assert breaker.call(lambda _: "the server's", lambda: "known here") == "the server's"
    assert (recovered, breaker.caveat) == ([6.0], "")


def _unavailable() -> str:
    raise StoreUnavailable("it is away")


def _api() -> Any:
    return object()
