"""A repository's settings work in every clone, and keep all other bytes."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from keepmum_installers.clients.claude import repository as in_repository
from keepmum_installers.clients.client import InstallSpec
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Change


def _planned(spec: InstallSpec, machine: Machine, **changes: Any) -> Change:
    (step,) = in_repository.plan(dataclasses.replace(spec, **{"scope": "project", **changes}), machine).steps
    assert isinstance(step, Change)
    return step


def _source(change: Change) -> Any:
    return json.loads(change.after)["extraKnownMarketplaces"]["keepmum"]["source"]


def test_team_gets_the_public_repository(spec: InstallSpec, machine: Machine, repository: Path) -> None:
    change = _planned(spec, machine)
    assert change.path == str(repository / ".claude" / "settings.json")
    assert _source(change) == {"source": "github", "repo": "keepmum/keepmum"}
    assert json.loads(change.after)["enabledPlugins"] == {"keepmum@keepmum": True}


def test_settings_are_the_repositorys_in_any_of_its_folders(
    spec: InstallSpec, machine: Machine, repository: Path
) -> None:
    (repository / "a" / "b").mkdir(parents=True)
    change = _planned(spec, dataclasses.replace(machine, cwd=str(repository / "a" / "b")))
    assert change.path == str(repository / ".claude" / "settings.json")


def test_bundle_inside_the_repository_is_named_relative_to_its_top(
    spec: InstallSpec, machine: Machine, repository: Path, clone: Path
) -> None:
    shutil.copytree(clone, repository / "tools" / "keepmum")
    change = _planned(spec, dataclasses.replace(machine, cwd=str(repository / "tools")), source="./keepmum")
    assert _source(change) == {"source": "directory", "path": "./tools/keepmum"}


def test_repository_that_is_the_bundle_names_itself(
    spec: InstallSpec, machine: Machine, repository: Path, clone: Path
) -> None:
    shutil.copytree(clone, repository, dirs_exist_ok=True)
    assert _source(_planned(spec, machine, source=".")) == {"source": "directory", "path": "./"}


def test_source_outside_the_repository_is_refused(spec: InstallSpec, machine: Machine, clone: Path) -> None:
    with pytest.raises(InstallError, match="outside the repository"):
        _planned(spec, machine, source=str(clone))


def test_git_address_has_the_clients_spelling(spec: InstallSpec, machine: Machine) -> None:
    change = _planned(spec, machine, source="https://host/team/keepmum.git")
    assert _source(change) == {"source": "git", "url": "https://host/team/keepmum.git"}


def test_local_settings_may_name_the_clone(spec: InstallSpec, machine: Machine, clone: Path) -> None:
    change = _planned(spec, machine, scope="local")
    assert change.path.endswith("settings.local.json")
    assert _source(change) == {"source": "directory", "path": str(clone.resolve())}


def test_other_bytes_stay(spec: InstallSpec, machine: Machine, repository: Path) -> None:
    before = '{\r\n\t"permissions": { "allow":[ "Bash(ls:*)" ] },\r\n\t"enabledPlugins": {"other@x":true}\r\n}'
    (repository / ".claude").mkdir()
    (repository / ".claude" / "settings.json").write_bytes(before.encode())
    after = _planned(spec, machine).after.decode()
    assert after.startswith(before[: before.index("true}")])


def test_second_plan_is_empty(spec: InstallSpec, machine: Machine, repository: Path) -> None:
    change = _planned(spec, machine)
    (repository / ".claude").mkdir()
    (repository / ".claude" / "settings.json").write_bytes(change.after)
    assert in_repository.plan(dataclasses.replace(spec, scope="project"), machine).steps == ()


def test_settings_with_comments_are_refused_with_line_and_what_to_add(
    spec: InstallSpec, machine: Machine, repository: Path
) -> None:
    (repository / ".claude").mkdir()
    (repository / ".claude" / "settings.json").write_text('{\n  // ours\n  "a": 1\n}\n')
    with pytest.raises(InstallError, match=r"line 2, column [0-9]+: not plain JSON") as caught:
        _planned(spec, machine)
    assert '"keepmum@keepmum": true' in caught.value.next_step


def test_settings_that_are_not_text_are_refused(spec: InstallSpec, machine: Machine, repository: Path) -> None:
    (repository / ".claude").mkdir()
    (repository / ".claude" / "settings.json").write_bytes('{"a": 1}'.encode("utf-16"))
    with pytest.raises(InstallError, match="not UTF-8"):
        _planned(spec, machine)


def test_home_is_not_a_project(spec: InstallSpec, machine: Machine, home: Path) -> None:
    with pytest.raises(InstallError, match="not a project"):
        _planned(spec, dataclasses.replace(machine, cwd=str(home)))


def test_closing_lines_name_the_steps_for_teammates(spec: InstallSpec, machine: Machine) -> None:
    closing = "\n".join(in_repository.plan(dataclasses.replace(spec, scope="project"), machine).closing)
    assert "For Claude Code each teammate has to" in closing
    assert "trust the folder" in closing
    assert "3.11" in closing
