"""The local server as a process: two pipes, forwarded signals, and the exit status.

It stays in our process group and keeps our standard error, so that the client sees it as it would without the guard.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import subprocess
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet
    from typing import Any, Final, NoReturn, Protocol

    class Child(Protocol):
        """A running server: write to `into`, read from `out` (descriptors)."""

        into: int
        out: int

        def wait(self) -> int:
            """Wait for its end, forwarding signals; return the exit status in a shell's form."""
else:
    import _signal as signal  # importing `signal` takes as long as starting Python

__all__ = ["NOT_EXECUTABLE", "NOT_FOUND", "start"]

NOT_FOUND, NOT_EXECUTABLE = 127, 126  # exit statuses, as in shells
_FORWARDED = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_PR_SET_PDEATHSIG = 1  # Source: https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html, read 2026-11-21


def start(command: Sequence[str]) -> Child:
    """Start the server. One that cannot be started ends at once with a shell's exit status.

    Call it on the main thread, before starting others.
    """
    _occupy_standard_descriptors()
    return _start_windows(command) if os.name == "nt" else _start_posix(command)


def _occupy_standard_descriptors() -> None:
    """Open closed standard descriptors on the null device, so that no pipe gets their numbers."""
    nothing = os.open(os.devnull, os.O_RDWR)
    while nothing <= 2:
        nothing = os.open(os.devnull, os.O_RDWR)
    os.close(nothing)


class _PosixChild:
    """A forked process. SIGCHLD and forwarded signals are blocked and awaited in one place, so that none is lost."""

    def __init__(self, pid: int, into: int, out: int, signals: AbstractSet[int]) -> None:
        self._pid: Final = pid
        self._signals: Final = signals
        self.into = into
        self.out = out

    def wait(self) -> int:
        while True:
            number = signal.sigwait(self._signals)
            if number != signal.SIGCHLD:
                os.kill(self._pid, number)
                continue
            ended, status = os.waitpid(self._pid, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code


def _start_posix(command: Sequence[str]) -> Child:
    source, into = os.pipe()
    out, sink = os.pipe()
    parent = os.getpid()
    signals = {signal.SIGCHLD, *(getattr(signal, name) for name in _FORWARDED)}
    signal.signal(signal.SIGCHLD, lambda *_: None)  # ignored signals cannot be awaited
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    pid = os.fork()  # importing subprocess takes longer than many servers take to start
    if pid == 0:
        _become(command, source, sink, parent, before)
    os.close(source)
    os.close(sink)
    return _PosixChild(pid, into, out, signals)


def _become(command: Sequence[str], source: int, sink: int, parent: int, mask: AbstractSet[int]) -> NoReturn:
    status = NOT_EXECUTABLE
    try:
        os.dup2(source, 0)
        os.dup2(sink, 1)
        for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores them, and a child would inherit that
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _end_with_parent(parent)
        os.execvp(command[0], list(command))  # noqa: S606 - no shell is wanted
    except OSError as error:
        status = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
        os.write(2, _not_started(command[0], error).encode(errors="replace"))
    finally:
        os._exit(status)


def _not_started(program: str, error: OSError) -> str:
    """The error message; masks secrets, because the name may be `NAME=KEY`, meant for a shell."""
    from keepmum_scanner import redact, scan

    return f"keepmum guard: could not start {redact(program, scan(program))}: {error.strerror}\n"


def _end_with_parent(parent: int) -> None:
    """On Linux, end this process when the guard is killed; elsewhere it sees the end of its input."""
    if sys.platform != "linux":
        return
    try:
        import _ctypes  # importing ctypes itself would take half as long as a small server's start
    except ImportError:
        return
    everything: Any = None  # all loaded libraries; the type stub of dlopen lacks this case
    prctl = _ctypes.dlsym(_ctypes.dlopen(everything, 0), "prctl")
    _ctypes.call_function(prctl, (_PR_SET_PDEATHSIG, int(signal.SIGKILL)))
    if os.getppid() != parent:
        os._exit(1)  # the guard was killed in between


class _WindowsChild:
    """A Windows process: Ctrl-C reaches it directly, and there are no other signals."""

    def __init__(self, process: subprocess.Popen[bytes], into: int, out: int) -> None:
        self._process: Final = process
        self.into = into
        self.out = out

    def wait(self) -> int:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return self._process.wait()


def _start_windows(command: Sequence[str]) -> Child:
    import shutil
    import subprocess

    program = shutil.which(command[0]) or command[0]  # npx is npx.cmd on Windows
    source, into = os.pipe()
    out, sink = os.pipe()
    try:
        process = subprocess.Popen([program, *command[1:]], stdin=source, stdout=sink)
    except OSError as error:
        sys.stderr.write(_not_started(command[0], error))
        sys.exit(NOT_FOUND)
    os.close(source)
    os.close(sink)
    return _WindowsChild(process, into, out)
