"""JSON in and out, and what the payloads of most clients have in common.

JSON is read by the interpreter's private `_json` module, because importing `json` would double a hook's run time. Any
error in it falls back to `json`; the tests run both on every supported interpreter.
"""

from __future__ import annotations

from keepmum_hooks.files import read_up_to
from keepmum_hooks.system import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = [
    "STDIN_LIMIT",
    "drain_stdin",
    "loads",
    "parse",
    "quote",
    "read_stdin",
    "session_of",
    "text_of",
    "tool_call",
]

STDIN_LIMIT = 10 << 20  # bytes; a hundred times the largest payload observed
_BOM = b"\xef\xbb\xbf"
_SPACE = " \t\r\n"


def read_stdin() -> bytes | None:
    """All of standard input, or None when it is longer than `STDIN_LIMIT`."""
    raw = read_up_to(0, STDIN_LIMIT + 1)
    return raw if len(raw) <= STDIN_LIMIT else None


def drain_stdin() -> None:
    """Read and discard the rest of standard input: clients report an error when they cannot write all of it."""
    while calls.read(0, 1 << 16):
        pass


def parse(raw: bytes) -> dict[str, Any] | None:
    """The JSON object in `raw`, or None when it is anything else."""
    try:
        text = raw[len(_BOM) :].decode() if raw.startswith(_BOM) else raw.decode()
    except UnicodeDecodeError:
        return None
    value = loads(text)
    return value if isinstance(value, dict) else None


def loads(text: str) -> object:
    """The result of `json.loads`, or None for invalid JSON."""
    try:
        return _parse_quickly(text)
    except Exception:  # noqa: BLE001 - a private API may fail in any way; then use the public one
        return _parse_slowly(text)


def quote(text: str) -> str:
    """The text as a JSON string in ASCII, quotes included."""
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        from json.encoder import encode_basestring_ascii
    return str(encode_basestring_ascii(text))


def text_of(value: object) -> str:
    """The value if it is a string, else ""."""
    return value if isinstance(value, str) else ""


def session_of(payload: Mapping[str, Any], event: str) -> str:
    """The session of an event with this name; "" for another event or without a session."""
    return text_of(payload.get("session_id")) if payload.get("hook_event_name") == event else ""


def tool_call(payload: Mapping[str, Any], event: str) -> tuple[str, dict[str, Any]] | None:
    """Tool and input in an event with this name; None for another event.

    Raises: ValueError when tool or input are not in the form that clients send.
    """
    if payload.get("hook_event_name") != event:
        return None
    tool, tool_input = payload.get("tool_name"), payload.get("tool_input")
    if not isinstance(tool, str) or not isinstance(tool_input, dict):
        raise ValueError("no tool, or no input")  # noqa: TRY004 - the payload is wrong, not the caller
    return tool, tool_input


class _Rules:
    """The context for `_json.make_scanner`: the defaults of `json.loads`."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner needs an attribute, and the process parses one payload


def _parse_quickly(text: str) -> object:
    from _json import make_scanner

    start = len(text) - len(text.lstrip(_SPACE))
    value, end = make_scanner(_Rules)(text, start)  # type: ignore[arg-type]  # the stub requires more than the code
    if text[end:].strip(_SPACE):
        raise ValueError("text after the object")
    return value


def _parse_slowly(text: str) -> object:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
