"""A repository's settings work for whoever clones it, and keep every foreign byte."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from keepmum_installers.clients.claude import repository as in_repository
from keepmum_installers.clients.client import Wish
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine
from keepmum_installers.plan import Change


def _planned(wish: Wish, machine: Machine, **changes: Any) -> Change:
    (step,) = in_repository.plan(dataclasses.replace(wish, **{"scope": "project", **changes}), machine).steps
    assert isinstance(step, Change)
    return step


def _source(change: Change) -> Any:
    return json.loads(change.after)["extraKnownMarketplaces"]["keepmum"]["source"]


def test_team_gets_the_public_repository(wish: Wish, machine: Machine, repository: Path) -> None:
    change = _planned(wish, machine)
    assert change.path == str(repository / ".claude" / "settings.json")
    assert _source(change) == {"source": "github", "repo": "keepmum/keepmum"}
    assert json.loads(change.after)["enabledPlugins"] == {"keepmum@keepmum": True}


def test_settings_are_those_of_the_repository_from_any_folder_in_it(
    wish: Wish, machine: Machine, repository: Path
) -> None:
    (repository / "a" / "b").mkdir(parents=True)
    change = _planned(wish, dataclasses.replace(machine, cwd=str(repository / "a" / "b")))
    assert change.path == str(repository / ".claude" / "settings.json")


def test_bundle_inside_the_repository_is_named_relative_to_its_top(
    wish: Wish, machine: Machine, repository: Path, clone: Path
) -> None:
    shutil.copytree(clone, repository / "tools" / "keepmum")
    change = _planned(wish, dataclasses.replace(machine, cwd=str(repository / "tools")), source="./keepmum")
    assert _source(change) == {"source": "directory", "path": "./tools/keepmum"}


def test_repository_that_is_the_bundle_names_itself(
    wish: Wish, machine: Machine, repository: Path, clone: Path
) -> None:
    shutil.copytree(clone, repository, dirs_exist_ok=True)
    assert _source(_planned(wish, machine, source=".")) == {"source": "directory", "path": "./"}


def test_folder_that_no_teammate_has_is_refused(wish: Wish, machine: Machine, clone: Path) -> None:
    with pytest.raises(InstallError, match="outside the repository"):
        _planned(wish, machine, source=str(clone))


def test_git_address_is_written_as_the_client_writes_it(wish: Wish, machine: Machine) -> None:
    change = _planned(wish, machine, source="https://host/team/keepmum.git")
    assert _source(change) == {"source": "git", "url": "https://host/team/keepmum.git"}


def test_own_settings_in_the_repository_may_name_the_clone(wish: Wish, machine: Machine, clone: Path) -> None:
    change = _planned(wish, machine, scope="local")
    assert change.path.endswith("settings.local.json")
    assert _source(change) == {"source": "directory", "path": str(clone.resolve())}


def test_foreign_bytes_stay(wish: Wish, machine: Machine, repository: Path) -> None:
    before = '{\r\n\t"permissions": { "allow":[ "Bash(ls:*)" ] },\r\n\t"enabledPlugins": {"other@x":true}\r\n}'
    (repository / ".claude").mkdir()
    (repository / ".claude" / "settings.json").write_bytes(before.encode())
    after = _planned(wish, machine).after.decode()
    assert after.startswith(before[: before.index("true}")])


def test_second_plan_is_empty(wish: Wish, machine: Machine, repository: Path) -> None:
    change = _planned(wish, machine)
    (repository / ".claude").mkdir()
    (repository / ".claude" / "settings.json").write_bytes(change.after)
    assert in_repository.plan(dataclasses.replace(wish, scope="project"), machine).steps == ()


def test_settings_with_comments_are_refused_with_line_and_what_to_add(
    wish: Wish, machine: Machine, repository: Path
) -> None:
    (repository / ".claude").mkdir()
    (repository / ".claude" / "settings.json").write_text('{\n  // ours\n  "a": 1\n}\n')
    with pytest.raises(InstallError, match=r"line 2, column [0-9]+: not plain JSON") as caught:
        _planned(wish, machine)
    assert '"keepmum@keepmum": true' in caught.value.next_step


def test_settings_that_are_not_text_are_refused(wish: Wish, machine: Machine, repository: Path) -> None:
    (repository / ".claude").mkdir()
    (repository / ".claude" / "settings.json").write_bytes('{"a": 1}'.encode("utf-16"))
    with pytest.raises(InstallError, match="not UTF-8"):
        _planned(wish, machine)


def test_home_is_no_project(wish: Wish, machine: Machine, home: Path) -> None:
    with pytest.raises(InstallError, match="not a project"):
        _planned(wish, dataclasses.replace(machine, cwd=str(home)))


def test_closing_words_say_what_a_teammate_has_to_do(wish: Wish, machine: Machine) -> None:
    closing = "\n".join(in_repository.plan(dataclasses.replace(wish, scope="project"), machine).closing)
    assert "Commit .claude/settings.json" in closing
    assert "trust the folder" in closing
    assert "3.11" in closing
