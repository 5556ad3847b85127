"""The plugin in the real Copilot CLI, installed with its own commands: tools, guard, reminders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clients.mock_model import Call, MockModel, Say
from clients.npm import COPILOT_CLI
from clients.samples import DUE, NOTE, token
from clients.turns import type_turns
from clients.user import User
from keepmum_hooks.capture_prompt import CAPTURE_PROMPT, SKILLS

pytestmark = pytest.mark.clients

TOOL = "memory-"


@pytest.fixture
def newcomer(copilot_program: Path, chat: MockModel, root: Path, tmp_path: Path, project: Path) -> User:
    """A user with the client and without the plugin. The client unpacks itself into the cache, once per clone."""
    return User(
        [str(copilot_program)],
        tmp_path / "user",
        project,
        XDG_CACHE_HOME=str(root / ".cache" / "clients" / f"copilot-{COPILOT_CLI}" / "unpacked"),
        COPILOT_OFFLINE="true",
        COPILOT_MODEL="mock",
        COPILOT_PROVIDER_BASE_URL=f"{chat.url}/v1",
    )


@pytest.fixture
def user(newcomer: User, product: Path, share_bytecode: Callable[[Path], None]) -> User:
    """A user with the plugin, installed with the client's own commands."""
    share_bytecode(newcomer.memories)
    newcomer.run("plugin", "marketplace", "add", str(product))
    newcomer.run("plugin", "install", "keepmum@keepmum")
    return newcomer


def ask(user: User, prompt: str) -> str:
    return user.run("-p", prompt, "--allow-all-tools")


def test_from_install_to_uninstall_tools_briefing_and_guard_work(user: User, chat: MockModel, project: Path) -> None:
    chat.will(Call(f"{TOOL}remember", NOTE), Say("kept"))
    ask(user, "remember it")
    assert f"{TOOL}recall" in chat.requests[0].tools
    assert f"<name>{SKILLS['copilot-cli']}</name>" in chat.requests[0].text
    assert "Kept: Deploys" in chat.requests[1].news

    before = len(chat.requests)
    file = project / "AGENTS.md"
    chat.will(
        Call(f"{TOOL}remember", {"text": f"the key is {token()}"}),
        Call("create", {"path": str(file), "file_text": f"key: {token()}\n"}),
        Call("bash", {"command": f"echo {token()} > AGENTS.md", "description": "write"}),
        Call("create", {"path": str(project / "note.txt"), "file_text": "no secret\n"}),
        Say("done"),
    )
    user.environ["KEEPMUM_CAPTURE_EVERY"] = "1"
    ask(user, "remember more")
    assert f"{NOTE['text']} (mem_" in chat.requests[before].text
    assert all("github.token" in request.news for request in chat.requests[before + 1 : before + 4])
    assert not file.exists()
    assert (project / "note.txt").read_text(encoding="utf-8") == "no secret\n"
    kept = [path for path in user.memories.rglob("*") if path.is_file() and token().encode() in path.read_bytes()]
    assert kept == []
    assert not chat.asked(CAPTURE_PROMPT)  # a non-interactive run ends with its answer
    assert (user.memories / "state" / "heartbeat" / "copilot-cli.session-start").exists()

    before = len(chat.requests)
    user.run("plugin", "uninstall", "keepmum@keepmum")
    user.run("plugin", "marketplace", "remove", "keepmum")
    ask(user, "hello")
    assert not [name for name in chat.requests[before].tools if name.startswith(TOOL)]


def test_in_a_terminal_every_fifth_turn_reminds_once(user: User, chat: MockModel) -> None:
    with user.terminal("--allow-all-tools") as screen:
        screen.wait_for("Do you trust the files")
        screen.press("\r")
        screen.wait_for("/ commands")
        assert type_turns(screen, chat, user.memories, f"{TOOL}recall") == DUE
