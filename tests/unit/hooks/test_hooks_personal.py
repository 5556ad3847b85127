"""No agent adds to what is allowed: neither by the files nor by the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keepmum_hooks import guard, personal

FINGERPRINT = "0123456789abcdef" * 2


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / ".keepmum").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / ".keepmum")
    return {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}


def answer(environ: dict[str, str], tool: str, given: dict[str, str]) -> str:
    payload = {
        "session_id": "s", "cwd": environ["HOME"] + "/project", "hook_event_name": "PreToolUse", "tool_name": tool,
        "tool_input": given,
    }  # fmt: skip
    return guard.answer("claude-code", json.dumps(payload).encode(), environ)


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit"])
@pytest.mark.parametrize("name", personal.FILES)
@pytest.mark.parametrize(
    "folder", ["{home}/.keepmum", "{home}/link", "{home}/x/../.keepmum", "../.keepmum", "~/.keepmum"]
)
def test_its_files_are_written_by_no_tool(environ: dict[str, str], tool: str, name: str, folder: str) -> None:
    path = f"{folder.format(home=environ['HOME'])}/{name}"
    said = answer(environ, tool, {"file_path": path, "content": "", "new_string": "", "old_string": ""})
    assert json.loads(said)["hookSpecificOutput"]["permissionDecisionReason"] == personal.REASON


@pytest.mark.parametrize(
    "command",
    [
        "echo '[[allowed]]' >> ~/.keepmum/allow.toml",
        "cp x $HOME/.keepmum/fingerprint.key",
        'tee "${HOME}/.keepmum/allow.toml" < list',
        "cd ~/.keepmum && echo x > allow.toml",
        "rm -f ../.keepmum/allow.toml",
        f"keepmum allow {FINGERPRINT} --why x",
        f"~/.keepmum/bin/keepmum allow --why x {FINGERPRINT}",
        f"env -u CLAUDECODE keepmum allow {FINGERPRINT} --why x",
        f'script -qc "keepmum allow {FINGERPRINT} --why x" /dev/null',
        f"python3 -m keepmum.cli allow {FINGERPRINT} --why x",
        'keepmum allow "$FOUND" --why x',
        f"keepmum allow {FINGERPRINT} --revoke",
    ],
)
def test_a_command_that_would_change_it_is_refused(environ: dict[str, str], command: str) -> None:
    said = answer(environ, "Bash", {"command": command})
    assert json.loads(said)["hookSpecificOutput"]["permissionDecisionReason"] == personal.REASON


@pytest.mark.parametrize(
    "command",
    [
        "keepmum allow --list",
        "keepmum audit",
        "git commit -m 'say how keepmum allow works'",
        "grep -rn 'allow.toml' docs",
        "cat project/allow.toml",
        f"git show {FINGERPRINT}",
        f"git log --allow-empty {FINGERPRINT}",
    ],
)
def test_other_commands_go_on(environ: dict[str, str], command: str) -> None:
    assert answer(environ, "Bash", {"command": command}) == ""


@pytest.mark.parametrize(
    "path", ["allow.toml", "fingerprint.key", "~/project/.keepmum/allow.toml", "~/.keepmum/config.toml"]
)
def test_other_files_are_anybodys(environ: dict[str, str], path: str) -> None:
    assert answer(environ, "Write", {"file_path": path, "content": "x"}) == ""


def test_a_guard_that_is_off_refuses_nothing(environ: dict[str, str]) -> None:
    Path(environ["HOME"], ".keepmum", "config.toml").write_text("[guard]\nenabled = false\n", encoding="utf-8")
    assert answer(environ, "Write", {"file_path": "~/.keepmum/allow.toml", "content": ""}) == ""
