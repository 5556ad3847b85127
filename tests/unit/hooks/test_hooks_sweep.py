"""The broom: old sessions go, others stay, and one run never does much."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from keepmum_hooks import places, sweep

DAY = 86_400


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    folder = Path(places.sessions_folder(str(tmp_path)))
    folder.mkdir(parents=True)
    return folder


def leave(folder: Path, name: str, days: float) -> Path:
    file = folder / name
    file.touch()
    then = time.time() - days * DAY
    os.utime(file, (then, then))
    return file


@pytest.mark.parametrize(("days", "stays"), [(0, True), (59, True), (61, False), (-30, True)])
def test_two_months_are_the_limit(tmp_path: Path, sessions: Path, days: int, stays: bool) -> None:  # noqa: FBT001 - a table's column
    file = leave(sessions, "s.turns", days)
    sweep.sweep(str(tmp_path))
    assert file.exists() is stays


def test_one_sweep_looks_at_so_many_files_only(tmp_path: Path, sessions: Path) -> None:
    for number in range(1200):
        leave(sessions, f"s{number}.turns", 100)
    sweep.sweep(str(tmp_path))
    assert len(os.listdir(sessions)) == 700


def test_every_file_has_its_day(tmp_path: Path, sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1200):
        leave(sessions, f"new{number:04}.turns", 0)
    last = leave(sessions, "old.turns", 100)
    today = time.time()
    for day in range(3):
        monkeypatch.setattr(time, "time", lambda day=day: today + day * DAY)
        sweep.sweep(str(tmp_path))
    assert not last.exists()


def test_without_sessions_there_is_nothing_to_sweep(tmp_path: Path) -> None:
    sweep.sweep(str(tmp_path))
    assert not Path(places.sessions_folder(str(tmp_path))).exists()


def test_a_folder_among_the_sessions_is_left(tmp_path: Path, sessions: Path) -> None:
    (sessions / "odd").mkdir()
    os.utime(sessions / "odd", (0, 0))
    sweep.sweep(str(tmp_path))
    assert (sessions / "odd").exists()


def test_module_caches_that_no_run_has_written_for_two_months_are_removed(tmp_path: Path) -> None:
    folder = Path(places.module_cache_folder(str(tmp_path)))
    folder.mkdir(parents=True)
    old, new = leave(folder, "old", 61), leave(folder, "new", 1)
    sweep.sweep(str(tmp_path))
    assert (old.exists(), new.exists()) == (False, True)
