"""An interactive client in a terminal: screen and keyboard."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pexpect
import pyte

__all__ = ["LIMIT", "Terminal", "running"]

LIMIT = 90  # seconds for one step of a client, which takes about two
_KEY_INTERVAL = 3.0  # seconds
_TERMINATION = 10.0  # seconds after which a client that goes on is killed
_COLUMNS, _ROWS = 120, 45


@contextlib.contextmanager
def running(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> Iterator[pexpect.spawn[str]]:
    """The program in a terminal, which is closed when the block ends."""
    child = pexpect.spawn(
        command[0],
        list(command[1:]),
        cwd=str(folder),
        env=dict(environ),
        dimensions=(_ROWS, _COLUMNS),
        encoding="utf-8",
    )
    try:
        yield child
    finally:
        child.kill(signal.SIGHUP)
        with contextlib.suppress(pexpect.TIMEOUT):
            child.expect(pexpect.EOF, timeout=_TERMINATION)
        child.kill(signal.SIGKILL)
        child.wait()
        child.close()


class _Screen(pyte.Screen):
    """A screen that passes over what pyte does not know: questions about itself, and private marks."""

    def report_device_status(self, *_: object, **__: object) -> None: ...

    def report_device_attributes(self, *_: object, **__: object) -> None: ...

    def select_graphic_rendition(self, *attributes: int, **marks: object) -> None:
        """Change the looks of what follows; a request with a mark asks for something else, and terminals ignore it."""
        if not marks:
            super().select_graphic_rendition(*attributes)


class Terminal:
    """A screen and its keyboard."""

    def __init__(self, child: pexpect.spawn[str]) -> None:
        self._child = child
        self._screen = _Screen(_COLUMNS, _ROWS)
        self._stream = pyte.Stream(self._screen)

    @property
    def text(self) -> str:
        """The text on the screen."""
        return "\n".join(row.rstrip() for row in self._screen.display if row.strip())

    def wait_for(self, text: str, *, count: int = 1, press: str = "") -> None:
        """Wait until the screen shows the text `count` times; sends the keys `press` every few seconds until then.

        A busy client may drop a key.
        """
        self.wait_until(lambda: self.text.count(text) >= count, repr(text), press=press)

    def wait_until(self, condition: Callable[[], bool], what: str, *, press: str = "") -> None:
        """Wait until the condition holds, while the screen is updated."""
        deadline = time.monotonic() + LIMIT
        next_press = time.monotonic() + _KEY_INTERVAL
        while not condition():
            now = time.monotonic()
            assert now < deadline, f"no {what} within {LIMIT} s:\n{self.text}"
            if press and now > next_press:
                self.press(press)
                next_press = now + _KEY_INTERVAL
            with contextlib.suppress(pexpect.TIMEOUT):
                self._stream.feed(self._child.read_nonblocking(1 << 16, timeout=0.2))

    def press(self, keys: str) -> None:
        """Send keys."""
        self._child.send(keys)

    def type(self, text: str) -> None:
        """Type a line, and press return once the prompt shows it."""
        self.press(text)
        self.wait_for(text)
        self.press("\r")
