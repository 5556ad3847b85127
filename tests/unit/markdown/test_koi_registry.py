"""The registry of projects that Koi and Keepmum share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keepmum.stores.markdown import Registry


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(str(tmp_path / ".koi" / "registry.json"))


def a_project(folder: Path) -> str:
    (folder / ".memories").mkdir(parents=True)
    return str(folder)


def test_a_project_is_listed_in_the_form_of_koi(registry: Registry, tmp_path: Path) -> None:
    root = a_project(tmp_path / "api")
    registry.note(root, 1738680652.7)
    assert json.loads(Path(registry.path).read_text()) == {
        "version": 1,
        "projects": {root: {"lastAccess": 1738680652, "name": "api"}},
    }


def test_entries_of_other_tools_are_kept(registry: Registry, tmp_path: Path) -> None:
    root = a_project(tmp_path / "api")
    Path(registry.path).parent.mkdir()
    content = {"version": 1, "x": 2, "projects": {root: {"name": "The API", "y": 3}, "/gone": {"lastAccess": 1}}}
    Path(registry.path).write_text(json.dumps(content))
    registry.note(root, 5)
    content["projects"][root] = {"name": "The API", "y": 3, "lastAccess": 5}  # type: ignore[index]
    assert json.loads(Path(registry.path).read_text()) == content


def test_projects_are_listed_latest_first_without_those_that_are_gone(registry: Registry, tmp_path: Path) -> None:
    first, second = a_project(tmp_path / "first"), a_project(tmp_path / "second")
    for at, root in enumerate((first, second, str(tmp_path / "gone"))):
        registry.note(root, at)
    assert registry.projects() == [(second, "second"), (first, "first")]


@pytest.mark.parametrize("content", ["{", "[]", '{"projects": []}', "\x00\x01"])
def test_an_invalid_registry_is_reported_and_not_changed(registry: Registry, tmp_path: Path, content: str) -> None:
    Path(registry.path).parent.mkdir()
    Path(registry.path).write_text(content)
    registry.note(a_project(tmp_path / "api"), 1)
    assert "is left as it is" in registry.problem
    assert registry.projects() == []
    assert Path(registry.path).read_text() == content


@pytest.mark.parametrize("entry", [None, 1, [], {"lastAccess": "x", "name": 3}, {}])
def test_invalid_entries_are_ignored(registry: Registry, tmp_path: Path, entry: object) -> None:
    root = a_project(tmp_path / "api")
    Path(registry.path).parent.mkdir()
    Path(registry.path).write_text(json.dumps({"projects": {root: entry, "relative": {}, "\0": {}}}))
    assert registry.projects() in ([], [(root, "api")])
