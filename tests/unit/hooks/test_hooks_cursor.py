"""Cursor's payloads, as the agent of `@cursor/sdk` 1.0.32 sends them, and its answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from keepmum_hooks import guard, main, places
from keepmum_hooks.capture_prompt import CAPTURE_PROMPT
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
    """A string that looks like a key of a code host, put together here so that no file holds one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def stopped(environ: dict[str, str] | None = None, /, **changes: object) -> Event:
    event = cursor.read(STOP, {**STOPPED, **changes}, environ or {})
    assert event is not None
    return event


def called(payload: dict[str, Any], /, **changes: object) -> ToolCall:
    call = cursor.read_call({**payload, **changes}, {})
    assert call is not None
    return call


# -- what happened ---------------------------------------------------------------------------------------------------


def test_a_stop_names_conversation_folder_and_generation() -> None:
    event = stopped()
    assert (event.kind, event.session, event.cwd, event.prompt) == (STOP, "agent-1f0e", "/home/ada/shop", "gen-7")


@pytest.mark.parametrize(("kind", "name"), [(STOP, "Stop"), (SESSION_START, "SessionStart")])
def test_an_event_of_an_imported_hook_file_is_known_too(kind: str, name: str) -> None:
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
def test_what_is_no_stop_of_a_session_is_none(changes: dict[str, object]) -> None:
    assert cursor.read(STOP, {**STOPPED, **changes}, {}) is None


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"loop_count": 1}, id="what a followup began"),
        pytest.param({"status": "aborted"}, id="a turn that the user cut short"),
        pytest.param({"status": "error"}, id="a turn that failed"),
    ],
)
def test_not_every_stop_ends_a_turn(changes: dict[str, object]) -> None:
    assert not stopped(**changes).ends_turn


def test_a_generation_that_is_but_the_conversation_tells_no_turns_apart() -> None:
    assert stopped(generation_id="agent-1f0e").prompt == ""


@pytest.mark.parametrize("roots", [[], None, "x", [7]])
def test_without_a_folder_in_the_payload_the_environment_names_it(roots: object) -> None:
    assert stopped({"CURSOR_PROJECT_DIR": "/project"}, workspace_roots=roots).cwd == "/project"


def test_without_any_folder_there_is_none() -> None:
    assert stopped(workspace_roots=[]).cwd == ""


def test_a_windows_folder_loses_the_slash_before_its_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert stopped(workspace_roots=["/c:/shop"]).cwd == "c:/shop"


def test_a_background_agent_is_not_attended() -> None:
    event = cursor.read(SESSION_START, {**STARTED, "is_background_agent": True}, {})
    assert event is not None
    assert not event.attended


# -- what is answered ------------------------------------------------------------------------------------------------


def test_a_stop_is_followed_up() -> None:
    assert json.loads(cursor.render(stopped(), 'say "so"')) == {"followup_message": 'say "so"'}


def test_a_start_gets_context() -> None:
    event = cursor.read(SESSION_START, STARTED, {})
    assert event is not None
    assert json.loads(cursor.render(event, "told")) == {"additional_context": "told"}


def test_a_refusal_says_the_same_to_user_and_agent() -> None:
    said = json.loads(cursor.refuse("no"))
    assert said == {"permission": "deny", "user_message": "no", "agent_message": "no"}


# -- what a tool is about to do --------------------------------------------------------------------------------------


def test_a_servers_tool_is_named_by_server_and_tool_and_its_input_is_read() -> None:
    call = called(MCP)
    assert (call.tool, call.input, call.paths, call.command) == ("mcp__memory__add", {"note": "x"}, (), "")


@pytest.mark.parametrize(
    ("changes", "tool"),
    [
        pytest.param({"mcp_server_name": "plugin-keepmum-keepmum"}, "mcp__keepmum__add", id="our own, from the plugin"),
        pytest.param({"mcp_server_name": "project-0-web-keepmum"}, "mcp__keepmum__add", id="our own, of a project"),
        pytest.param({"mcp_server_name": None}, "mcp__npx server-memory__add", id="a server without a name"),
        pytest.param({"tool_name": "MCP:add"}, "mcp__memory__add", id="with the client's mark"),
    ],
)
def test_a_server_is_named_by_the_best_there_is(changes: dict[str, object], tool: str) -> None:
    assert called(MCP, **changes).tool == tool


@pytest.mark.parametrize("given", ["[1]", "no JSON", '"text"'])
def test_an_input_that_is_no_object_is_looked_at_as_text(given: str) -> None:
    assert called(MCP, tool_input=given).input == {"tool_input": given}


def test_a_command_is_read_with_its_folder() -> None:
    call = called(SHELL)
    assert (call.tool, call.command, call.cwd) == ("Shell", "ls", "/home/ada/shop/deep")


def test_a_write_names_its_file() -> None:
    call = called(WRITE)
    assert (call.tool, call.paths, call.cwd) == ("Write", ("AGENTS.md",), "/home/ada/shop")


def test_an_edit_may_take_a_secret_out() -> None:
    call = called(WRITE, tool_name="StrReplace", tool_input={"path": "a", "old_string": "x", "new_string": "y"})
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
def test_a_call_that_does_not_say_what_it_is_raises(payload: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no "):
        cursor.read_call(payload, {})


def test_another_event_announces_no_call() -> None:
    assert cursor.read_call(STOPPED, {}) is None


# -- whole runs ------------------------------------------------------------------------------------------------------


def environ(tmp_path: Path) -> dict[str, str]:
    return {"KEEPMUM_HOME": str(tmp_path / "keepmum"), "HOME": str(tmp_path), "KEEPMUM_CAPTURE_EVERY": "2"}


def turn(tmp_path: Path, generation: str, hint: str = "cursor", **changes: object) -> str:
    raw = json.dumps({**STOPPED, "generation_id": generation, **changes}).encode()
    return main.answer(STOP, hint, raw, environ(tmp_path))


def test_a_due_turn_is_followed_up_once_when_two_hooks_tell_of_it(tmp_path: Path) -> None:
    answers = [turn(tmp_path, generation, hint) for generation in "ab" for hint in ("cursor", "claude-code")]
    assert [bool(each) for each in answers] == [False, False, True, False]
    assert json.loads(answers[2]) == {"followup_message": CAPTURE_PROMPT}


def test_turns_of_one_generation_each_count_where_it_is_but_the_conversation(tmp_path: Path) -> None:
    assert [bool(turn(tmp_path, "agent-1f0e")) for _ in range(4)] == [False, True, False, True]


def test_a_followups_own_stop_is_not_counted(tmp_path: Path) -> None:
    assert not turn(tmp_path, "a")
    assert not turn(tmp_path, "a2", loop_count=1)
    assert turn(tmp_path, "b")


def test_a_session_is_briefed_once_when_two_hooks_tell_of_it(tmp_path: Path) -> None:
    file = Path(places.briefing_file(environ(tmp_path)["KEEPMUM_HOME"], str(tmp_path)))
    file.parent.mkdir(parents=True)
    file.write_text("- told", encoding="utf-8")
    raw = json.dumps({**STARTED, "workspace_roots": [str(tmp_path)]}).encode()
    answers = [main.answer(SESSION_START, hint, raw, environ(tmp_path)) for hint in ("cursor", "claude-code")]
    assert answers == ['{"additional_context":"- told"}', ""]


def test_a_start_is_no_turn(tmp_path: Path) -> None:
    raw = json.dumps(STARTED).encode()
    main.answer(SESSION_START, "cursor", raw, environ(tmp_path))
    assert [bool(turn(tmp_path, each)) for each in "ab"] == [False, True]


def test_a_byte_order_mark_hides_nothing(tmp_path: Path) -> None:
    raw = json.dumps({**MCP, "tool_input": json.dumps({"note": token()})}).encode("utf-8-sig")
    said = json.loads(guard.answer("cursor", raw, environ(tmp_path)))
    assert said["permission"] == "deny"
    assert "github.token in note" in said["user_message"]


@pytest.mark.parametrize(
    ("payload", "refused"),
    [
        pytest.param({**WRITE, "tool_input": {"file_path": "AGENTS.md", "content": token()}}, True, id="memory file"),
        pytest.param({**WRITE, "tool_input": {"file_path": "main.py", "content": token()}}, False, id="other file"),
        pytest.param({**SHELL, "command": f"echo {token()} >> CLAUDE.md"}, True, id="a command on a memory file"),
        pytest.param({**SHELL, "command": f"echo {token()}"}, False, id="another command"),
        pytest.param({**MCP, "tool_input": {"note": token()}}, True, id="an input that came as an object"),
        pytest.param({**MCP, "mcp_server_name": "browser", "tool_input": {"x": token()}}, False, id="another server"),
        pytest.param({**MCP, "mcp_server_name": "keepmum", "tool_input": {"x": token()}}, False, id="our own server"),
    ],
)
def test_the_guard_refuses_secrets_for_memories_alone(payload: dict[str, Any], refused: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a table's column
    assert bool(guard.answer("cursor", json.dumps(payload).encode(), environ(tmp_path))) is refused


@pytest.mark.parametrize(
    ("raw", "refused"),
    [
        pytest.param(b'{"tool_name":"add","tool_input":"{","mcp_server_name":"memory"', True, id="memory server"),
        pytest.param(b'{"tool_name":"add","tool_input":"{","mcp_server_name":"browser"', False, id="another server"),
        pytest.param(b'{"tool_name":"MCP:add_memory"', True, id="a tool that speaks of memory"),
        pytest.param(b'{"tool_name":"Write","tool_input":{"file_path":"AGENTS.md"', True, id="a memory file"),
        pytest.param(b'{"tool_name":"Write","tool_input":{"file_path":"main.py"', False, id="another file"),
    ],
)
def test_a_payload_that_was_cut_short_is_judged_by_its_names(raw: bytes, refused: bool, tmp_path: Path) -> None:  # noqa: FBT001 - as above
    assert bool(guard.answer("cursor", raw, environ(tmp_path))) is refused


@pytest.mark.parametrize("kind", [STOP, SESSION_START, GUARD])
def test_nothing_to_say_is_an_empty_object(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keepmum_hooks.main.payload.read_stdin", lambda: b"{}")
    monkeypatch.setattr("keepmum_hooks.guard.guard", lambda _hint, _environ: "")
    assert main.main([kind, "--client", "cursor"], {}) == "{}"
