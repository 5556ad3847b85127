"""The guard that keeps tests off the real home is itself under test."""

from __future__ import annotations

import os
from pathlib import Path

from keepmum_hooks import places


def test_state_lies_in_a_home_of_the_test(home: Path) -> None:
    assert places.home(os.environ) == str(home / ".keepmum")
    assert Path.home() == home


def test_a_write_to_the_real_home_would_be_seen(tmp_path: Path) -> None:
    from conftest import _listing

    (tmp_path / "memory.db").write_text("before")
    before = _listing(tmp_path)
    (tmp_path / "memory.db").write_text("after, and longer")
    os.utime(tmp_path / "memory.db", ns=(1, 1))
    assert _listing(tmp_path) != before
