"""Cursor's payloads, as the agent of `@cursor/sdk` 1.0.32 sends them, and its answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from keepmum_hooks import guard, main, places
from keepmum_hooks.capture_prompt import capture_prompt
from keepmum_hooks.clients import cursor
from keepmum_hooks.event import GUARD, SESSION_START, STOP, Event, ToolCall

COMMON: dict[str, Any] = {
    "conversation_id": "agent-1f0e",
    "generation_id": "gen-7",
    "model": "unknown",
    "session_id": "agent-1f0e",
    "cursor_version": "3.18.25",
    "workspace_roots": ["/home/ada/shop"],
    "user_email": None,
    "transcript_path": None,
}
STOPPED = {**COMMON, "hook_event_name": "stop", "status": "completed", "loop_count": 0}
STARTED = {**COMMON, "hook_event_name": "sessionStart", "is_background_agent": False}
MCP = {
    **COMMON,
    "hook_event_name": "beforeMCPExecution",
    "tool_name": "add",
    "tool_input": '{"note": "x"}',
    "mcp_server_name": "memory",
    "command": "npx server-memory",
}
SHELL = {
    **COMMON,
    "hook_event_name": "beforeShellExecution",
    "command": "ls",
    "cwd": "/home/ada/shop/deep",
    "sandbox": False,
}
WRITE = {
    **COMMON,
    "hook_event_name": "preToolUse",
    "tool_name": "Write",
    "tool_input": {"file_path": "AGENTS.md", "content": "x"},
    "tool_use_id": "f94f",
}


def token() -> str:
    """A string that looks like a code host's key, assembled here so that no file contains one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def stop_event(environ: dict[str, str] | None = None, /, **changes: object) -> Event:
    event = cursor.read(STOP, {**STOPPED, **changes}, environ or {})
    assert event is not None
    return event


def read_call(payload: dict[str, Any], /, **changes: object) -> ToolCall:
    call = cursor.read_call({**payload, **changes}, {})
    assert call is not None
    return call


# -- events ----------------------------------------------------------------------------------------------------------


def test_a_stop_names_conversation_folder_and_generation() -> None:
    event = stop_event()
    assert (event.kind, event.session, event.cwd, event.prompt) == (STOP, "agent-1f0e", "/home/ada/shop", "gen-7")


@pytest.mark.parametrize(("kind", "name"), [(STOP, "Stop"), (SESSION_START, "SessionStart")])
def test_an_event_of_an_imported_hook_file_is_read(kind: str, name: str) -> None:
    assert cursor.read(kind, {**STOPPED, "hook_event_name": name}, {}) is not None


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"hook_event_name": "subagentStop"}, id="another event"),
        pytest.param({"hook_event_name": ["stop"]}, id="an event of the wrong type"),
        pytest.param({"conversation_id": None, "session_id": None}, id="no session"),
        pytest.param({"conversation_id": 7, "session_id": ""}, id="a session of the wrong type"),
    ],
)
def test_another_event_or_one_without_a_session_is_ignored(changes: dict[str, object]) -> None:
    assert cursor.read(STOP, {**STOPPED, **changes}, {}) is None


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"loop_count": 1}, id="a turn started by a followup"),
        pytest.param({"status": "aborted"}, id="a turn that the user aborted"),
        pytest.param({"status": "error"}, id="a turn that failed"),
    ],
)
def test_not_every_stop_ends_a_turn(changes: dict[str, object]) -> None:
    assert not stop_event(**changes).ends_turn


def test_a_generation_equal_to_the_conversation_is_not_a_prompt_id() -> None:
    assert stop_event(generation_id="agent-1f0e").prompt == ""


@pytest.mark.parametrize("roots", [[], None, "x", [7]])
def test_the_folder_in_the_environment_replaces_a_missing_one(roots: object) -> None:
    assert stop_event({"CURSOR_PROJECT_DIR": "/project"}, workspace_roots=roots).cwd == "/project"


def test_the_folder_may_be_unknown() -> None:
    assert stop_event(workspace_roots=[]).cwd == ""


def test_a_windows_folder_loses_the_slash_before_its_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert stop_event(workspace_roots=["/c:/shop"]).cwd == "c:/shop"


def test_a_background_agent_is_not_attended() -> None:
    event = cursor.read(SESSION_START, {**STARTED, "is_background_agent": True}, {})
    assert event is not None
    assert not event.attended


# -- answers ---------------------------------------------------------------------------------------------------------


def test_the_capture_prompt_is_a_followup() -> None:
    assert json.loads(cursor.render(stop_event(), 'say "so"')) == {"followup_message": 'say "so"'}


def test_a_briefing_is_additional_context() -> None:
    event = cursor.read(SESSION_START, STARTED, {})
    assert event is not None
    assert json.loads(cursor.render(event, "known")) == {"additional_context": "known"}


def test_a_refusal_has_one_message_for_user_and_agent() -> None:
    answer = json.loads(cursor.refuse("no"))
    assert answer == {"permission": "deny", "user_message": "no", "agent_message": "no"}


# -- tool calls ------------------------------------------------------------------------------------------------------


def test_a_servers_tool_has_server_tool_and_input() -> None:
    call = read_call(MCP)
    assert (call.tool, call.input, call.paths, call.command) == ("mcp__memory__add", {"note": "x"}, (), "")


@pytest.mark.parametrize(
    ("changes", "tool"),
    [
        pytest.param({"mcp_server_name": "plugin-keepmum-keepmum"}, "mcp__keepmum__add", id="our own, from the plugin"),
        pytest.param({"mcp_server_name": "project-0-web-keepmum"}, "mcp__keepmum__add", id="our own, of a project"),
        pytest.param({"mcp_server_name": None}, "mcp__npx server-memory__add", id="a server without a name"),
        pytest.param({"tool_name": "MCP:add"}, "mcp__memory__add", id="with the client's prefix"),
    ],
)
def test_a_server_has_its_own_name_or_its_command(changes: dict[str, object], tool: str) -> None:
    assert read_call(MCP, **changes).tool == tool


@pytest.mark.parametrize("tool_input", ["[1]", "no JSON", '"text"'])
def test_an_input_that_is_not_an_object_is_scanned_as_text(tool_input: str) -> None:
    assert read_call(MCP, tool_input=tool_input).input == {"tool_input": tool_input}


def test_a_command_is_read_with_its_folder() -> None:
    call = read_call(SHELL)
    assert (call.tool, call.command, call.cwd) == ("Shell", "ls", "/home/ada/shop/deep")


def test_a_write_names_its_file() -> None:
    call = read_call(WRITE)
    assert (call.tool, call.paths, call.cwd) == ("Write", ("AGENTS.md",), "/home/ada/shop")


def test_an_edit_names_the_field_with_existing_text() -> None:
    call = read_call(WRITE, tool_name="StrReplace", tool_input={"path": "a", "old_string": "x", "new_string": "y"})
    assert (call.paths, call.existing) == (("a",), ("old_string",))


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({**MCP, "tool_name": None}, id="no tool of a server"),
        pytest.param({**MCP, "tool_input": 7}, id="an input of the wrong type"),
        pytest.param({**SHELL, "command": None}, id="no command"),
        pytest.param({**WRITE, "tool_name": 7}, id="no tool"),
        pytest.param({**WRITE, "tool_input": "x"}, id="no input"),
        pytest.param({**WRITE, "tool_input": {"path": 7}}, id="no path"),
    ],
)
def test_a_call_in_another_form_raises(payload: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no "):
        cursor.read_call(payload, {})


def test_another_event_is_not_a_call() -> None:
    assert cursor.read_call(STOPPED, {}) is None


# -- whole runs ------------------------------------------------------------------------------------------------------


def environ(tmp_path: Path) -> dict[str, str]:
    return {"KEEPMUM_HOME": str(tmp_path / "keepmum"), "HOME": str(tmp_path), "KEEPMUM_CAPTURE_EVERY": "2"}


def turn(tmp_path: Path, generation: str, hint: str = "cursor", **changes: object) -> str:
    raw = json.dumps({**STOPPED, "generation_id": generation, **changes}).encode()
    return main.answer(STOP, hint, raw, environ(tmp_path))


def test_a_due_turn_reported_by_two_hooks_gets_one_followup(tmp_path: Path) -> None:
    answers = [turn(tmp_path, generation, hint) for generation in "ab" for hint in ("cursor", "claude-code")]
    assert [bool(each) for each in answers] == [False, False, True, False]
    assert json.loads(answers[2]) == {"followup_message": capture_prompt("cursor")}


def test_turns_without_an_id_of_their_own_each_count(tmp_path: Path) -> None:
    assert [bool(turn(tmp_path, "agent-1f0e")) for _ in range(4)] == [False, True, False, True]


def test_a_followups_own_stop_is_not_counted(tmp_path: Path) -> None:
    assert not turn(tmp_path, "a")
    assert not turn(tmp_path, "a2", loop_count=1)
    assert turn(tmp_path, "b")


def test_a_start_reported_by_two_hooks_gets_one_briefing(tmp_path: Path) -> None:
    file = Path(places.briefing_file(environ(tmp_path)["KEEPMUM_HOME"], str(tmp_path)))
    file.parent.mkdir(parents=True)
    file.write_text("- known", encoding="utf-8")
    raw = json.dumps({**STARTED, "workspace_roots": [str(tmp_path)]}).encode()
    answers = [main.answer(SESSION_START, hint, raw, environ(tmp_path)) for hint in ("cursor", "claude-code")]
    assert answers == ['{"additional_context":"- known"}', ""]


def test_a_session_start_does_not_count_as_a_turn(tmp_path: Path) -> None:
    raw = json.dumps(STARTED).encode()
    main.answer(SESSION_START, "cursor", raw, environ(tmp_path))
    assert [bool(turn(tmp_path, each)) for each in "ab"] == [False, True]


def test_a_payload_with_a_byte_order_mark_is_scanned(tmp_path: Path) -> None:
    raw = json.dumps({**MCP, "tool_input": json.dumps({"note": token()})}).encode("utf-8-sig")
    answer = json.loads(guard.answer("cursor", raw, environ(tmp_path)))
    assert answer["permission"] == "deny"
    assert "github.token in note" in answer["user_message"]


@pytest.mark.parametrize(
    ("payload", "refused"),
    [
        pytest.param({**WRITE, "tool_input": {"file_path": "AGENTS.md", "content": token()}}, True, id="memory file"),
        pytest.param({**WRITE, "tool_input": {"file_path": "main.py", "content": token()}}, False, id="other file"),
        pytest.param({**SHELL, "command": f"echo {token()} >> CLAUDE.md"}, True, id="a command on a memory file"),
        pytest.param({**SHELL, "command": f"echo {token()}"}, False, id="another command"),
        pytest.param({**MCP, "tool_input": {"note": token()}}, True, id="an input sent as an object"),
        pytest.param({**MCP, "mcp_server_name": "browser", "tool_input": {"x": token()}}, False, id="another server"),
        pytest.param({**MCP, "mcp_server_name": "keepmum", "tool_input": {"x": token()}}, False, id="our own server"),
    ],
)
def test_the_guard_refuses_only_secrets_for_memories(payload: dict[str, Any], refused: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a column of the table
    assert bool(guard.answer("cursor", json.dumps(payload).encode(), environ(tmp_path))) is refused


@pytest.mark.parametrize(
    ("raw", "refused"),
    [
        pytest.param(b'{"tool_name":"add","tool_input":"{","mcp_server_name":"memory"', True, id="memory server"),
        pytest.param(b'{"tool_name":"add","tool_input":"{","mcp_server_name":"browser"', False, id="another server"),
        pytest.param(b'{"tool_name":"MCP:add_memory"', True, id="a memory tool"),
        pytest.param(b'{"tool_name":"Write","tool_input":{"file_path":"AGENTS.md"', True, id="a memory file"),
        pytest.param(b'{"tool_name":"Write","tool_input":{"file_path":"main.py"', False, id="another file"),
    ],
)
def test_a_truncated_payload_is_judged_by_the_names_in_it(raw: bytes, refused: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a column of the table
    assert bool(guard.answer("cursor", raw, environ(tmp_path))) is refused


@pytest.mark.parametrize("kind", [STOP, SESSION_START, GUARD])
def test_no_answer_is_an_empty_object(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keepmum_hooks.main.payload.read_stdin", lambda: b"{}")
    monkeypatch.setattr("keepmum_hooks.guard.guard", lambda _hint, _environ: "")
    assert main.main([kind, "--client", "cursor"], {}) == "{}"
