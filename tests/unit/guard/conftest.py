"""Fixtures of the guard's tests."""

from __future__ import annotations

import pytest

from guard_gate import Gate


@pytest.fixture
def token() -> str:
    """A string in the form of a code host's key."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.fixture
def gate() -> Gate:
    return Gate()
