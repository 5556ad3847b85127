"""Fixtures of the process tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import patient_guard


@pytest.fixture
def shared_bytecode(home: Path, share_bytecode: Callable[[Path], None]) -> None:
    """Gives the processes of this test the bytecode that those of other tests made."""
    share_bytecode(home / ".keepmum")


@pytest.fixture(scope="session")
def patient_plugin(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of hooks and scanner, to be left unchanged, whose guard has no two seconds only."""
    return patient_guard.copied(root, tmp_path_factory.mktemp("plugin") / "keepmum")


@pytest.fixture
def token() -> str:
    """A string in the form of a code host's key."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"
