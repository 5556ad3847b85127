"""Preparing a release: one version everywhere, and the same files for the same tree."""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
from pathlib import Path

import pytest

from keepmum_installers import manifests, release
from keepmum_installers.app.bundle import bundle_at
from keepmum_installers.errors import InstallError
from keepmum_installers.product import read
from releases import copy


@pytest.fixture(scope="module")
def clone(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of version 0.2.0."""
    return copy(root, tmp_path_factory.mktemp("clone"), "0.2.0")


@pytest.fixture(scope="module")
def built(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    release.build(str(clone), str(folder))
    return folder


def test_every_file_names_the_version(clone: Path) -> None:
    assert read(str(clone)).version == "0.2.0"
    assert manifests.outdated(str(clone), manifests.render(str(clone))) == []
    assert 'VERSION = "0.2.0"' in (clone / "plugin" / "keepmum" / "core" / "version.py").read_text()


@pytest.mark.parametrize("version", ["0.1.9", "next", "1.0"])
def test_a_version_only_increases(clone: Path, version: str) -> None:
    with pytest.raises(InstallError):
        release.relabel(str(clone), version, "2026-11-22")
    assert read(str(clone)).version == "0.2.0"


def test_the_same_tree_gives_the_same_bytes(clone: Path, built: Path, tmp_path: Path) -> None:
    release.build(str(clone), str(tmp_path))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in built.iterdir()
    }


def test_each_hash_is_listed(built: Path) -> None:
    listed = dict(line.split("  ")[::-1] for line in (built / "SHA256SUMS").read_text().splitlines())
    assert listed == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in built.iterdir()
        if path.name != "SHA256SUMS"
    }


def test_the_archive_holds_the_tree(clone: Path, built: Path) -> None:
    with tarfile.open(built / "keepmum-0.2.0.tar.gz") as archive:
        assert archive.getnames() == [f"keepmum-0.2.0/{name}" for name in bundle_at(str(clone)).paths]


def test_each_locked_package_is_a_component(root: Path, built: Path) -> None:
    document = json.loads((built / "keepmum-0.2.0.cdx.json").read_text())
    lock = (root / "installers" / "locks" / "semantic.txt").read_text(encoding="utf-8")
    assert document["metadata"]["component"]["version"] == "0.2.0"
    assert {f"{each['name']}=={each['version']}" for each in document["components"]} == set(
        re.findall(r"^[A-Za-z0-9._-]+==[^\s;]+", lock, re.MULTILINE)
    )
    assert all(each["hashes"] for each in document["components"])
