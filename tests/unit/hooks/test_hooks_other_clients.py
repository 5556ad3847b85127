"""Observed payloads and answers of Copilot CLI, Visual Studio Code, Gemini CLI and OpenCode."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from keepmum_hooks import guard, main, system
from keepmum_hooks.capture_prompt import CAPTURE_PROMPT
from keepmum_hooks.clients import copilot, gemini, opencode
from keepmum_hooks.event import SESSION_START, STOP, Event

if TYPE_CHECKING:
    from keepmum_hooks.clients import Client

Json = dict[str, Any]

COPILOT: Json = {"session_id": "871978cf", "timestamp": "2026-11-21T10:57:44.650Z", "cwd": "/home/ada/shop"}
GEMINI: Json = {**COPILOT, "transcript_path": "/h/chat.json"}
OPENCODE: Json = {"session_id": "ses_1", "cwd": "/home/ada/shop"}
CLI = {"COPILOT_CLI": "1"}

STOPS: list[Any] = [
    pytest.param(copilot, {**COPILOT, "hook_event_name": "Stop", "stop_hook_active": False}, id="copilot"),
    pytest.param(gemini, {**GEMINI, "hook_event_name": "AfterAgent", "stop_hook_active": False}, id="gemini"),
    pytest.param(opencode, {**OPENCODE, "hook_event_name": "session.idle", "prompt_id": "msg_1"}, id="opencode"),
]
STARTS: list[Any] = [
    pytest.param(copilot, {**COPILOT, "hook_event_name": "SessionStart", "source": "new"}, id="copilot"),
    pytest.param(gemini, {**GEMINI, "hook_event_name": "SessionStart", "source": "startup"}, id="gemini"),
    pytest.param(opencode, {**OPENCODE, "hook_event_name": "session.created"}, id="opencode"),
]


def token() -> str:
    """A string that looks like a code host's key, assembled here so that no file contains one."""
    return "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def event(client: Client, kind: str, payload: Json, environ: dict[str, str] | None = None) -> Event:
    received = client.read(kind, payload, environ or {})
    assert received is not None
    return received


# -- events ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("client", "payload"), STOPS)
def test_a_stop_names_session_folder_and_prompt(client: Client, payload: Json) -> None:
    stop = event(client, STOP, payload)
    assert (stop.session, stop.cwd, stop.ends_turn) == (payload["session_id"], "/home/ada/shop", True)
    assert stop.prompt in {payload.get("timestamp"), payload.get("prompt_id")}


@pytest.mark.parametrize(("client", "payload"), STOPS)
def test_a_continuation_does_not_end_a_turn(client: Client, payload: Json) -> None:
    assert not event(client, STOP, {**payload, "stop_hook_active": True, "continued": True}).ends_turn


@pytest.mark.parametrize(("client", "payload"), STARTS)
def test_a_session_start_is_read(client: Client, payload: Json) -> None:
    assert event(client, SESSION_START, payload).kind == SESSION_START


@pytest.mark.parametrize(("client", "payload"), STOPS)
@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"hook_event_name": "SubagentStop"}, id="another event"),
        pytest.param({"session_id": ""}, id="an empty session"),
        pytest.param({"session_id": 7}, id="a session of the wrong type"),
    ],
)
def test_another_event_or_one_without_a_session_is_ignored(client: Client, payload: Json, changes: Json) -> None:
    assert client.read(STOP, {**payload, **changes}, {}) is None


@pytest.mark.parametrize(("client", "environ"), [(copilot, CLI), (gemini, {}), (opencode, {})])
@pytest.mark.parametrize("at_terminal", [True, False])
def test_a_run_is_attended_when_it_has_a_terminal(
    client: Client,
    environ: dict[str, str],
    at_terminal: bool,  # noqa: FBT001 - a column of the table
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "has_terminal", lambda: at_terminal)
    payload = next(each.values[1] for each in STOPS if each.values[0] is client)
    assert event(client, STOP, payload, environ).attended is at_terminal


def test_the_editor_is_attended_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copilot, "has_terminal", lambda: False)
    assert event(copilot, STOP, STOPS[0].values[1]).attended


def test_a_process_has_a_terminal_when_it_can_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def refuse(path: str, _flags: int) -> int:
        opened.append(path)
        raise OSError

    monkeypatch.setattr(system.calls, "open", refuse)
    assert not system.has_terminal()
    assert opened == ["/dev/tty"]


# -- answers ---------------------------------------------------------------------------------------------------------


def test_an_answer_to_copilot_contains_that_to_the_editor() -> None:
    stop = json.loads(copilot.render(event(copilot, STOP, STOPS[0].values[1]), "go"))
    assert (stop["decision"], stop["reason"]) == ("block", "go")
    assert stop["hookSpecificOutput"] == {"hookEventName": "Stop", "decision": "block", "reason": "go"}
    start = json.loads(copilot.render(event(copilot, SESSION_START, STARTS[0].values[1]), "known"))
    assert start["additionalContext"] == start["hookSpecificOutput"]["additionalContext"] == "known"
    refusal = json.loads(copilot.refuse("no"))
    assert refusal["permissionDecision"] == refusal["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_answers_to_gemini() -> None:
    stop = json.loads(gemini.render(event(gemini, STOP, STOPS[1].values[1]), "go"))
    assert stop == {"decision": "block", "reason": "go"}
    start = json.loads(gemini.render(event(gemini, SESSION_START, STARTS[1].values[1]), "known"))
    assert start == {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "known"}}
    assert json.loads(gemini.refuse("no")) == {"decision": "deny", "reason": "no"}


def test_answers_to_opencode() -> None:
    assert json.loads(opencode.render(event(opencode, STOP, STOPS[2].values[1]), "go")) == {"text": "go"}
    assert json.loads(opencode.refuse("no")) == {"reason": "no"}


# -- tool calls ------------------------------------------------------------------------------------------------------

Make = Callable[[str, Json], Json]


def copilot_call(tool: str, tool_input: Json) -> Json:
    return {**COPILOT, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": tool_input}


def gemini_call(tool: str, tool_input: Json) -> Json:
    return {**GEMINI, "hook_event_name": "BeforeTool", "tool_name": tool, "tool_input": tool_input}


def opencode_call(tool: str, tool_input: Json) -> Json:
    return {**OPENCODE, "hook_event_name": "tool.execute.before", "tool_name": tool, "tool_input": tool_input}


def refused(hint: str, payload: Json, tmp_path: Path) -> bool:
    environ = {"KEEPMUM_HOME": str(tmp_path / "keepmum"), "HOME": "/h"}
    return bool(guard.answer(hint, json.dumps(payload).encode(), environ))


SECRET = token()
CALLS: list[Any] = [
    ("copilot", copilot_call("Write", {"path": "/home/ada/shop/AGENTS.md", "file_text": SECRET}), True),
    ("copilot", copilot_call("Write", {"path": "/home/ada/shop/main.py", "file_text": SECRET}), False),
    ("copilot", copilot_call("Edit", {"path": "/home/ada/shop/AGENTS.md", "old_str": SECRET, "new_str": "x"}), False),
    ("copilot", copilot_call("Bash", {"command": f"echo {SECRET} >> AGENTS.md"}), True),
    ("copilot", copilot_call("Bash", {"command": f"echo {SECRET}"}), False),
    ("copilot", copilot_call("memory-add_observations", {"note": SECRET}), True),
    ("copilot", copilot_call("browser-click", {"note": SECRET}), False),
    ("copilot", copilot_call("mcp_memory_add", {"note": SECRET}), True),
    ("copilot", copilot_call("create_file", {"filePath": "/home/ada/shop/AGENTS.md", "content": SECRET}), True),
    ("copilot", copilot_call("run_in_terminal", {"command": f"echo {SECRET} > CLAUDE.md"}), True),
    ("copilot", copilot_call("apply_patch", {"input": f"*** Update File: /home/ada/shop/AGENTS.md\n+{SECRET}"}), True),
    ("gemini-cli", gemini_call("write_file", {"file_path": "/home/ada/shop/GEMINI.md", "content": SECRET}), True),
    ("gemini-cli", gemini_call("write_file", {"file_path": "/home/ada/shop/main.py", "content": SECRET}), False),
    ("gemini-cli", gemini_call("replace", {"file_path": "GEMINI.md", "old_string": SECRET, "new_string": ""}), False),
    ("gemini-cli", gemini_call("save_memory", {"fact": SECRET}), True),
    ("gemini-cli", gemini_call("run_shell_command", {"command": f"echo {SECRET} > AGENTS.md"}), True),
    ("gemini-cli", gemini_call("mcp_memory_add", {"note": SECRET}), True),
    ("gemini-cli", {**gemini_call("mcp_x_add", {"n": SECRET}), "mcp_context": {"server_name": "mem0"}}, True),
    ("gemini-cli", {**gemini_call("mcp_x_add", {"n": SECRET}), "mcp_context": {"server_name": "web"}}, False),
    ("gemini-cli", {**gemini_call("mcp_x_remember", {"n": SECRET}), "mcp_context": {"server_name": "keepmum"}}, False),
    ("opencode", opencode_call("write", {"filePath": "/home/ada/shop/AGENTS.md", "content": SECRET}), True),
    ("opencode", opencode_call("write", {"filePath": "/home/ada/shop/main.py", "content": SECRET}), False),
    ("opencode", opencode_call("edit", {"filePath": "AGENTS.md", "oldString": SECRET, "newString": ""}), False),
    ("opencode", opencode_call("bash", {"command": f"echo {SECRET} > AGENTS.md"}), True),
    ("opencode", opencode_call("memory_create_entities", {"note": SECRET}), True),
    ("opencode", opencode_call("browser_click", {"note": SECRET}), False),
    ("opencode", opencode_call("keepmum_remember", {"text": SECRET}), False),
]


@pytest.mark.parametrize(
    ("hint", "payload", "is_refused"), [pytest.param(*each, id=f"{each[0]} {each[1]['tool_name']}") for each in CALLS]
)
def test_the_guard_refuses_only_secrets_for_memories(
    hint: str,
    payload: Json,
    is_refused: bool,  # noqa: FBT001 - a column of the table
    tmp_path: Path,
) -> None:
    assert refused(hint, payload, tmp_path) is is_refused


@pytest.mark.parametrize(
    ("client", "payload"),
    [
        pytest.param(copilot, copilot_call("Write", {"path": 7}), id="copilot"),
        pytest.param(gemini, gemini_call("write_file", {"file_path": 7}), id="gemini"),
        pytest.param(opencode, opencode_call("write", {"filePath": 7}), id="opencode"),
    ],
)
@pytest.mark.parametrize("changes", [{}, {"tool_name": 7}, {"tool_input": "x"}])
def test_a_call_in_another_form_raises(client: Client, payload: Json, changes: Json) -> None:
    with pytest.raises(ValueError, match="no "):
        client.read_call({**payload, **changes}, {})


@pytest.mark.parametrize(("client", "payload"), STOPS)
def test_another_event_is_not_a_call(client: Client, payload: Json) -> None:
    assert client.read_call(payload, {}) is None


# -- whole runs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hint", "place"), [("copilot", 0), ("gemini-cli", 1), ("opencode", 2)])
def test_a_due_turn_gets_one_prompt(hint: str, place: int, tmp_path: Path) -> None:
    environ = {"KEEPMUM_HOME": str(tmp_path), "KEEPMUM_CAPTURE_EVERY": "2", "KEEPMUM_CAPTURE_UNATTENDED": "1"}
    answers = []
    for turn in ("a", "a", "b", "c"):  # the first is reported twice
        payload = {**STOPS[place].values[1], "timestamp": turn, "prompt_id": turn}
        answers.append(main.answer(STOP, hint, json.dumps(payload).encode(), environ))
    assert [CAPTURE_PROMPT in answer for answer in answers] == [False, False, True, False]
