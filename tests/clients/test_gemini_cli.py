"""The extension in the real Gemini CLI, linked with its own command: tools, guard, reminders."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clients.mock_model import Call, MockModel, Say
from clients.request_formats import from_generate
from clients.samples import DUE, NOTE, token
from clients.turns import type_turns
from clients.user import User
from keepmum_hooks.capture_prompt import CAPTURE_PROMPT, SKILLS
from keepmum_installers.live.gemini_cli import GeminiApi

pytestmark = pytest.mark.clients

MODEL = "gemini-2.5-flash"  # a fixed name: with "auto" the client asks a model which one to use
TOOL = "mcp_keepmum_"


@pytest.fixture
def generate() -> Iterator[MockModel]:
    with MockModel(GeminiApi(), from_generate) as model:
        yield model


@pytest.fixture
def user(  # noqa: PLR0917 - fixtures
    gemini_program: Path,
    generate: MockModel,
    product: Path,
    tmp_path: Path,
    project: Path,
    share_bytecode: Callable[[Path], None],
) -> User:
    """A user who linked the extension with the client's own command."""
    user = User(
        [str(gemini_program)],
        tmp_path / "user",
        project,
        GEMINI_API_KEY="no-key-the-model-is-on-loopback",
        GOOGLE_GEMINI_BASE_URL=generate.url,
        GEMINI_CLI_TRUST_WORKSPACE="true",
    )
    share_bytecode(user.memories)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    (user.home / ".gemini").mkdir()
    (user.home / ".gemini" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    user.run("extensions", "link", str(product / "plugin" / "gemini"), "--consent")
    return user


def ask(user: User, prompt: str) -> str:
    return user.run("-m", MODEL, "--yolo", "-p", prompt)


def test_from_install_to_uninstall_tools_briefing_and_guard_work(
    user: User, generate: MockModel, project: Path
) -> None:
    generate.will(Call(f"{TOOL}remember", NOTE), Say("kept"))
    said = ask(user, "remember it")
    assert "Invalid hook" not in said
    assert f"{TOOL}recall" in generate.requests[0].tools
    assert f"<name>{SKILLS['gemini-cli']}</name>" in generate.requests[0].text
    assert "Kept: Deploys" in generate.requests[1].news

    before = len(generate.requests)
    file = project / "GEMINI.md"
    generate.will(
        Call(f"{TOOL}remember", {"text": f"the key is {token()}"}),
        Call("write_file", {"file_path": str(file), "content": f"key: {token()}\n"}),
        Call("run_shell_command", {"command": f"echo {token()} > GEMINI.md", "description": "write"}),
        Call("write_file", {"file_path": str(project / "note.txt"), "content": "no secret\n"}),
        Say("done"),
    )
    ask(user, "remember more")
    assert f"{NOTE['text']} (mem_" in generate.requests[before].text
    assert all("github.token" in request.news for request in generate.requests[before + 1 : before + 4])
    assert not file.exists()
    assert (project / "note.txt").exists()
    kept = [path for path in user.memories.rglob("*") if path.is_file() and token().encode() in path.read_bytes()]
    assert kept == []
    assert not generate.asked(CAPTURE_PROMPT)

    user.run("extensions", "uninstall", "keepmum")
    assert not (user.home / ".gemini" / "extensions" / "keepmum").exists()


def test_in_a_terminal_every_fifth_turn_reminds_once(user: User, generate: MockModel) -> None:
    with user.terminal("-m", MODEL, "--yolo") as screen:
        screen.wait_for("Type your message")
        assert type_turns(screen, generate, user.memories, f"{TOOL}recall", press="\r") == DUE
