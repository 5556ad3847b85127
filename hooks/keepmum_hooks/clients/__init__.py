"""The clients: which one sent a payload, and the module that reads it.

A client is a module with the functions of `Client`, a line in `CLIENTS`, and a test file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from keepmum_hooks.call import Call
    from keepmum_hooks.event import Event

    class Client(Protocol):
        """What the hooks need of a client."""

        def read(self, kind: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event | None:
            """The event that the payload tells of, or None when it is not one of this kind."""

        def render(self, event: Event, text: str) -> str:
            """The JSON with which the client hands `text` to the model."""

        def read_call(self, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Call | None:
            """The tool call that the payload announces, or None when it announces none.

            Raises: ValueError when it announces one and does not say which.
            """

        def refuse(self, reason: str) -> str:
            """The JSON with which the client forbids the call, and tells the model why."""


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

# What a hook says that has nothing to say. Cursor takes an empty answer for a hook that failed.
SILENCE: Mapping[str, str] = {"cursor": "{}"}


# Clients whose hook file no other client runs: its word is surer than variables, which may be inherited.
_OF_THEIR_OWN = ("codex", "gemini-cli", "opencode")


def detect(hint: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The name of the client that sent the payload; `hint` is what the hook file claims."""
    if hint == "copilot":
        return "copilot-cli" if "COPILOT_CLI" in environ else "vscode"
    return hint if hint in _OF_THEIR_OWN else _by_signs(hint, payload, environ)


def _by_signs(hint: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The client that runs a hook file made for Claude Code.

    Several clients run hook files made for Claude Code, with its variables set, but read other answers; so their
    own signs come first. A variable may also be inherited from a client around this one, so before those counts
    the session that the client itself announces.

    Source: what runs of these clients showed in November 2026; for Gemini CLI also
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
