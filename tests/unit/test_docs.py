"""The documents tell the truth: what is rendered is in step, what is named exists."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

DOCUMENTS = ("README.md", "AGENTS.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")


def _script(root: Path, name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(f"docs_{name}", root / "docs" / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["reference", "picture"])
def test_rendered_document_is_in_step(root: Path, name: str) -> None:
    assert _script(root, name).main(["--check"]) == 0, f"run: python3 docs/{name}.py"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_into_the_repository_leads_somewhere(root: Path, document: str) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", (root / document).read_text(encoding="utf-8"))
    assert [target for target in targets if not (root / target).exists()] == []


def test_every_command_of_the_readme_exists(root: Path) -> None:
    from keepmum import cli

    readme = (root / "README.md").read_text(encoding="utf-8")
    shown = cli.parser().format_help()
    named = set(re.findall(r"`keepmum ([a-z]+)", readme)) | set(re.findall(r"^keepmum ([a-z]+)", readme, re.MULTILINE))
    assert named
    assert [name for name in sorted(named) if not re.search(rf"^ +{name}\b", shown, re.MULTILINE)] == []


def test_every_tool_of_the_readme_exists(root: Path) -> None:
    from keepmum.mcp.tools import TOOLS

    readme = (root / "README.md").read_text(encoding="utf-8")
    line = next(line for line in readme.splitlines() if "MCP server with five tools" in line)
    assert set(re.findall(r"`([a-z]+)`", line)) == {tool.name for tool in TOOLS}


def test_the_first_screen_has_both_commands(root: Path) -> None:
    first = "\n".join((root / "README.md").read_text(encoding="utf-8").splitlines()[:25])
    assert "sh installers/install.sh" in first
    assert "sh tests/run.sh" in first


def test_version_is_the_one_of_the_project(root: Path) -> None:
    import tomllib

    from keepmum.version import VERSION

    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == VERSION
