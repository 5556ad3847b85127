"""The resources of a stream of changes."""

from __future__ import annotations

import pytest

from keepmum.core.errors import NotFound, StoreUnavailable
from keepmum.server.mcp.listening import _Watched


class _Failing:
    """A service whose searches fail."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def find(self, _: str) -> None:
        raise self._error


def test_a_resource_that_does_not_exist_yet_may_be_watched() -> None:
    _Watched("api", [], ["memory://db"]).look_up(_Failing(NotFound("no such memory")))  # type: ignore[arg-type]


def test_a_database_that_is_away_refuses_the_stream() -> None:
    """Otherwise the client would wait for changes of a resource that is not watched."""
    with pytest.raises(StoreUnavailable):
        _Watched("api", [], ["memory://db"]).look_up(_Failing(StoreUnavailable("away")))  # type: ignore[arg-type]
