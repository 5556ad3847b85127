"""Path functions without `os` must agree with `os`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from keepmum_hooks import home, system


@pytest.fixture
def maze(tmp_path: Path) -> Path:
    """Folders and symbolic links: absolute, relative, through a parent, and dangling."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "absolute").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "relative").symlink_to("b")
    (tmp_path / "a" / "b" / "up").symlink_to("../..")
    (tmp_path / "broken").symlink_to("nowhere")
    return tmp_path


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a/b",
        "a//b/",
        "a/./b",
        "a/../a",
        "absolute/b",
        "absolute/relative",
        "absolute/relative/up/a",
        "broken",
        "broken/further",
        "missing/further",
    ],
)
def test_the_real_path_is_that_of_os(maze: Path, path: str) -> None:
    assert system.real_path(f"{maze}/{path}") == os.path.realpath(f"{maze}/{path}")


def test_the_real_path_of_the_root_is_the_root() -> None:
    assert system.real_path(os.path.abspath(os.sep)) == os.path.realpath(os.sep)


def test_a_loop_of_links_is_returned_unchanged(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert system.real_path(f"{tmp_path}/loop") == f"{tmp_path}/loop"


@pytest.mark.parametrize(
    ("folder", "above"),
    [
        pytest.param("/a/b", ["/a/b", "/a", ""], id="a folder"),
        pytest.param("/a/b/", ["/a/b", "/a", ""], id="with a trailing slash"),
        pytest.param("/", [""], id="the root"),
    ],
)
def test_ancestors_end_at_the_root(folder: str, above: list[str]) -> None:
    assert system.ancestors(folder) == above


def test_a_dangling_link_exists(maze: Path) -> None:
    assert system.exists(f"{maze}/broken")


def test_a_missing_name_does_not_exist(maze: Path) -> None:
    assert not system.exists(f"{maze}/missing")


@pytest.mark.parametrize(
    ("mode", "shared"),
    [
        pytest.param(0o1777, True, id="like /tmp"),
        pytest.param(0o0777, False, id="without the sticky bit"),
        pytest.param(0o0755, False, id="an ordinary folder"),
    ],
)
def test_a_shared_folder_is_recognised_by_its_mode(tmp_path: Path, mode: int, shared: bool) -> None:  # noqa: FBT001 - a column of the table
    tmp_path.chmod(mode)
    assert system.is_shared(str(tmp_path)) is shared


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no statvfs")
def test_a_full_disk_has_no_room_for_bytecode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert home.has_room_for_bytecode(str(tmp_path))
    full = os.statvfs_result((4096, 4096, 1 << 20, 1 << 10, 1 << 10, 0, 0, 0, 0, 255))
    monkeypatch.setattr(system.calls, "statvfs", lambda _: full)
    assert not home.has_room_for_bytecode(str(tmp_path))
