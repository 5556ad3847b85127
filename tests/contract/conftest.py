"""Each store in turn, for the tests that every store must pass."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.store_parts import Opener
from contract.stores import EXCUSED, STORES
from keepmum.stores import Store


@pytest.fixture(params=sorted(STORES))
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens the same store each time, as another process would."""
    excused = EXCUSED.get(request.param, {})
    case = request.node.name.replace(f"[{request.param}-", "[")
    promise = excused.get(request.node.originalname, excused.get(case))
    if promise is not None:
        request.applymarker(pytest.mark.xfail(reason=f"{request.param} cannot promise: {promise}", strict=True))
    with contextlib.ExitStack() as stack:

        def open_again() -> Store:
            store = STORES[request.param](tmp_path)
            stack.callback(store.close)
            return store

        yield open_again


@pytest.fixture
def store(opener: Opener) -> Store:
    return opener()
