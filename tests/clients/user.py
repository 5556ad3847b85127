"""A user of some client on the command line: a home, a project, an environment of their own, and a terminal."""

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

LIMIT = 90  # seconds for one step of a client, which takes some two
_AGAIN = 3.0  # seconds


class User:
    """One user, in a project; `environ` is all that the client gets."""

    def __init__(self, program: Sequence[str], home: Path, project: Path, **environ: str) -> None:
        self.program = list(program)
        self.home = home
        self.project = project
        self.memories = home / ".keepmum"
        tools = home / "bin"
        tools.mkdir(parents=True)
        (tools / "python3").symlink_to(os.path.realpath(sys.executable))  # the system's may be too old for the server
        self.environ = {
            "PATH": os.pathsep.join([str(tools), "/usr/bin", "/bin"]),
            "HOME": str(home),
            "PWD": str(project),  # as every shell has it
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            **environ,
        }

    def run(self, *arguments: str) -> str:
        """What the client prints; it must succeed, and has no terminal."""
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
        child.ptyproc.delayafterterminate = _AGAIN  # a client may have its own children to end first
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
        """What the screen shows."""
        return "\n".join(row.rstrip() for row in self._screen.display if row.strip())

    def wait_for(self, text: str, *, press: str = "") -> None:
        """Return when the screen shows the text; every few seconds until then, press keys.

        A client that is still busy with what came before may swallow a key.
        """
        self.wait_until(lambda: text in self.text, repr(text), press=press)

    def wait_until(self, is_so: Callable[[], bool], what: str, *, press: str = "") -> None:
        """Return when it is so, while the client goes on."""
        deadline = time.monotonic() + LIMIT
        next_press = time.monotonic() + _AGAIN
        while not is_so():
            now = time.monotonic()
            assert now < deadline, f"no {what} within {LIMIT} s:\n{self.text}"
            if press and now > next_press:
                self._child.send(press)
                next_press = now + _AGAIN
            try:
                self._stream.feed(self._child.read_nonblocking(1 << 16, timeout=0.2))
            except pexpect.TIMEOUT:
                continue

    def press(self, keys: str) -> None:
        """Send keys as they are."""
        self._child.send(keys)

    def type(self, text: str) -> None:
        """Write a line and send it off once it stands in the prompt."""
        self._child.send(text)
        self.wait_for(text)
        self._child.send("\r")
