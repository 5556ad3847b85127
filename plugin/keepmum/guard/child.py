"""The server as a process: two pipes, the signals that reach it, and how it ended.

It stays in our process group and keeps our standard error, so that it stands to the client as it would without us.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final, NoReturn

__all__ = ["NOT_EXECUTABLE", "NOT_FOUND", "Child", "start"]

NOT_FOUND, NOT_EXECUTABLE = 127, 126  # exit statuses, as shells have them
_FORWARDED = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")  # each system has some of them
_PR_SET_PDEATHSIG = 1  # Source: https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html, read 2026-11-21


class Child:
    """A running server: `into` is written to, `out` is read."""

    def __init__(self, pid: int, into: int, out: int) -> None:
        self._pid: Final = pid
        self._ended = False
        self.into: Final = into
        self.out: Final = out

    def forward_signals(self) -> None:
        """Hand on what we are sent, from here on. To be called on the main thread."""
        for name in _FORWARDED:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), lambda number, _: self._signal(number))

    def wait(self) -> int:
        """Its exit status once it has ended; 128 and the signal's number when a signal ended it."""
        _, status = os.waitpid(self._pid, 0)
        self._ended = True
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code

    def _signal(self, number: int) -> None:
        if not self._ended:
            os.kill(self._pid, number)


def start(command: Sequence[str]) -> Child:
    """The server, started. One that cannot be started ends at once, with the status that a shell would give it."""
    _occupy_standard_descriptors()
    source, into = os.pipe()
    out, sink = os.pipe()
    if os.name == "nt":
        return _start_windows(command, source, into, out, sink)
    parent = os.getpid()
    pid = os.fork()  # before any thread; what subprocess would import takes longer than many a server's start
    if pid == 0:
        _become(command, source, sink, parent)
    os.close(source)
    os.close(sink)
    return Child(pid, into, out)


def _occupy_standard_descriptors() -> None:
    """Lead standard descriptors that we were started without to nothing, so that no pipe takes their numbers."""
    nothing = os.open(os.devnull, os.O_RDWR)
    while nothing <= 2:
        nothing = os.open(os.devnull, os.O_RDWR)
    os.close(nothing)


def _become(command: Sequence[str], source: int, sink: int, parent: int) -> NoReturn:
    status = NOT_EXECUTABLE
    try:
        os.dup2(source, 0)
        os.dup2(sink, 1)
        for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores them, and a child would inherit that
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
        _end_with_parent(parent)
        os.execvp(command[0], list(command))  # noqa: S606 - no shell is wanted
    except OSError as error:
        status = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
        os.write(2, f"keepmum guard: could not start {command[0]}: {error.strerror}\n".encode(errors="replace"))
    finally:
        os._exit(status)


def _end_with_parent(parent: int) -> None:
    """Have Linux end this process when the guard is killed; elsewhere the end of its input has to tell it."""
    if sys.platform != "linux":
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    except (ImportError, OSError, AttributeError):
        return  # an interpreter without ctypes
    if os.getppid() != parent:
        os._exit(1)  # it was killed in between


def _start_windows(command: Sequence[str], source: int, into: int, out: int, sink: int) -> Child:
    import shutil
    import subprocess

    program = shutil.which(command[0]) or command[0]  # npx is npx.cmd there
    try:
        process = subprocess.Popen([program, *command[1:]], stdin=source, stdout=sink)
    except OSError as error:
        sys.stderr.write(f"keepmum guard: could not start {command[0]}: {error.strerror}\n")
        sys.exit(NOT_FOUND)
    os.close(source)
    os.close(sink)
    return _WindowsChild(process, into, out)


class _WindowsChild(Child):
    """The same on Windows, where a process is known by its handle and Ctrl-C reaches it by itself."""

    def __init__(self, process: object, into: int, out: int) -> None:
        super().__init__(0, into, out)
        self._process: Final = process

    def forward_signals(self) -> None:
        """Stay alive at Ctrl-C, which the server hears too."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait(self) -> int:
        """Its exit status once it has ended."""
        status: int = self._process.wait()  # type: ignore[attr-defined]
        return status
