"""How the installer speaks: plain lines on stdout, problems with their next step on stderr."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from keepmum_installers.errors import InstallError

__all__ = ["Voice"]


class Voice:
    """Says things to the user."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out = sys.stdout if out is None else out
        self._err = sys.stderr if err is None else err
        self._waiting = False

    def say(self, text: str = "") -> None:
        """One line, or several."""
        self._end_wait()
        self._write(text + "\n")

    def problem(self, error: Exception) -> None:
        """What went wrong, and below it the next step."""
        self._end_wait()
        self._out.flush()
        self._err.write(f"keepmum: {error}\n")
        if isinstance(error, InstallError) and error.next_step:
            self._err.write("  next: " + error.next_step.replace("\n", "\n  ") + "\n")
        self._err.flush()

    def warn(self, text: str) -> None:
        """One line on stderr, of what the user should know before going on."""
        self._end_wait()
        self._out.flush()
        self._err.write(f"keepmum: warning: {text}\n")
        self._err.flush()

    def wait(self, what: str, seconds: int) -> None:
        """Shows that a long step is still at work; on a terminal in one line, in a log every ten seconds."""
        if self._out.isatty():
            self._write(f"\r  {what} … {seconds} s")
            self._waiting = True
        elif seconds and seconds % 10 == 0:
            self._write(f"  {what} … {seconds} s\n")

    def ask(self, question: str) -> bool:
        """Whether the user says yes; no when nobody is there to answer."""
        if not sys.stdin.isatty():
            return False
        self._end_wait()
        self._write(f"{question} [y/N] ")
        return sys.stdin.readline().strip().lower() in {"y", "yes"}

    def _end_wait(self) -> None:
        if self._waiting:
            self._write("\n")
            self._waiting = False

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError:  # the reader has seen enough, and an installation is not left half done for that
            self._out = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it stays open as long as we speak
            os.dup2(self._out.fileno(), sys.stdout.fileno())
