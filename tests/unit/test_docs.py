"""Rendered documents match their source, and every command, option and setting they name exists."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

DOCUMENTS = (
    "README.md",
    "AGENTS.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "docs/audit.md",
    "docs/benchmarks.md",
    "docs/clients.md",
    "docs/cursor.md",
    "docs/dialects.md",
    "docs/faq.md",
    "docs/forgetting.md",
    "docs/guard.md",
    "docs/guard-hook.md",
    "docs/install.md",
    "docs/library.md",
    "docs/markdown.md",
    "docs/search.md",
    "docs/server.md",
    "docs/team-server.md",
    "docs/upgrading.md",
)


def _script(root: Path, name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(f"docs_{name}", root / "docs" / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["manual", "openapi", "picture", "reference"])
def test_rendered_document_matches_its_source(root: Path, name: str) -> None:
    assert _script(root, name).main(["--check"]) == 0, f"run: python3 docs/{name}.py"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_into_the_repository_resolve(root: Path, document: str) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", (root / document).read_text(encoding="utf-8"))
    assert [target for target in targets if not (root / document).parent.joinpath(target).exists()] == []


def test_root_folders_are_explained_in_agents_md(root: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, timeout=60, check=True)
    folders = {name.partition("/")[0] for name in listed.stdout.splitlines() if "/" in name}
    agents = (root / "AGENTS.md").read_text(encoding="utf-8")
    assert [folder for folder in sorted(folders) if f"`{folder}/`" not in agents] == []


def test_commands_in_the_readme_exist(root: Path) -> None:
    from keepmum.cli import parser as command_line

    readme = (root / "README.md").read_text(encoding="utf-8")
    shown = command_line.build_parser().format_help()
    named = set(re.findall(r"`keepmum ([a-z]+)", readme)) | set(re.findall(r"^keepmum ([a-z]+)", readme, re.MULTILINE))
    assert named
    assert [name for name in sorted(named) if not re.search(rf"^ +{name}\b", shown, re.MULTILINE)] == []


def test_tools_in_the_readme_match_the_server(root: Path) -> None:
    from keepmum.mcp.dialects.keepmum.tools import TOOLS

    readme = (root / "README.md").read_text(encoding="utf-8")
    line = next(line for line in readme.splitlines() if "MCP server with five tools" in line)
    assert set(re.findall(r"`([a-z]+)`", line)) == {tool.name for tool in TOOLS}


def _blocks(root: Path, document: str, language: str) -> list[str]:
    text = (root / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def _command_lines(root: Path, document: str) -> list[str]:
    lines = "".join(_blocks(root, document, "sh")).splitlines()
    return [line.partition("  #")[0] for line in lines if line.startswith("keepmum ")]


@pytest.mark.parametrize("document", ["README.md", "docs/install.md"])
def test_documented_command_lines_parse(root: Path, document: str) -> None:
    from keepmum.cli import parser as command_line

    lines = _command_lines(root, document)
    assert lines
    for line in lines:
        command_line.build_parser().parse_args(shlex.split(line)[1:])  # exits on an unknown word


@pytest.mark.parametrize("document", ["README.md", "docs/install.md"])
def test_documented_options_exist(root: Path, document: str) -> None:
    from keepmum.guard.main import USAGE

    readme = (root / document).read_text(encoding="utf-8")
    reference = (root / "docs" / "reference.md").read_text(encoding="utf-8")
    shell = (root / "installers" / "install.sh").read_text(encoding="utf-8")
    ours = set(re.findall(r"--[a-z-]+", readme)) - {"--allowedTools", "--allowed"}  # options of the client
    assert {option for option in ours if option not in reference + shell + USAGE} == set()


def test_documented_settings_are_valid(root: Path, home: Path, tmp_path: Path) -> None:
    from keepmum.workspace import settings

    for_user, for_project = _blocks(root, "docs/install.md", "toml")
    (home / ".keepmum").mkdir()
    (home / ".keepmum" / "config.toml").write_text(for_user, encoding="utf-8")
    (tmp_path / ".keepmum.toml").write_text(for_project, encoding="utf-8")
    read = settings.load(os.environ, str(tmp_path))
    assert (read.capture.every, read.briefing.tokens, read.project) == (10, 500, "checkout")


def test_refusal_in_the_readme_matches_the_program(root: Path) -> None:
    from keepmum.core.errors import SecretFound

    assert _blocks(root, "README.md", "text") == [str(SecretFound([("text", "github.token", 1)])) + "\n"]


def test_first_screen_of_the_readme_has_both_commands(root: Path) -> None:
    first = "\n".join((root / "README.md").read_text(encoding="utf-8").splitlines()[:25])
    assert "sh installers/install.sh" in first
    assert "sh tests/run.sh" in first


def test_version_matches_pyproject(root: Path) -> None:
    import tomllib

    from keepmum.core.version import VERSION

    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == VERSION
