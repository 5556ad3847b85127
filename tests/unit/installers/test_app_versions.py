"""The folders of versions in the home: complete or absent, switched in one step, and two of them kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from keepmum_installers.app import layout, placing
from keepmum_installers.app.bundle import Bundle, bundle_at
from keepmum_installers.clients.codex.manifests import plugin_files
from keepmum_installers.errors import InstallError
from keepmum_installers.product import read
from releases import copy


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    """The smallest bundle that is complete."""
    for name in ("hooks/run.py", "installers/__main__.py", "plugin/launch.py", "pyproject.toml"):
        path = tmp_path / "bundle" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return bundle_at(str(tmp_path / "bundle"))


@pytest.fixture
def own(tmp_path: Path) -> str:
    """Keepmum's home, with the folder of versions."""
    folder = tmp_path / "own"
    (folder / "app").mkdir(parents=True)
    return str(folder)


def _names(own: str) -> list[str]:
    return sorted(os.listdir(layout.folder(own)))


def _put(bundle: Bundle, version: str, own: str) -> str:
    path = placing.place(bundle, version, own)
    placing.switch(path, own)
    placing.prune(own)
    return path


def test_a_version_is_a_copy(bundle: Bundle, own: str) -> None:
    path = _put(bundle, "1.0.0", own)
    assert (bundle_at(path).digest, layout.target(layout.current(own))) == (bundle.digest, path)


def test_the_same_files_are_placed_once(bundle: Bundle, own: str) -> None:
    assert _put(bundle, "1.0.0", own) == _put(bundle, "1.0.0", own)
    assert _names(own) == ["1.0.0", "current"]


def test_other_files_of_one_version_get_a_folder_of_their_own(bundle: Bundle, own: str) -> None:
    first = _put(bundle, "1.0.0", own)
    Path(bundle.folder, "hooks", "run.py").write_text("newer")
    second = _put(bundle_at(bundle.folder), "1.0.0", own)
    assert (layout.version_of(first), layout.version_of(second)) == ("1.0.0", "1.0.0")
    assert (Path(first, "hooks", "run.py").read_text(), Path(second, "hooks", "run.py").read_text()) == (
        "hooks/run.py",
        "newer",
    )


def test_two_versions_are_kept(bundle: Bundle, own: str) -> None:
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        _put(bundle, version, own)
    assert _names(own) == ["1.1.0", "1.2.0", "current", "previous"]
    assert layout.version_of(layout.target(layout.previous(own)) or "") == "1.1.0"


def test_what_a_killed_run_left_is_removed(bundle: Bundle, own: str) -> None:
    (Path(own) / "app" / ".new-1-ab" / "hooks").mkdir(parents=True)
    (Path(own) / "app" / ".old-1-1.0.0").mkdir()
    (Path(own) / "app" / "current.1-ab.part").symlink_to("1.0.0")
    _put(bundle, "1.0.0", own)
    assert _names(own) == ["1.0.0", "current"]


def test_other_files_in_the_folder_stay(bundle: Bundle, own: str) -> None:
    (Path(own) / "app" / "mine").mkdir()
    _put(bundle, "1.0.0", own)
    placing.remove(own)
    assert _names(own) == ["mine"]


@pytest.mark.parametrize("version", ["../../x", "", "current", "1.0.0/.."])
def test_a_version_that_is_not_a_name_of_a_folder_is_refused(bundle: Bundle, own: str, version: str) -> None:
    with pytest.raises(InstallError, match="no version"):
        placing.place(bundle, version, own)


def test_an_incomplete_bundle_is_refused(bundle: Bundle, own: str) -> None:
    Path(bundle.folder, "hooks", "run.py").unlink()
    with pytest.raises(InstallError, match=r"hooks/run\.py is missing"):
        placing.place(bundle_at(bundle.folder), "1.0.0", own)


def test_clients_get_the_link_and_no_other_path(bundle: Bundle, own: str) -> None:
    path = _put(bundle, "1.0.0", own)
    assert layout.for_clients(path, own) == layout.current(own)
    assert layout.for_clients(bundle.folder, own) == bundle.folder


def test_versions_are_in_order() -> None:
    ordered = ["", "0.9.0", "0.10.0a1", "0.10.0b2", "0.10.0rc1", "0.10.0", "1.0.0"]
    assert sorted(sorted(ordered), key=layout.sort_key) == ordered


def test_files_that_codex_trusts_are_the_same_in_each_version(root: Path, own: str, tmp_path: Path) -> None:
    older, newer = read(str(root)), read(str(copy(root, tmp_path / "newer", "9.0.0")))
    assert older.version != newer.version
    assert plugin_files(older, layout.current(own)) == plugin_files(newer, layout.current(own))
