"""State on disk: private, complete, and never behind a symbolic link."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from keepmum_hooks import files

CAP = 1000


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_folders_are_private(tmp_path: Path) -> None:
    files.make_private(f"{tmp_path}/a/b")
    assert (mode_of(tmp_path / "a"), mode_of(tmp_path / "a" / "b")) == (0o700, 0o700)


def test_an_existing_folder_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    files.make_private(str(tmp_path))
    assert mode_of(tmp_path) == 0o755


def test_append_returns_the_earlier_records(tmp_path: Path) -> None:
    path = f"{tmp_path}/s/log"
    files.append(path, b"one", CAP)
    assert files.append(path, b"two", CAP) == b"onetwo"


def test_a_log_is_private(tmp_path: Path) -> None:
    files.append(f"{tmp_path}/s/log", b"one", CAP)
    assert mode_of(tmp_path / "s" / "log") == 0o600


def test_a_log_above_its_cap_is_replaced(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * (CAP + 1))
    assert files.append(str(log), b"one", CAP) == b"one"


def test_a_log_at_its_cap_is_continued(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * CAP)
    assert files.append(str(log), b"one", CAP) == b"x" * CAP + b"one"


def test_append_does_not_follow_a_symbolic_link(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    (tmp_path / "log").symlink_to(target)
    with pytest.raises(OSError, match="log"):
        files.append(f"{tmp_path}/log", b"one", CAP)
    assert target.read_bytes() == b"precious"


def test_append_refuses_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    with pytest.raises(OSError, match="not a regular file"):
        files.append(f"{tmp_path}/log", b"one", CAP)


def test_append_refuses_a_folder(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    with pytest.raises(IsADirectoryError):
        files.append(f"{tmp_path}/log", b"one", CAP)


def test_reading_stops_at_the_limit(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abcdef")
    assert files.read(f"{tmp_path}/f", 3) == b"abc"


def test_a_missing_file_reads_as_none(tmp_path: Path) -> None:
    assert files.read(f"{tmp_path}/f", 3) is None


def test_a_pipe_reads_as_none_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f")
    assert files.read(f"{tmp_path}/f", 3) is None


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="only Linux has a file that cannot be read")
def test_a_file_with_a_read_error_reads_as_none(tmp_path: Path) -> None:
    (tmp_path / "memory").symlink_to("/proc/self/mem")
    assert files.read(f"{tmp_path}/memory", 10, follow=True) is None


def test_a_symbolic_link_reads_as_none(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("f")
    assert files.read(f"{tmp_path}/link", 3) is None


def test_a_symbolic_link_is_followed_on_request(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("f")
    assert files.read(f"{tmp_path}/link", 3, follow=True) == b"abc"


def test_a_replaced_file_has_the_new_content_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "s" / "note"
    files.replace(str(path), b"old")
    files.replace(str(path), b"new")
    assert (path.read_bytes(), mode_of(path)) == (b"new", 0o600)


def test_replacing_leaves_no_temporary_file(tmp_path: Path) -> None:
    files.replace(f"{tmp_path}/note", b"new")
    assert os.listdir(tmp_path) == ["note"]


def test_a_failed_replacement_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "note").mkdir()
    with pytest.raises(IsADirectoryError):
        files.replace(f"{tmp_path}/note", b"new")
    assert os.listdir(tmp_path) == ["note"]


def test_removing_a_missing_file_is_not_an_error(tmp_path: Path) -> None:
    files.remove(f"{tmp_path}/missing")
    assert not os.listdir(tmp_path)


def test_touch_creates_the_file(tmp_path: Path) -> None:
    files.touch(f"{tmp_path}/h/file")
    assert mode_of(tmp_path / "h" / "file") == 0o600


def test_touch_updates_the_time(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    os.utime(file, (0, 0))
    files.touch(str(file))
    assert files.seconds_since_change(str(file)) < 60


@pytest.mark.parametrize(
    "seconds_ahead",
    [pytest.param(None, id="missing"), pytest.param(3600, id="dated in the future, as after a clock jump")],
)
def test_an_unknown_age_is_infinite(tmp_path: Path, seconds_ahead: int | None) -> None:
    file = tmp_path / "file"
    if seconds_ahead is not None:
        file.touch()
        later = file.stat().st_mtime + seconds_ahead
        os.utime(file, (later, later))
    assert files.seconds_since_change(str(file)) == float("inf")
