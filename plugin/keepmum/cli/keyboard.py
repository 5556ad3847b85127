"""Single keys from a terminal, without a line to be edited."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Self

__all__ = ["Keyboard"]

_INTERRUPT, _END, _ESCAPE = "\x03", "\x04", b"\x1b"


class Keyboard:
    """A terminal that gives each key at once and shows none; afterwards it is as it was before."""

    def __enter__(self) -> Self:
        if os.name != "nt":
            import signal
            import termios
            import tty

            self._woken, self._wake = os.pipe()
            os.set_blocking(self._wake, False)  # required by set_wakeup_fd
            signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
            self._before = termios.tcgetattr(sys.stdin.fileno())
            tty.setcbreak(sys.stdin.fileno(), termios.TCSADRAIN)
        return self

    def __exit__(self, *_: object) -> None:
        if os.name != "nt":
            import signal
            import termios

            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._before)
            signal.set_wakeup_fd(-1)
            os.close(self._woken)
            os.close(self._wake)

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        """The terminal as it was before, for a line or an editor."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def read(self) -> str:
        """The next key as a lower-case character; empty at the end of the input.

        A special key, such as an arrow, is one key: the escape character.

        Raises: KeyboardInterrupt for Ctrl-C.
        """
        sys.stdout.flush()
        key = _windows_key() if os.name == "nt" else self._terminal_key(sys.stdin.fileno())
        if key == _INTERRUPT:
            raise KeyboardInterrupt
        return "" if key == _END else key.lower()

    def _terminal_key(self, descriptor: int) -> str:
        import select

        # a read would go on waiting after a Ctrl-C that arrived just before it
        while descriptor not in select.select([descriptor, self._woken], [], [])[0]:
            os.read(self._woken, 1)
        key = os.read(descriptor, 1)
        if key == _ESCAPE:  # a special key sends several characters at once, up to a letter
            while select.select([descriptor], [], [], 0)[0] and not os.read(descriptor, 1).isalpha():
                pass
        return key.decode(errors="replace")


def _windows_key() -> str:
    import msvcrt

    key: str = msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore] # exists on Windows only
    if key in "\x00\xe0":
        msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore]
        return "\x1b"
    return key
