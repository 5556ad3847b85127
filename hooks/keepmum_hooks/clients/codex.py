"""Codex: its payloads, and the answers it reads.

Source: https://github.com/openai/codex/tree/main/codex-rs/hooks/schema/generated, read 2026-11-21; where it is silent,
runs of version 0.169.0.
"""

from __future__ import annotations

from keepmum_hooks import files
from keepmum_hooks.call import Call
from keepmum_hooks.event import SESSION_START, STOP, Event
from keepmum_hooks.payload import quote, session_of, text_of, tool_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["PATCH_TOOL", "SHELL_TOOL", "read", "read_call", "refuse", "render"]

PATCH_TOOL = "apply_patch"
SHELL_TOOL = "Bash"  # what the client calls `exec_command` towards hooks

_NAMES = {STOP: "Stop", SESSION_START: "SessionStart"}
_SERVER_TOOL = "mcp__"

# The lines of a patch that name the files it writes; what it deletes is not written.
# Source: https://github.com/openai/codex/blob/main/codex-rs/apply-patch/src/parser.rs, read 2026-11-21
_WRITTEN = ("*** Add File: ", "*** Update File: ", "*** Move to: ")

# What a run says that asks nobody: `codex exec`, or a person who wants no questions.
_ASKS_NOBODY = "bypassPermissions"
_NOBODY_READS = b"exec"
_TAIL = 256 << 10  # bytes of the transcript: the turn's first line is among them, unless the turn was long
_HEAD = 1 << 10  # bytes that hold the session's own origin, in the order in which the client writes them


def read(kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:  # noqa: ARG001 - the seam
    """The event that the payload tells of, or None when it tells of another one or of no session."""
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
    """The JSON with which Codex hands `text` to the model; one key that it does not know would void the whole."""
    if event.kind == STOP:
        return f'{{"decision":"block","reason":{quote(text)}}}'
    name = _NAMES[event.kind]
    return f'{{"hookSpecificOutput":{{"hookEventName":"{name}","additionalContext":{quote(text)}}}}}'


def read_call(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Call | None:  # noqa: ARG001 - the seam
    """The tool call that the payload announces, or None when it tells of another event.

    Raises: ValueError when tool, input or command are not what the client sends.
    """
    called = tool_call(payload, "PreToolUse")
    if called is None:
        return None
    tool, given = called
    session, cwd = text_of(payload.get("session_id")), text_of(payload.get("cwd"))
    if tool.startswith(_SERVER_TOOL):
        return Call(tool=tool, input=given, session=session, cwd=cwd)
    command = given.get("command")
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        command = " ".join(command)
    if not isinstance(command, str):
        if tool in (PATCH_TOOL, SHELL_TOOL):
            raise ValueError("no command")
        return Call(tool=tool, input=given, session=session, cwd=cwd)
    if tool != PATCH_TOOL:
        return Call(tool=tool, input=given, session=session, cwd=cwd, command=command)
    paths = _written(command)
    if not paths:  # no patch that we can read: judged like a command, by the names in it
        return Call(tool=tool, input=given, session=session, cwd=cwd, command=command)
    return Call(tool=tool, input={"patch": _added(command)}, session=session, cwd=cwd, paths=paths)


def refuse(reason: str) -> str:
    """The JSON with which Codex forbids a tool call and tells the model why."""
    decision = f'"permissionDecision":"deny","permissionDecisionReason":{quote(reason)}'
    return f'{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{decision}}}}}'


def _written(patch: str) -> tuple[str, ...]:
    """The files that a patch writes; the client, too, reads past blanks around its marks."""
    lines = [line.strip() for line in patch.splitlines()]
    return tuple(line[len(mark) :].strip() for line in lines for mark in _WRITTEN if line.startswith(mark))


def _added(patch: str) -> str:
    """The lines that a patch adds, each where it stands in it.

    The others stand in the file already; to forbid them would forbid taking a secret out.
    """
    return "\n".join(line[1:] if line.startswith("+") else "" for line in patch.split("\n"))


def _attended(payload: Mapping[str, Any]) -> bool:
    """Whether a person reads the turn's answer: in `codex exec` a program does, which must not get ours instead.

    The payload does not say it. The transcript does: such a turn names what began it, and such a session, too. Where
    there is none, and in a session that was begun so, a turn that may ask nobody is taken for one that nobody reads.
    """
    path, turn = text_of(payload.get("transcript_path")), quote(text_of(payload.get("turn_id"))).encode("ascii")
    trigger = _said(files.read_end(path, _TAIL), b'"turn_trigger":"', b'"turn_id":' + turn)
    if trigger:
        return trigger != _NOBODY_READS
    source = _said(files.read(path, _HEAD), b'"source":"')
    return source not in (b"", _NOBODY_READS) or payload.get("permission_mode") != _ASKS_NOBODY


def _said(text: bytes | None, name: bytes, about: bytes = b"") -> bytes:
    """The string behind the name, in the last line that holds it and is about something; b"" when there is none.

    What people and models write stands in these lines as well, but never with quotes that are not escaped.
    """
    lines = reversed((text or b"").split(b"\n"))
    line = next((line for line in lines if name in line and about in line), b"")
    return line.partition(name)[2].partition(b'"')[0]
