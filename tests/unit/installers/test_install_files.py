"""Files are replaced atomically, and no write of another program is lost."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from keepmum_installers import files
from keepmum_installers.errors import FileChanged, InstallError
from keepmum_installers.locking import locked


def _replace(path: Path, after: bytes) -> None:
    files.replace(str(path), files.digest(files.read(str(path))), after, 0o644)


def test_new_file_gets_content_and_mode(tmp_path: Path) -> None:
    files.replace(str(tmp_path / "a"), None, b"x", 0o600)
    assert ((tmp_path / "a").read_bytes(), stat.S_IMODE((tmp_path / "a").stat().st_mode)) == (b"x", 0o600)


def test_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    path.chmod(0o640)
    _replace(path, b"y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to("real")
    _replace(tmp_path / "link", b"y")
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "real").read_bytes()) == (True, b"y")


def test_file_that_changed_since_it_was_read_is_left_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"theirs")
    with pytest.raises(FileChanged):
        files.replace(str(path), files.digest(b"what we read"), b"ours", 0o644)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"theirs", ["a"])


def test_new_file_of_another_program_is_left_unchanged(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"theirs")
    with pytest.raises(FileChanged):
        files.replace(str(tmp_path / "a"), None, b"ours", 0o644)


def test_file_that_changed_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"theirs")
    with pytest.raises(FileChanged):
        files.remove(str(tmp_path / "a"), files.digest(b"ours"))
    assert (tmp_path / "a").exists()


def test_folder_instead_of_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="could not read"):
        files.read(str(tmp_path))


def test_unwritable_path_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InstallError, match="could not write") as caught:
        files.replace(str(tmp_path / "file" / "a"), None, b"x", 0o644)
    assert "permissions" in caught.value.next_step


def test_private_folder_and_its_new_parents_are_for_the_owner(tmp_path: Path) -> None:
    files.private_folder(str(tmp_path / "a" / "b"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a", tmp_path / "a" / "b")} == {0o700}


@pytest.mark.parametrize(
    ("path", "inside"), [("a", True), ("a/b", True), ("ab", False), (".", False), ("a/../c", False)]
)
def test_a_common_prefix_of_names_is_not_lying_in_a_folder(tmp_path: Path, path: str, *, inside: bool) -> None:
    assert files.lies_in(str(tmp_path / path), str(tmp_path / "a")) is inside


def test_lock_is_exclusive(tmp_path: Path) -> None:
    with locked(str(tmp_path)), pytest.raises(InstallError, match="another installation"), locked(str(tmp_path), 0):
        pass


def test_released_lock_leaves_no_file(tmp_path: Path) -> None:
    with locked(str(tmp_path)):
        pass
    with locked(str(tmp_path), 0):
        assert os.listdir(tmp_path) == []
