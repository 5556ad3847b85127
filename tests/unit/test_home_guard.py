"""The guard that keeps tests from writing to the real home."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import REAL_HOME
from keepmum_hooks import places

INSIDE = os.path.join(REAL_HOME, "written-by-a-test")


def test_state_is_in_the_home_of_the_test(home: Path) -> None:
    assert places.home(os.environ) == str(home / ".keepmum")
    assert Path.home() == home


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda: Path(INSIDE).write_text("x"), id="file"),
        pytest.param(lambda: Path(INSIDE).mkdir(), id="folder"),
        pytest.param(lambda: sqlite3.connect(INSIDE), id="store"),
        pytest.param(lambda: Path(REAL_HOME).mkdir(), id="the home itself"),
    ],
)
def test_write_to_the_real_home_fails(write: Callable[[], object]) -> None:
    with pytest.raises(PermissionError, match="real home"):
        write()
    assert not os.path.exists(INSIDE)
