"""Decides whether a line from the client passes as it is, in part, or not at all. No I/O.

Only a line that may be a tool call is parsed, and only then more is imported: the handshake passes at once.
"""

from __future__ import annotations

from keepmum.guard.verdict import LONGEST, Verdict

__all__ = ["judge", "may_call"]

_CALL = b"tools/call"
_BEYOND_ASCII = bytes(range(0x80, 0x100))


def judge(line: bytes) -> Verdict:
    """The verdict on a line with its line feed. Never raises: a possible call that cannot be parsed is refused."""
    if len(line) <= LONGEST and not may_call(line):
        return Verdict(line)
    from keepmum.guard import calls

    return calls.judge(line)


def may_call(line: bytes) -> bool:
    """Whether any reader could take the line for a tool call, however it is escaped; fast, no false negatives."""
    if _CALL in line:
        return True
    if not line.isascii():  # a reader that drops invalid bytes would join the bytes around them
        line = line.translate(None, _BEYOND_ASCII)
    return _CALL in (_unescaped(line) if b"\\" in line else line)


def _unescaped(line: bytes) -> bytes:
    """The line with escaped ASCII characters decoded."""
    import re

    escaped = re.compile(rb"\\(?:/|u00([0-7][0-9A-Fa-f]))")
    return escaped.sub(lambda found: bytes.fromhex(found[1].decode()) if found[1] else b"/", line)
