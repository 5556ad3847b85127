"""State on disk: private, whole, and never somewhere else than where it was asked for."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from keepmum_hooks import files

CAP = 1000


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_are_made_for_the_user_alone(tmp_path: Path) -> None:
    files.make_private(f"{tmp_path}/a/b")
    assert (mode_of(tmp_path / "a"), mode_of(tmp_path / "a" / "b")) == (0o700, 0o700)


def test_a_folder_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    files.make_private(str(tmp_path))
    assert mode_of(tmp_path) == 0o755


def test_a_record_gets_all_that_was_written_before_it(tmp_path: Path) -> None:
    path = f"{tmp_path}/s/log"
    files.append(path, b"one", CAP)
    assert files.append(path, b"two", CAP) == b"onetwo"


def test_a_log_is_for_the_user_alone(tmp_path: Path) -> None:
    files.append(f"{tmp_path}/s/log", b"one", CAP)
    assert mode_of(tmp_path / "s" / "log") == 0o600


def test_a_log_above_its_cap_is_begun_anew(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * (CAP + 1))
    assert files.append(str(log), b"one", CAP) == b"one"


def test_a_log_at_its_cap_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * CAP)
    assert files.append(str(log), b"one", CAP) == b"x" * CAP + b"one"


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    (tmp_path / "log").symlink_to(target)
    with pytest.raises(OSError, match="log"):
        files.append(f"{tmp_path}/log", b"one", CAP)
    assert target.read_bytes() == b"precious"


def test_a_pipe_is_no_log(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    with pytest.raises(OSError, match="not a regular file"):
        files.append(f"{tmp_path}/log", b"one", CAP)


def test_a_folder_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    with pytest.raises(IsADirectoryError):
        files.append(f"{tmp_path}/log", b"one", CAP)


def test_reading_stops_at_the_limit(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abcdef")
    assert files.read(f"{tmp_path}/f", 3) == b"abc"


def test_what_is_not_there_reads_as_none(tmp_path: Path) -> None:
    assert files.read(f"{tmp_path}/f", 3) is None


def test_a_pipe_reads_as_none_and_does_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    assert files.read(f"{tmp_path}/f", 3) is None


def test_a_link_reads_as_none(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("f")
    assert files.read(f"{tmp_path}/link", 3) is None


def test_a_link_is_followed_where_users_make_them(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("f")
    assert files.read(f"{tmp_path}/link", 3, follow=True) == b"abc"


def test_a_replaced_file_has_the_new_text_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "s" / "note"
    files.replace(str(path), b"old")
    files.replace(str(path), b"new")
    assert (path.read_bytes(), mode_of(path)) == (b"new", 0o600)


def test_replacing_leaves_nothing_beside(tmp_path: Path) -> None:
    files.replace(f"{tmp_path}/note", b"new")
    assert os.listdir(tmp_path) == ["note"]


def test_a_failed_replacement_leaves_nothing_beside(tmp_path: Path) -> None:
    (tmp_path / "note").mkdir()
    with pytest.raises(IsADirectoryError):
        files.replace(f"{tmp_path}/note", b"new")
    assert os.listdir(tmp_path) == ["note"]


def test_removing_what_cannot_be_removed_is_no_fault(tmp_path: Path) -> None:
    files.remove(f"{tmp_path}/missing")
    assert not os.listdir(tmp_path)


def test_touching_makes_the_file(tmp_path: Path) -> None:
    files.touch(f"{tmp_path}/h/beat")
    assert mode_of(tmp_path / "h" / "beat") == 0o600


def test_touching_renews_the_time(tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    beat.touch()
    os.utime(beat, (0, 0))
    files.touch(str(beat))
    assert files.seconds_since_change(str(beat)) < 60


@pytest.mark.parametrize(
    "seconds_ahead",
    [pytest.param(None, id="missing"), pytest.param(3600, id="dated in the future, as after a clock jump")],
)
def test_an_age_that_cannot_be_told_is_infinite(tmp_path: Path, seconds_ahead: int | None) -> None:
    beat = tmp_path / "beat"
    if seconds_ahead is not None:
        beat.touch()
        later = beat.stat().st_mtime + seconds_ahead
        os.utime(beat, (later, later))
    assert files.seconds_since_change(str(beat)) == float("inf")
