"""The machine as the installer sees it: one value that holds every way to look at it or to act on it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from keepmum_hooks import places
from keepmum_installers.errors import InstallError

__all__ = ["Machine", "Outcome", "Runner", "run"]

NOT_FOUND, TIMED_OUT = 127, 124  # what a shell and timeout(1) answer


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended, and what it said."""

    code: int
    out: str = ""
    err: str = ""

    @property
    def sentence(self) -> str:
        """The line in which the command said what was wrong, else its first; at most 200 characters."""
        lines = [line.strip(" \t✘✔") for line in (self.err + "\n" + self.out).splitlines()]
        said = [line for line in lines if line.startswith("Error:")] + [line for line in lines if line]
        return said[0][:200] if said else f"it ended with code {self.code} and said nothing"


Runner = Callable[[Sequence[str], float], Outcome]


def run(argv: Sequence[str], seconds: float) -> Outcome:
    """How the command ended; never raises: a missing command gives 127, one that ran out of time 124."""
    try:
        done = subprocess.run(  # noqa: PLW1510 - the code is the answer
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return Outcome(TIMED_OUT, err=f"no answer within {seconds:g} seconds")
    except OSError as error:
        return Outcome(NOT_FOUND, err=f"could not be started: {error.strerror}")
    return Outcome(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True, slots=True)
class Machine:
    """Where things lie on this machine, and how to run a command on it."""

    user_home: str
    home: str
    """Keepmum's own folder."""
    cwd: str
    environ: Mapping[str, str] = field(repr=False)  # may hold secrets
    run: Runner = run

    @classmethod
    def this(cls) -> Machine:
        """The machine that this process runs on.

        Raises: InstallError when neither KEEPMUM_HOME nor HOME says where to keep anything.
        """
        home = places.home()
        if home is None:
            raise InstallError(
                "there is no folder to keep memories in: HOME is not set", "Set HOME, or KEEPMUM_HOME, to a full path."
            )
        return cls(user_home=os.path.expanduser("~"), home=home, cwd=_working_folder(), environ=os.environ)

    def find(self, program: str) -> str | None:
        """The full path of a program on PATH; None when there is none."""
        return shutil.which(program, path=self.environ.get("PATH", ""))

    def state(self, *names: str) -> str:
        """A path below Keepmum's state folder."""
        return os.path.join(self.home, "state", *names)


def _working_folder() -> str:
    """The working folder, or the top of the file system when it was deleted under us."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.path.abspath(os.sep)
