"""Codex: its payloads and the answers it accepts.

Source: https://github.com/openai/codex/tree/main/codex-rs/hooks/schema/generated, read 2026-11-21; for what
it leaves out, runs of version 0.169.0.
"""

from __future__ import annotations

from keepmum_hooks import files
from keepmum_hooks.event import SESSION_START, STOP, Event, ToolCall
from keepmum_hooks.payload import quote, session_of, text_of, tool_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["PATCH_TOOL", "SHELL_TOOL", "read", "read_call", "refuse", "render"]

PATCH_TOOL = "apply_patch"
SHELL_TOOL = "Bash"  # what hooks see of the tool `exec_command`

_NAMES = {STOP: "Stop", SESSION_START: "SessionStart"}
_SERVER_TOOL = "mcp__"

# The lines of a patch that name the files it writes; deleted files are not written.
# Source: https://github.com/openai/codex/blob/main/codex-rs/apply-patch/src/parser.rs, read 2026-11-21
_WRITTEN = ("*** Add File: ", "*** Update File: ", "*** Move to: ")

# The permission mode of a run that asks no questions: `codex exec`, or a person who wants none.
_ASKS_NOBODY = "bypassPermissions"
_NOBODY_READS = b"exec"
_TAIL = 256 << 10  # bytes at the end of the transcript, which contain the first line of all but a long turn
_HEAD = 1 << 10  # bytes at its start, which contain the origin of the session


def read(kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:  # noqa: ARG001 - the protocol
    """The event in the payload, or None when it is another event or has no session."""
    session = session_of(payload, _NAMES[kind])
    if not session:
        return None
    return Event(
        kind=kind,
        session=session,
        cwd=text_of(payload.get("cwd")),
        source=text_of(payload.get("source")),
        prompt=text_of(payload.get("turn_id")),
        ends_turn=not payload.get("stop_hook_active"),
        attended=kind != STOP or _attended(payload),
    )


def render(event: Event, text: str) -> str:
    """The JSON that makes Codex show `text` to the model; with an unknown key Codex would ignore all of it."""
    if event.kind == STOP:
        return f'{{"decision":"block","reason":{quote(text)}}}'
    name = _NAMES[event.kind]
    return f'{{"hookSpecificOutput":{{"hookEventName":"{name}","additionalContext":{quote(text)}}}}}'


def read_call(payload: Mapping[str, Any], environ: Mapping[str, str]) -> ToolCall | None:  # noqa: ARG001 - the protocol
    """The tool call in the payload, or None when it is another event.

    Raises: ValueError when tool, input or command are not in the form that the client sends.
    """
    call = tool_call(payload, "PreToolUse")
    if call is None:
        return None
    tool, tool_input = call
    session, cwd = text_of(payload.get("session_id")), text_of(payload.get("cwd"))
    if tool.startswith(_SERVER_TOOL):
        return ToolCall(tool=tool, input=tool_input, session=session, cwd=cwd)
    command = tool_input.get("command")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = " ".join(command)
    if not isinstance(command, str):
        if tool in (PATCH_TOOL, SHELL_TOOL):
            raise ValueError("no command")
        return ToolCall(tool=tool, input=tool_input, session=session, cwd=cwd)
    if tool != PATCH_TOOL:
        return ToolCall(tool=tool, input=tool_input, session=session, cwd=cwd, command=command)
    paths = _written(command)
    if not paths:  # not a patch that we can read: judged like a command, by the names in it
        return ToolCall(tool=tool, input=tool_input, session=session, cwd=cwd, command=command)
    return ToolCall(tool=tool, input={"patch": command}, session=session, cwd=cwd, paths=paths)


def refuse(reason: str) -> str:
    """The JSON that blocks a tool call and shows the reason to the model; the client adds a full stop of its own."""
    decision = f'"permissionDecision":"deny","permissionDecisionReason":{quote(reason.removesuffix("."))}'
    return f'{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{decision}}}}}'


def _written(patch: str) -> tuple[str, ...]:
    """The files that a patch writes; like the client, this ignores blanks around the marks."""
    lines = [line.strip() for line in patch.splitlines()]
    return tuple(line[len(mark) :].strip() for line in lines for mark in _WRITTEN if line.startswith(mark))


def _attended(payload: Mapping[str, Any]) -> bool:
    """Whether a person reads the turn's answer; in `codex exec` a program does, and our reminder must not replace it.

    The payload does not say, but the transcript names what triggered the turn and where the session began. Without a
    trigger, when the session began in `codex exec` or its origin is unknown, a turn whose permission mode asks no
    person counts as unattended.
    """
    path, turn = text_of(payload.get("transcript_path")), quote(text_of(payload.get("turn_id"))).encode("ascii")
    trigger = _last_value(files.read(path, _TAIL, end=True), b'"turn_trigger":"', b'"turn_id":' + turn)
    if trigger:
        return trigger != _NOBODY_READS
    source = _last_value(files.read(path, _HEAD), b'"source":"')
    return source not in (b"", _NOBODY_READS) or payload.get("permission_mode") != _ASKS_NOBODY


def _last_value(text: bytes | None, name: bytes, condition: bytes = b"") -> bytes:
    """The string after `name` in the last line that contains it and `condition`; b"" when there is none.

    These lines also contain what people and models write, but there all quotes are escaped.
    """
    lines = reversed((text or b"").split(b"\n"))
    line = next((line for line in lines if name in line and condition in line), b"")
    return line.partition(name)[2].partition(b'"')[0]
