"""The guard as each client starts it: only the user's own settings switch it off."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hidden import assert_hidden
from keepmum_hooks import places

LIMIT = 120  # seconds
SESSION = "s"


def token() -> str:
    """A string that looks like a code host's key, assembled here so that no file contains one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


# The event before a tool, and the names of server and tool, as each client sends them.
CALLS: dict[str, dict[str, Any]] = {
    "claude-code": {"hook_event_name": "PreToolUse", "tool_name": "mcp__engram__mem_save"},
    "codex": {"hook_event_name": "PreToolUse", "tool_name": "mcp__engram__mem_save"},
    "cursor": {
        "hook_event_name": "beforeMCPExecution",
        "tool_name": "MCP:mem_save",
        "mcp_server_name": "engram",
        "cursor_version": "1",
    },
    "copilot": {"hook_event_name": "PreToolUse", "tool_name": "engram-mem_save"},
    "vscode": {"hook_event_name": "PreToolUse", "tool_name": "mcp_engram_mem_save"},
    "gemini-cli": {"hook_event_name": "BeforeTool", "tool_name": "mcp_engram_mem_save"},
    "opencode": {"hook_event_name": "tool.execute.before", "tool_name": "engram_mem_save"},
}
FILE_CALLS: dict[str, dict[str, Any]] = {
    "claude-code": {"tool_name": "Write", "tool_input": {"file_path": "CLAUDE.md", "content": "@"}},
    "codex": {"tool_name": "apply_patch", "tool_input": {"command": "*** Begin Patch\n*** Add File: AGENTS.md\n+@"}},
    "cursor": {
        "hook_event_name": "preToolUse",
        "tool_name": "Write",
        "tool_input": {"path": ".cursorrules", "text": "@"},
    },
    "copilot": {"tool_name": "Write", "tool_input": {"path": ".github/copilot-instructions.md", "file_text": "@"}},
    "vscode": {"tool_name": "create_file", "tool_input": {"filePath": "AGENTS.md", "content": "@"}},
    "gemini-cli": {"tool_name": "write_file", "tool_input": {"file_path": "GEMINI.md", "content": "@"}},
    "opencode": {"tool_name": "write", "tool_input": {"filePath": "AGENTS.md", "content": "@"}},
}


class Scene:
    """A home, a project and the guard of one client."""

    def __init__(self, plugin: Path, folder: Path, client: str) -> None:
        self.home = folder / "keepmum"
        self.project = folder / "project"
        self.project.mkdir()
        self.home.mkdir(mode=0o700)
        self.client = client
        self.script = plugin / "hooks" / "run.py"
        self.environ = {"HOME": str(folder), "USERPROFILE": str(folder), "KEEPMUM_HOME": str(self.home)}

    def refuses(self, sent: dict[str, Any]) -> bool:
        """Whether the guard blocks a call with a secret; it lets the same call without one pass."""
        text = json.dumps({"session_id": SESSION, "conversation_id": SESSION, "cwd": str(self.project), **sent})
        outputs = [self.run(text.replace("@", words)) for words in (f"use {token()}", "use the vault")]
        assert outputs[1] in ("", "{}")
        assert_hidden(token()[8:16], outputs[0])
        return outputs[0] not in ("", "{}")

    def run(self, text: str) -> str:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(self.script), "guard", "--client", self.client],
            input=text.encode(),
            env=self.environ,
            capture_output=True,
            timeout=LIMIT,
            check=True,
        )
        assert done.stderr == b""
        return done.stdout.decode()


@pytest.fixture(params=CALLS)
def scene(request: pytest.FixtureRequest, patient_plugin: Path, tmp_path: Path) -> Scene:
    return Scene(patient_plugin, tmp_path, request.param)


def memory_call(scene: Scene) -> dict[str, Any]:
    return {**CALLS[scene.client], "tool_input": {"text": "@"}}


def test_nothing_but_the_users_settings_switches_the_guard_off(scene: Scene) -> None:
    file_call = {**CALLS[scene.client], **FILE_CALLS[scene.client]}
    scene.environ["KEEPMUM_ENABLED"] = "0"
    assert scene.refuses(memory_call(scene)), "KEEPMUM_ENABLED"
    assert scene.refuses(file_call), "KEEPMUM_ENABLED"
    (scene.project / ".keepmum.toml").write_text(
        "enabled = false\n[guard]\nenabled = false\npaths = []\n", encoding="utf-8"
    )
    marker = Path(places.off_marker(str(scene.home), SESSION))
    marker.parent.mkdir(parents=True)
    marker.touch()
    assert scene.refuses(memory_call(scene)), "project and session"
    assert scene.refuses(file_call), "project and session"


@pytest.mark.parametrize("text", ["enabled = false\n", "[guard]\nenabled = false\n"])
def test_the_users_settings_switch_the_guard_off(scene: Scene, text: str) -> None:
    (scene.home / "config.toml").write_text(text, encoding="utf-8")
    assert not scene.refuses(memory_call(scene))


def test_a_project_adds_a_server(scene: Scene) -> None:
    sent = json.loads(json.dumps(memory_call(scene)).replace("engram", "wiki").replace("mem_save", "put"))
    assert not scene.refuses(sent)
    (scene.project / ".keepmum.toml").write_text('guard.servers = ["wiki"]\n', encoding="utf-8")
    assert scene.refuses(sent)
