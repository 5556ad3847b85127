"""The committed manifests are current, and contain what clients need."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from keepmum_installers import manifests, product

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
RENDERED = manifests.render(ROOT)


def _value(path: str) -> dict[str, Any]:
    value = json.loads(RENDERED[path])
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("path", sorted(RENDERED))
def test_generated_file_is_current(path: str) -> None:
    with open(os.path.join(ROOT, path), encoding="utf-8", newline="") as file:
        assert file.read() == RENDERED[path]


def test_a_changed_file_is_reported_as_outdated(tmp_path: os.PathLike[str]) -> None:
    assert manifests.outdated(os.fspath(tmp_path), {"a.json": "{}\n"}) == ["a.json"]


def test_check_writes_nothing_and_passes_on_the_committed_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert (manifests.main(["--check"]), capsys.readouterr().out) == (0, "")


def test_an_unknown_option_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert manifests.main(["--force"]) == 2
    assert "usage" in capsys.readouterr().err


def test_plugin_takes_name_and_version_from_the_project() -> None:
    plugin, project = _value(".claude-plugin/plugin.json"), product.read(ROOT)
    assert (plugin["name"], plugin["version"]) == (project.name, project.version)


def test_marketplace_and_plugin_make_the_id_that_the_installer_asks_for() -> None:
    marketplace = _value(".claude-plugin/marketplace.json")
    assert f"{marketplace['plugins'][0]['name']}@{marketplace['name']}" == product.PLUGIN


def test_marketplace_source_is_the_repository_itself() -> None:
    assert [plugin["source"] for plugin in _value(".claude-plugin/marketplace.json")["plugins"]] == ["./"]


def test_server_is_started_isolated_from_the_project_it_serves() -> None:
    server = _value(".mcp.json")["mcpServers"]["memory"]
    assert [server["command"], *server["args"][:2]] == ["python3", "-I", "-S"]


@pytest.mark.parametrize("event", ["SessionStart", "Stop"])
def test_hook_is_started_without_a_shell_and_given_five_seconds(event: str) -> None:
    (group,) = _value("hooks/hooks.json")["hooks"][event]
    (hook,) = group["hooks"]
    assert (hook["command"], hook["timeout"], "args" in hook) == ("python3", 5, True)


def test_hooks_never_name_a_plugin_option() -> None:
    # The client fails a hook whose arguments name an option that the user has not saved.
    assert "user_config" not in RENDERED["hooks/hooks.json"]


@pytest.mark.parametrize("path", sorted(RENDERED))
def test_no_manifest_has_a_path_of_this_machine(path: str) -> None:
    assert ROOT not in RENDERED[path]


def test_skill_has_its_name_and_when_to_use_it() -> None:
    with open(os.path.join(ROOT, product.SKILL), encoding="utf-8") as file:
        head = file.read().split("---\n")[1]
    assert "name: memory\n" in head
    assert "Use when" in head
