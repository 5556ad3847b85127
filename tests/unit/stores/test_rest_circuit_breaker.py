"""The circuit breaker: when a server is asked, when it is skipped, and what is called when it is back."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keepmum.core.errors import KeyRefused, StoreUnavailable
from keepmum.stores.rest.circuit_breaker import CircuitBreaker
from keepmum.stores.rest.known_server import KnownServer
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


@pytest.mark.parametrize(("is_v2", "asked"), [(True, 1), (False, 2)], ids=["for all", "perhaps for one project"])
def test_a_refused_key_is_not_read_with_again_at_once(*, is_v2: bool, asked: int) -> None:
    """Each request with it counts as an attempt of this address to guess a key; a write still says why it fails."""
    breaker, request = _breaker_of(SimpleNamespace(is_v2=is_v2)), _Refusing()
    for _ in range(2):
        assert breaker.call(lambda _: request(), lambda: "known here") == "known here"
    assert (request.asked, breaker.is_open) == (asked, False)


def test_what_a_server_can_do_is_asked_once_with_a_refused_key(tmp_path: Path) -> None:
    describe = _Refusing()
    known = KnownServer(
        _breaker_of(SimpleNamespace(is_v2=True, full=SimpleNamespace(describe=describe))), f"{tmp_path}/s"
    )
    assert [known.facts(), known.facts(), describe.asked] == [None, None, 1]


class _Refusing:
    """A call of the API that refuses the key."""

    asked = 0

    def __call__(self) -> str:
        self.asked += 1
        raise KeyRefused("the key is not accepted")


def _breaker_of(api: Any) -> CircuitBreaker:
    breaker = CircuitBreaker(Server("https://memory.example", "a-key"), lambda _: api, lambda: 0.0)
    assert breaker.api is api
    return breaker


def _unavailable() -> str:
    raise StoreUnavailable("it is away")


def _api() -> Any:
    return object()
