"""A secret, put together here so that no file holds one, and calls to hold it."""

from __future__ import annotations

import pytest

from guard_gate import Gate


@pytest.fixture
def token() -> str:
    """What looks like a key of a code host."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.fixture
def gate() -> Gate:
    return Gate()
