"""Claude Code's payloads, as version 2.1.329 sends them, and its answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keepmum_hooks.clients import claude_code
from keepmum_hooks.event import SESSION_START, STOP, Event, ToolCall

STOPPED: dict[str, Any] = {
    "session_id": "38732f8f-b1a0-4bbc-9cc5-352922421dea",
    "transcript_path": "/h/.claude/projects/p/38732f8f.jsonl",
    "cwd": "/home/ada/shop",
    "prompt_id": "70b03ea6-3ae0-477c-a351-fc009cf395d6",
    "permission_mode": "default",
    "effort": {"level": "medium"},
    "hook_event_name": "Stop",
    "stop_hook_active": False,
    "last_assistant_message": "done",
    "background_tasks": [],
    "session_crons": [],
}
STARTED: dict[str, Any] = {
    "session_id": "38732f8f-b1a0-4bbc-9cc5-352922421dea",
    "cwd": "/home/ada/shop",
    "hook_event_name": "SessionStart",
    "source": "startup",
}


def stop_event(environ: dict[str, str] | None = None, /, **changes: object) -> Event:
    event = claude_code.read(STOP, {**STOPPED, **changes}, environ or {})
    assert event is not None
    return event


def test_a_stop_names_session_folder_and_prompt() -> None:
    event = stop_event()
    assert (event.kind, event.session, event.cwd, event.prompt) == (
        STOP,
        STOPPED["session_id"],
        "/home/ada/shop",
        STOPPED["prompt_id"],
    )


def test_a_start_names_its_reason() -> None:
    event = claude_code.read(SESSION_START, STARTED, {})
    assert event is not None
    assert event.source == "startup"


def test_the_project_folder_replaces_a_missing_working_folder() -> None:
    event = claude_code.read(SESSION_START, {**STARTED, "cwd": None}, {"CLAUDE_PROJECT_DIR": "/project"})
    assert event is not None
    assert event.cwd == "/project"


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"hook_event_name": "SubagentStop"}, id="another event"),
        pytest.param({"hook_event_name": ["Stop"]}, id="an event of the wrong type"),
        pytest.param({"session_id": None}, id="no session"),
        pytest.param({"session_id": ""}, id="an empty session"),
        pytest.param({"session_id": 7}, id="a session of the wrong type"),
    ],
)
def test_another_event_or_one_without_a_session_is_ignored(changes: dict[str, object]) -> None:
    assert claude_code.read(STOP, {**STOPPED, **changes}, {}) is None


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"stop_hook_active": True}, id="a continuation that a hook asked for"),
        pytest.param({"agent_id": "a1"}, id="inside a subagent"),
    ],
)
def test_not_every_stop_ends_a_turn(changes: dict[str, object]) -> None:
    assert not stop_event(**changes).ends_turn


@pytest.mark.parametrize(
    ("environ", "attended"),
    [
        pytest.param({"CLAUDE_CODE_SESSION_ATTENDED": "1"}, True, id="attended"),
        pytest.param({"CLAUDE_CODE_SESSION_ATTENDED": "0"}, False, id="unattended"),
        pytest.param(
            {"CLAUDE_CODE_SESSION_ATTENDED": "1", "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"},
            True,
            id="the variable overrides the entry point",
        ),
        pytest.param({"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, False, id="an older version with -p"),
        pytest.param({"CLAUDE_CODE_ENTRYPOINT": "cli"}, True, id="an older version in a terminal"),
        pytest.param({}, True, id="unknown"),
    ],
)
def test_the_client_says_whether_a_run_is_attended(environ: dict[str, str], attended: bool) -> None:  # noqa: FBT001 - a column of the table
    assert stop_event(environ).attended is attended


def test_tasks_that_return_a_result_are_distinguished_from_others() -> None:
    kinds = ["subagent", "workflow", "shell", "monitor", "teammate", "cloud session", "MCP task"]
    event = stop_event(background_tasks=[{"id": kind, "type": kind, "status": "running"} for kind in kinds])
    assert (event.reporting, event.lasting) == (tuple(kinds[:2]), tuple(kinds[2:]))


@pytest.mark.parametrize("tasks", [None, "x", {"id": "a"}, [None, 1, {"id": 7}, {"type": "subagent"}]])
def test_tasks_of_the_wrong_type_are_ignored(tasks: object) -> None:
    event = stop_event(background_tasks=tasks)
    assert (event.reporting, event.lasting) == ((), ())


@pytest.mark.parametrize(
    ("agent", "version"),
    [
        ("claude-code_2-1-329_harness", (2, 1, 329)),
        ("claude-code_2-1-163", (2, 1, 163)),
        ("claude-code", ()),
        ("claude-code_2-x-1_agent", ()),
        ("other_9-9-9_harness", ()),
        ("", ()),
    ],
)
def test_the_version_is_in_the_agent_variable(agent: str, version: tuple[int, ...]) -> None:
    assert stop_event({"AI_AGENT": agent}).version == version


@pytest.mark.parametrize("agent", ["claude-code_2-1-163_harness", "claude-code_2-1-329_harness", "claude-code_3-0-0_x"])
def test_a_stop_is_answered_with_context(agent: str) -> None:
    answer = json.loads(claude_code.render(stop_event({"AI_AGENT": agent}), 'say "é"'))
    assert answer == {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": 'say "é"'}}


@pytest.mark.parametrize("agent", ["claude-code_2-1-162_harness", "claude-code_2-0-999_harness", ""])
def test_a_stop_of_an_older_or_unknown_version_is_answered_with_a_block(agent: str) -> None:
    answer = json.loads(claude_code.render(stop_event({"AI_AGENT": agent}), "say"))
    assert answer == {"decision": "block", "reason": "say"}


def test_a_start_is_answered_with_context_in_every_version() -> None:
    event = claude_code.read(SESSION_START, STARTED, {})
    assert event is not None
    answer = json.loads(claude_code.render(event, "know"))
    assert answer == {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "know"}}


# -- tool calls ------------------------------------------------------------------------------------------------------

CALLED: dict[str, Any] = {
    "session_id": "38732f8f-b1a0-4bbc-9cc5-352922421dea",
    "cwd": "/home/ada/shop",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls", "description": "List"},
    "tool_use_id": "toolu_1",
}


def tool_call(tool: str, tool_input: dict[str, object]) -> ToolCall:
    call = claude_code.read_call({**CALLED, "tool_name": tool, "tool_input": tool_input}, {})
    assert call is not None
    return call


def test_a_call_names_tool_session_and_folder() -> None:
    call = tool_call("Bash", {"command": "ls"})
    assert (call.tool, call.session, call.cwd) == ("Bash", CALLED["session_id"], "/home/ada/shop")


@pytest.mark.parametrize(
    ("tool", "field"),
    [("Write", "file_path"), ("Edit", "file_path"), ("MultiEdit", "file_path"), ("NotebookEdit", "notebook_path")],
)
def test_a_file_tool_names_its_file_and_the_field_with_existing_text(tool: str, field: str) -> None:
    call = tool_call(tool, {field: "/a"})
    assert (call.paths, call.command, call.existing) == (("/a",), "", ("old_string",))


@pytest.mark.parametrize("tool", ["Bash", "PowerShell"])
def test_a_shell_names_its_command(tool: str) -> None:
    call = tool_call(tool, {"command": "ls"})
    assert (call.paths, call.command, call.existing) == ((), "ls", ())


def test_the_fields_of_another_tool_are_not_read() -> None:
    call = tool_call("mcp__x__y", {"file_path": "/a", "command": "ls"})
    assert (call.paths, call.command, call.existing) == ((), "", ())


def test_another_event_is_not_a_call() -> None:
    assert claude_code.read_call({**CALLED, "hook_event_name": "PostToolUse"}, {}) is None


@pytest.mark.parametrize(
    "changes",
    [{"tool_name": None}, {"tool_input": "x"}, {"tool_input": {}}, {"tool_name": "Write", "tool_input": {"path": 1}}],
)
def test_a_call_in_another_form_raises(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no "):
        claude_code.read_call({**CALLED, **changes}, {})


def test_a_refusal_is_a_denial_with_its_reason() -> None:
    decision = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": 'say "é"',
    }
    assert json.loads(claude_code.refuse('say "é"')) == {"hookSpecificOutput": decision}
