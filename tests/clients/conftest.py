"""The real clients, a copy of the product, and a mock model."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clients import npm, patience
from clients.claude import Claude
from clients.mock_model import MockModel
from clients.request_formats import from_chat
from keepmum_installers.live.chat import Chat


@pytest.fixture(scope="session")
def claude_program(root: Path) -> Path:
    """The real Claude Code; skips the test, with the reason, when it is not available."""
    return _of_npm(root, "@anthropic-ai/claude-code", npm.CLAUDE_CODE, "@anthropic-ai/claude-code-*/claude")


@pytest.fixture(scope="session")
def codex_program(root: Path) -> Path:
    """The real Codex, or a skip."""
    return _of_npm(root, "@openai/codex", npm.CODEX, "@openai/codex-*/vendor/*/bin/codex")


@pytest.fixture(scope="session")
def copilot_program(root: Path) -> Path:
    """The real Copilot CLI, or a skip."""
    return _of_npm(root, "@github/copilot", npm.COPILOT_CLI, "@github/copilot-*/copilot")


@pytest.fixture(scope="session")
def gemini_program(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real Gemini CLI, a node script, or a skip."""
    node = _node()
    script = _of_npm(root, "@google/gemini-cli", npm.GEMINI_CLI, "@google/gemini-cli/bundle/gemini.js")
    program = tmp_path_factory.mktemp("gemini") / "gemini"
    program.write_text(f'#!/bin/sh\nexec "{node}" "{script}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.fixture(scope="session")
def opencode_program(root: Path) -> Path:
    """The real OpenCode, or a skip."""
    return _of_npm(root, "opencode-ai", npm.OPENCODE, "opencode-*/bin/opencode")


@pytest.fixture(scope="session")
def server_memory(root: Path) -> list[str]:
    """The command of the official memory server, a node script, or a skip."""
    name = "@modelcontextprotocol/server-memory"
    return [_node(), str(_of_npm(root, name, npm.SERVER_MEMORY, f"{name}/dist/index.js"))]


@pytest.fixture(scope="session")
def conformance(root: Path) -> list[str]:
    """The command of the public conformance suite of MCP, a node script, or a skip."""
    name = "@modelcontextprotocol/conformance"
    return [_node(), str(_of_npm(root, name, npm.CONFORMANCE, f"{name}/dist/index.js"))]


def _of_npm(root: Path, package: str, version: str, program: str) -> Path:
    try:
        return npm.fetched(root / ".cache" / "clients", package, version, program)
    except npm.Unavailable as reason:
        pytest.skip(str(reason))


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not on this machine, and the program requires it")
    return node


@pytest.fixture(scope="session")
def snapshot(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A patient copy of the repository's files, without those that git ignores, which no test changes."""
    copy = tmp_path_factory.mktemp("snapshot")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=patience.SECONDS, check=True)
    for name in filter(os.path.isfile, (str(root / name) for name in listed.stdout.split("\0") if name)):
        target = copy / Path(name).relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(name, target)
    patience.lengthen(copy)
    return copy


@pytest.fixture
def product(snapshot: Path) -> Iterator[Path]:
    """A copy of the snapshot for one test; always at one path, so that bytecode and installations fit."""
    product = snapshot.parent / "product"
    shutil.copytree(snapshot, product)
    yield product
    shutil.rmtree(product, ignore_errors=True)


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The settings of Claude Code with the plugin; the first test that installs it creates them."""
    return tmp_path_factory.mktemp("installation") / ".claude"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The repository that the user works in."""
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, timeout=patience.SECONDS, check=True)
    return folder


@pytest.fixture
def model() -> Iterator[MockModel]:
    with MockModel() as model:
        yield model


@pytest.fixture
def chat() -> Iterator[MockModel]:
    with MockModel(Chat(), from_chat) as model:
        yield model


@pytest.fixture
def newcomer(claude_program: Path, model: MockModel, tmp_path: Path) -> Claude:
    """A user with the client and without the plugin."""
    return Claude(claude_program, tmp_path / "user", model.url)


@pytest.fixture
def user(
    newcomer: Claude, product: Path, project: Path, installation: Path, share_bytecode: Callable[[Path], None]
) -> Claude:
    """A user with the plugin, installed from a folder."""
    if installation.exists():
        _copy_settings(installation, newcomer.config)
    else:
        newcomer.install(product, folder=project)
        _copy_settings(newcomer.config, installation)
    share_bytecode(newcomer.memories)
    return newcomer


def _copy_settings(source: Path, target: Path) -> None:
    """Copy the settings and plugins of Claude Code to another folder, which replaces the first in their paths."""
    shutil.copytree(source, target, dirs_exist_ok=True)
    installed = target / "plugins" / "installed_plugins.json"
    text = installed.read_text(encoding="utf-8").replace(str(source), str(target))
    installed.write_text(text, encoding="utf-8")
