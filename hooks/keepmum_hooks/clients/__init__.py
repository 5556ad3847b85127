"""The clients: which one sent a payload, and the module that reads it.

A client is a module with the functions of `Client`, a line in `CLIENTS`, and a test file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from keepmum_hooks.event import Event, ToolCall

    class Client(Protocol):
        """What the hooks need of a client."""

        def read(self, kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:
            """The event in the payload, or None when it has another kind or no session."""

        def render(self, event: Event, text: str) -> str:
            """The JSON that makes the client show `text` to the model."""

        def read_call(self, payload: Mapping[str, Any], environ: Mapping[str, str]) -> ToolCall | None:
            """The tool call in the payload, or None when the payload is about another event.

            Raises: ValueError when the call is not in the form that the client sends.
            """

        def refuse(self, reason: str) -> str:
            """The JSON that makes the client block the tool call and show `reason` to the model."""


__all__ = ["CLIENTS", "SILENCE", "detect"]


def _claude_code() -> Client:
    from keepmum_hooks.clients import claude_code

    return claude_code


def _cursor() -> Client:
    from keepmum_hooks.clients import cursor

    return cursor


def _codex() -> Client:
    from keepmum_hooks.clients import codex

    return codex


def _copilot() -> Client:
    from keepmum_hooks.clients import copilot

    return copilot


def _gemini() -> Client:
    from keepmum_hooks.clients import gemini

    return gemini


def _opencode() -> Client:
    from keepmum_hooks.clients import opencode

    return opencode


CLIENTS: Mapping[str, Callable[[], Client]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "cursor": _cursor,
    "copilot-cli": _copilot,
    "vscode": _copilot,
    "gemini-cli": _gemini,
    "opencode": _opencode,
}

# What a hook prints when it has no answer. Cursor treats empty output as a failed hook.
SILENCE: Mapping[str, str] = {"cursor": "{}"}

# Clients whose hook file no other client runs: the name in it is more reliable than variables, which may be inherited.
_SOLE_USERS = ("codex", "gemini-cli", "opencode")


def detect(hint: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The name of the client that sent the payload; `hint` is the name in the hook file."""
    if hint == "copilot":
        return "copilot-cli" if "COPILOT_CLI" in environ else "vscode"
    return hint if hint in _SOLE_USERS else _detect_by_signs(hint, payload, environ)


def _detect_by_signs(hint: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The client that runs a hook file made for Claude Code.

    Several clients run hook files made for Claude Code, with its variables set, but expect other answers, so their own
    signs are checked first. A client started by another one inherits its variables, so the session id that Claude Code
    itself announces is checked before any of those.

    Source: runs of these clients in November 2026; for Gemini CLI also
    https://github.com/google-gemini/gemini-cli/blob/main/docs/hooks/index.md, read 2026-11-21.
    """
    if "cursor_version" in payload:
        return "cursor"
    if environ.get("CLAUDE_CODE_SESSION_ID", "") == payload.get("session_id"):
        return "claude-code"
    if "CURSOR_VERSION" in environ and "CURSOR_PROJECT_DIR" in environ:
        return "cursor"
    if "COPILOT_CLI" in environ:
        return "copilot-cli"
    if any(name in environ for name in ("GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID", "GEMINI_CWD")):
        return "gemini-cli"
    return hint
