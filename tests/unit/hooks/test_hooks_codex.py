"""Codex's payloads, as version 0.169.0 sends them, and its answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepmum_hooks.clients import codex, detect
from keepmum_hooks.event import SESSION_START, STOP, Event, ToolCall

TURN = "01a1fca9-6313-7061-b942-ac8342c70cbc"
COMMON: dict[str, Any] = {
    "session_id": "01a1fca9-62e3-7070-8f01-1f0c9759b819",
    "transcript_path": None,
    "cwd": "/home/ada/shop",
    "model": "gpt-5.5-codex",
    "permission_mode": "default",
}
STOPPED = {
    **COMMON,
    "hook_event_name": "Stop",
    "turn_id": TURN,
    "stop_hook_active": False,
    "last_assistant_message": "x",
}
STARTED = {**COMMON, "hook_event_name": "SessionStart", "source": "startup"}
ASKED = {**COMMON, "hook_event_name": "PreToolUse", "turn_id": TURN, "tool_use_id": "c1"}
PATCH = """\
*** Begin Patch
*** Add File: notes/new.md
+first
*** Update File: AGENTS.md
*** Move to: CLAUDE.md
@@
 stays
-goes
+comes
*** Delete File: old.md
*** End Patch
"""


def stop_event(**changes: object) -> Event:
    event = codex.read(STOP, {**STOPPED, **changes}, {})
    assert event is not None
    return event


def tool_call(tool: str, tool_input: dict[str, object]) -> ToolCall:
    call = codex.read_call({**ASKED, "tool_name": tool, "tool_input": tool_input}, {})
    assert call is not None
    return call


def test_a_stop_names_session_folder_and_turn() -> None:
    event = stop_event()
    assert (event.session, event.cwd, event.prompt) == (COMMON["session_id"], "/home/ada/shop", TURN)


def test_a_start_names_its_reason() -> None:
    event = codex.read(SESSION_START, STARTED, {})
    assert event is not None
    assert event.source == "startup"


@pytest.mark.parametrize("changes", [{"hook_event_name": "SubagentStop"}, {"session_id": ""}, {"session_id": 7}])
def test_another_event_or_one_without_a_session_is_ignored(changes: dict[str, object]) -> None:
    assert codex.read(STOP, {**STOPPED, **changes}, {}) is None


def test_a_continuation_does_not_end_a_turn() -> None:
    assert not stop_event(stop_hook_active=True).ends_turn


def line(kind: str, **payload: object) -> str:
    return json.dumps({"timestamp": "t", "type": kind, "payload": payload}, separators=(",", ":")) + "\n"


def transcript(tmp_path: Path, source: str, *triggers: str) -> str:
    """A session's transcript whose last turn is TURN."""
    ids = [*(f"other-{number}" for number in range(len(triggers) - 1)), TURN]
    turns = [
        line(
            "event_msg",
            type="task_started",
            turn_attribution={"turn_id": turn, **({"turn_trigger": trigger} if trigger else {})},
            turn_id=turn,
        )
        for turn, trigger in zip(ids, triggers, strict=False)
    ]
    message = line("response_item", type="message", content=f'"turn_id":"{TURN}" "turn_trigger":"nonsense"')
    path = tmp_path / "rollout.jsonl"
    path.write_text(line("session_meta", originator="codex", source=source) + message + "".join(turns) + message)
    return str(path)


@pytest.mark.parametrize(
    ("source", "triggers", "attended"),
    [
        pytest.param("exec", ("exec",), False, id="codex exec"),
        pytest.param("cli", ("",), True, id="a terminal"),
        pytest.param("cli", ("", "exec"), False, id="codex exec resumes a terminal's session"),
        pytest.param("exec", ("exec", "automation"), True, id="another program resumes a session of codex exec"),
        pytest.param("vscode", (), True, id="an editor's turn that is longer than the part that is read"),
    ],
)
@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
def test_the_transcript_says_whether_a_run_is_attended(
    tmp_path: Path, source: str, triggers: tuple[str, ...], mode: str, *, attended: bool
) -> None:
    path = transcript(tmp_path, source, *triggers)
    assert stop_event(transcript_path=path, permission_mode=mode).attended is attended


@pytest.mark.parametrize("source", ["", "exec"])
@pytest.mark.parametrize(("mode", "attended"), [("bypassPermissions", False), ("default", True)])
def test_without_a_trigger_a_run_that_asks_no_questions_is_unattended(
    tmp_path: Path, source: str, mode: str, *, attended: bool
) -> None:
    path = transcript(tmp_path, source, "") if source else None
    assert stop_event(transcript_path=path, permission_mode=mode).attended is attended


def test_only_the_end_of_a_large_transcript_is_read(tmp_path: Path) -> None:
    path = transcript(tmp_path, "cli", "exec")
    text = Path(path).read_text()
    Path(path).write_text(line("x", text="y" * 1000) * 5000 + text)
    assert not stop_event(transcript_path=path).attended


def test_the_capture_prompt_is_the_reason_of_a_block() -> None:
    assert json.loads(codex.render(stop_event(), 'say "x"')) == {"decision": "block", "reason": 'say "x"'}


def test_a_briefing_is_additional_context() -> None:
    event = codex.read(SESSION_START, STARTED, {})
    assert event is not None
    assert json.loads(codex.render(event, "b")) == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "b"}
    }


def test_a_refusal_denies_with_a_reason() -> None:
    answer = json.loads(codex.refuse("why."))["hookSpecificOutput"]  # the client adds a full stop
    assert (answer["permissionDecision"], answer["permissionDecisionReason"]) == ("deny", "why")


def test_a_patch_names_the_files_that_it_writes() -> None:
    assert tool_call("apply_patch", {"command": PATCH}).paths == ("notes/new.md", "AGENTS.md", "CLAUDE.md")


def test_a_patch_that_cannot_be_read_is_judged_by_the_names_in_it() -> None:
    call = tool_call("apply_patch", {"command": "cat > AGENTS.md"})
    assert (call.paths, call.command) == ((), "cat > AGENTS.md")


@pytest.mark.parametrize("command", ["echo x >> AGENTS.md", ["bash", "-lc", "echo x >> AGENTS.md"]])
def test_a_shell_command_is_one_text(command: object) -> None:
    assert tool_call("Bash", {"command": command}).command.endswith("echo x >> AGENTS.md")


def test_a_servers_tool_keeps_its_arguments() -> None:
    call = tool_call("mcp__mem__store", {"command": "no shell reads this", "text": "t"})
    assert (call.command, call.paths, call.input["text"]) == ("", (), "t")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"tool_name": None, "tool_input": {}}, id="no tool"),
        pytest.param({"tool_name": "Bash", "tool_input": "x"}, id="no input"),
        pytest.param({"tool_name": "Bash", "tool_input": {}}, id="a shell without a command"),
        pytest.param({"tool_name": "apply_patch", "tool_input": {"command": [1]}}, id="a patch that is not text"),
    ],
)
def test_a_call_in_another_form_raises(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no "):
        codex.read_call({**ASKED, **changes}, {})


def test_another_event_is_not_a_call() -> None:
    assert codex.read_call({**ASKED, "hook_event_name": "PostToolUse"}, {}) is None


def test_its_hook_file_overrides_the_variables_of_other_clients() -> None:
    assert detect("codex", {"session_id": "s"}, {"COPILOT_CLI": "1", "CLAUDE_CODE_SESSION_ID": "s"}) == "codex"
