"""The output of the installer: plain lines on stdout, problems with their next step on stderr."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

from keepmum_installers.errors import InstallError

__all__ = ["Console"]


class Console:
    """Prints lines, problems and progress, and asks questions."""

    def __init__(
        self, out: TextIO | None = None, err: TextIO | None = None, home: str = "", *, quiet: bool = False
    ) -> None:
        """`home` is the user's home, which is printed as `~`; empty to print paths as they are.

        A quiet one prints only problems and what the user has to do.
        """
        self._quiet = quiet
        self._out = sys.stdout if out is None else out
        self._err = sys.stderr if err is None else err
        # Not after a quote: a shell does not replace `~` there, and users copy these lines.
        self._home = re.compile(rf"(?<![^\s`(]){re.escape(home.rstrip(os.sep))}(?=/)") if len(home) > 1 else None
        self._waiting = False
        self._waited_for: set[str] = set()

    def say(self, text: str = "") -> None:
        """Print one or more lines."""
        if not self._quiet:
            self.demand(text)

    def demand(self, text: str) -> None:
        """Print what the user has to do, also when nothing else is printed."""
        self._end_wait()
        self._write(self._short(text) + "\n")

    def problem(self, error: Exception) -> None:
        """Print a problem and its next step to stderr."""
        self._end_wait()
        self._out.flush()
        self._err.write(self._short(f"keepmum: {error}\n"))
        if isinstance(error, InstallError) and error.next_step:
            self._err.write(self._short("  next: " + error.next_step.replace("\n", "\n  ") + "\n"))
        self._err.flush()

    def warn(self, text: str) -> None:
        """Print one line to stderr."""
        self._end_wait()
        self._out.flush()
        self._err.write(f"keepmum: warning: {text}\n")
        self._err.flush()

    def wait(self, what: str, seconds: int) -> None:
        """Show that a long step is still running: on a terminal in one line, in a log once."""
        if self._quiet:
            return
        if self._out.isatty():
            self._write(f"\r  {what} … {seconds} s")
            self._waiting = True
        elif what not in self._waited_for:
            self._write(f"  {what} …\n")
        self._waited_for.add(what)

    def ask(self, question: str) -> bool:
        """Whether the user answers yes; no without a terminal."""
        if not sys.stdin.isatty():
            return False
        self._end_wait()
        self._write(f"{question} [y/N] ")
        return sys.stdin.readline().strip().lower() in {"y", "yes"}

    def _short(self, text: str) -> str:
        return self._home.sub("~", text) if self._home else text

    def _end_wait(self) -> None:
        if self._waiting:
            self._write("\n")
            self._waiting = False

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError:  # the reader was closed, which must not stop an installation halfway
            self._out = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it stays open as long as this object
            os.dup2(self._out.fileno(), sys.stdout.fileno())
