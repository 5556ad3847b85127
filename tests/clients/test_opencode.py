"""The plugin in the real OpenCode, installed as one file: tools, guard, reminders."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clients.mock_model import Call, MockModel, Say
from clients.samples import DUE, NOTE, token
from clients.turns import type_turns
from clients.user import User
from keepmum_hooks.capture_prompt import CAPTURE_PROMPT, SKILLS

pytestmark = pytest.mark.clients

TOOL = "keepmum_"


@pytest.fixture
def user(  # noqa: PLR0917 - fixtures
    opencode_program: Path,
    chat: MockModel,
    product: Path,
    tmp_path: Path,
    project: Path,
    share_bytecode: Callable[[Path], None],
) -> User:
    """A user with the file that the installer writes, and a mock model."""
    user = User(
        [str(opencode_program)],
        tmp_path / "user",
        project,
        OPENCODE_DISABLE_AUTOUPDATE="1",
        OPENCODE_DISABLE_MODELS_FETCH="1",
        OPENCODE_DISABLE_LSP_DOWNLOAD="1",
        OPENCODE_DISABLE_SHARE="1",
        TMPDIR=str(tmp_path),  # its runtime unpacks libraries there and leaves them
    )
    share_bytecode(user.memories)
    model = {"name": "mock", "limit": {"context": 100_000, "output": 4_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{chat.url}/v1", "apiKey": "no-key"},
        "models": {"mock": model},
    }
    settings = {
        "model": "mock/mock",
        "small_model": "mock/mock",
        "permission": "allow",
        "autoupdate": False,
        "provider": {"mock": provider},
    }
    folder = user.home / ".config" / "opencode"
    (folder / "plugins").mkdir(parents=True)
    # The client first fetches types for plugins from npm, and retries for a minute.
    (user.home / ".npmrc").write_text("offline=true\n", encoding="utf-8")
    (folder / "opencode.json").write_text(json.dumps(settings), encoding="utf-8")
    address = (product / "plugin" / "opencode" / "keepmum.js").as_uri()
    (folder / "plugins" / "keepmum.js").write_text(f"export * from {json.dumps(address)}\n", encoding="utf-8")
    return user


def test_from_install_to_uninstall_tools_briefing_and_guard_work(user: User, chat: MockModel, project: Path) -> None:
    chat.will(Call(f"{TOOL}remember", NOTE), Say("kept"))
    user.run("run", "remember it")
    assert f"{TOOL}recall" in chat.requests[0].tools
    assert f"<name>{SKILLS['opencode']}</name>" in chat.requests[0].text
    assert "Kept: Deploys" in chat.requests[1].news

    before = len(chat.requests)
    file = project / "AGENTS.md"
    chat.will(
        Call(f"{TOOL}remember", {"text": f"the key is {token()}"}),
        Call("write", {"filePath": str(file), "content": f"key: {token()}\n"}),
        Call("bash", {"command": f"echo {token()} > AGENTS.md", "description": "write"}),
        Call("write", {"filePath": str(project / "note.txt"), "content": "no secret\n"}),
        Say("done"),
    )
    user.run("run", "remember more")
    assert f"{NOTE['text']} (mem_" in chat.requests[before].text
    assert all("github.token" in request.news for request in chat.requests[before + 1 : before + 4])
    assert not file.exists()
    assert (project / "note.txt").exists()
    kept = [path for path in user.memories.rglob("*") if path.is_file() and token().encode() in path.read_bytes()]
    assert kept == []
    assert not chat.asked(CAPTURE_PROMPT)

    before = len(chat.requests)
    (user.home / ".config" / "opencode" / "plugins" / "keepmum.js").unlink()
    user.run("run", "hello")
    assert not [name for name in chat.requests[before].tools if name.startswith(TOOL)]


def test_in_a_terminal_every_fifth_turn_reminds_once(user: User, chat: MockModel) -> None:
    with user.terminal() as screen:
        screen.wait_for("Ask anything")
        assert type_turns(screen, chat, user.memories, f"{TOOL}recall", press="\r") == DUE
