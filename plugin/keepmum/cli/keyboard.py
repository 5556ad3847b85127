"""Single keys from a terminal, without a line to be edited."""

from __future__ import annotations

import os
import sys

__all__ = ["read_key"]

_INTERRUPT, _END = "\x03", "\x04"


def read_key() -> str:
    """The next key as a lower-case character; empty at the end of the input.

    A special key, such as an arrow, is one key whose first character is the escape character.

    Raises: KeyboardInterrupt for Ctrl-C.
    """
    sys.stdout.flush()
    key = _windows_key() if os.name == "nt" else _terminal_key()
    if key == _INTERRUPT:
        raise KeyboardInterrupt
    return "" if key == _END else key.lower()


def _terminal_key() -> str:
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSADRAIN)
        return os.read(descriptor, 64).decode(errors="replace")[:1]  # a special key sends several characters at once
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _windows_key() -> str:
    import msvcrt

    key: str = msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore] # exists on Windows only
    if key in "\x00\xe0":
        msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore]
        return "\x1b"
    return key
