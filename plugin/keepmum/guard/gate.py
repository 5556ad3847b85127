"""What becomes of one line from the client: it passes as it is, in part, or not at all. No I/O.

Only what may be a tool call is read, and only for that is anything loaded: the handshake passes at once.
"""

from __future__ import annotations

from keepmum.guard.verdict import LONGEST, Verdict

__all__ = ["judge", "may_call"]

_CALL = b"tools/call"
_BEYOND_ASCII = bytes(range(0x80, 0x100))


def judge(line: bytes) -> Verdict:
    """The verdict on a line, which comes with its line feed. Never raises: what may be a call and is not read stays."""
    if len(line) <= LONGEST and not may_call(line):
        return Verdict(line)
    from keepmum.guard import calls

    return calls.judge(line)


def may_call(line: bytes) -> bool:
    """Whether the line could be a tool call for any reader, however it spells that; cheap, and never wrongly False."""
    if _CALL in line:
        return True
    if not line.isascii():  # a reader that drops bytes that are no text would join what stands around them
        line = line.translate(None, _BEYOND_ASCII)
    return _CALL in (_unescaped(line) if b"\\" in line else line)


def _unescaped(line: bytes) -> bytes:
    """The line with its ASCII characters plainly written."""
    import re

    escaped = re.compile(rb"\\(?:/|u00([0-7][0-9A-Fa-f]))")
    return escaped.sub(lambda found: bytes.fromhex(found[1].decode()) if found[1] else b"/", line)
