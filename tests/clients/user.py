"""A user of a command-line client: home, project, environment and terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pyte

__all__ = ["LIMIT", "Screen", "User"]

LIMIT = 90  # seconds for one step of a client, which takes about two
_KEY_INTERVAL = 3.0  # seconds


class User:
    """A user in a project; `environ` is added to a minimal environment."""

    def __init__(self, program: Sequence[str], home: Path, project: Path, **environ: str) -> None:
        self.program = list(program)
        self.home = home
        self.project = project
        self.memories = home / ".keepmum"
        tools = home / "bin"
        tools.mkdir(parents=True)
        (tools / "python3").symlink_to(os.path.realpath(sys.executable))  # the system's may be too old
        self.environ = {
            "PATH": os.pathsep.join([str(tools), "/usr/bin", "/bin"]),
            "HOME": str(home),
            "PWD": str(project),  # shells set it
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            **environ,
        }

    def run(self, *arguments: str) -> str:
        """Run the client without a terminal; returns its output. The client must succeed."""
        done = subprocess.run(
            [*self.program, *arguments],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            start_new_session=True,
            check=False,
        )
        assert done.returncode == 0, f"{arguments[:3]} failed: {done.stdout[-500:]}{done.stderr[-500:]}"
        return done.stdout + done.stderr

    @contextmanager
    def terminal(self, *arguments: str) -> Iterator[Screen]:
        """The interactive program in a terminal."""
        child = pexpect.spawn(
            self.program[0],
            [*self.program[1:], *arguments],
            cwd=str(self.project),
            env=self.environ,
            dimensions=(45, 120),
            encoding="utf-8",
        )
        child.ptyproc.delayafterterminate = _KEY_INTERVAL  # a client may have children of its own to end
        try:
            yield Screen(child)
        finally:
            child.close(force=True)


class _Screen(pyte.Screen):
    """A screen that passes over what pyte does not know: questions about itself, and private marks."""

    def report_device_status(self, *_: object, **__: object) -> None: ...

    def report_device_attributes(self, *_: object, **__: object) -> None: ...

    def select_graphic_rendition(self, *attributes: int, **marks: object) -> None:
        """Change the looks of what follows; a request with a mark asks for something else, and terminals ignore it."""
        if not marks:
            super().select_graphic_rendition(*attributes)


class Screen:
    """A screen and its keyboard."""

    def __init__(self, child: pexpect.spawn[str]) -> None:
        self._child = child
        self._screen = _Screen(120, 45)
        self._stream = pyte.Stream(self._screen)

    @property
    def text(self) -> str:
        """The text on the screen."""
        return "\n".join(row.rstrip() for row in self._screen.display if row.strip())

    def wait_for(self, text: str, *, press: str = "") -> None:
        """Wait until the screen shows the text; sends the keys `press` every few seconds until then.

        A busy client may drop a key.
        """
        self.wait_until(lambda: text in self.text, repr(text), press=press)

    def wait_until(self, condition: Callable[[], bool], what: str, *, press: str = "") -> None:
        """Wait until the condition holds, while the screen is updated."""
        deadline = time.monotonic() + LIMIT
        next_press = time.monotonic() + _KEY_INTERVAL
        while not condition():
            now = time.monotonic()
            assert now < deadline, f"no {what} within {LIMIT} s:\n{self.text}"
            if press and now > next_press:
                self._child.send(press)
                next_press = now + _KEY_INTERVAL
            try:
                self._stream.feed(self._child.read_nonblocking(1 << 16, timeout=0.2))
            except pexpect.TIMEOUT:
                continue

    def press(self, keys: str) -> None:
        """Send keys."""
        self._child.send(keys)

    def type(self, text: str) -> None:
        """Type a line, and press return once the prompt shows it."""
        self._child.send(text)
        self.wait_for(text)
        self._child.send("\r")
