"""The machine as the installer sees it: its folders, its environment, and how to run a command on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from keepmum_hooks import places
from keepmum_installers.errors import InstallError

__all__ = ["NEUTRAL", "NOT_FOUND", "Machine", "Outcome", "Runner", "config_home", "run"]

NOT_FOUND, TIMED_OUT = 127, 124  # as a shell and timeout(1) report these


@dataclass(frozen=True, slots=True)
class Outcome:
    """The exit code and the output of a command."""

    code: int
    out: str = ""
    err: str = ""

    @property
    def sentence(self) -> str:
        """The line that names the error, else the first line; at most 200 characters."""
        lines = [line.strip(" \t✘✔") for line in (self.err + "\n" + self.out).splitlines()]
        candidates = [line for line in lines if line.startswith("Error:")] + [line for line in lines if line]
        return candidates[0][:200] if candidates else f"it ended with code {self.code} and no output"


NEUTRAL = os.path.abspath(os.sep)
"""The folder that commands run in. Clients read settings of their working folder, or ask whether to trust it; the
user's, which may be a cloned repository, is none of their business here."""


class Runner(Protocol):
    """Runs a command with a time limit in seconds, and with more variables than this process has."""

    def __call__(self, argv: Sequence[str], seconds: float, environ: Mapping[str, str] = ..., /) -> Outcome:
        """The outcome of the command."""


def run(argv: Sequence[str], seconds: float, environ: Mapping[str, str] = MappingProxyType({})) -> Outcome:
    """The outcome of a command; never raises: a missing command gives code 127, a timeout 124."""
    try:
        done = subprocess.run(  # noqa: PLW1510 - the caller reads the code
            argv,
            cwd=NEUTRAL,
            env={**os.environ, "PWD": NEUTRAL, **environ},
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
    """Folders and environment of one user, and the function that runs commands."""

    user_home: str
    home: str
    """Keepmum's own folder."""
    cwd: str
    config_home: str
    """The folder in which desktop apps keep this user's settings; see `config_home`."""
    environ: Mapping[str, str] = field(repr=False)  # may hold secrets
    run: Runner = run

    @classmethod
    def this(cls) -> Machine:
        """The machine that this process runs on.

        Raises: InstallError when neither KEEPMUM_HOME nor HOME names a folder for memories.
        """
        home = places.home()
        if home is None:
            raise InstallError(
                "there is no folder to keep memories in: HOME is not set", "Set HOME, or KEEPMUM_HOME, to a full path."
            )
        user_home = os.path.expanduser("~")
        return cls(user_home, home, _working_folder(), config_home(user_home, os.environ), os.environ)

    @property
    def repository(self) -> str:
        """The top folder of the repository around the working folder; the working folder itself outside of any."""
        folder = os.path.realpath(self.cwd)
        while not os.path.exists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                return os.path.realpath(self.cwd)
            folder = parent
        return folder

    def short(self, path: str) -> str:
        """The path as a user types it: `~` instead of the home."""
        home = self.user_home.rstrip(os.sep) + os.sep
        return f"~{os.sep}{path.removeprefix(home)}" if path.startswith(home) and len(home) > 1 else path

    def find(self, program: str) -> str | None:
        """The full path of a program on PATH; None when there is none."""
        # A relative entry of PATH would name a program of the working folder, which may be a cloned repository.
        entries = [entry for entry in self.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
        return shutil.which(program, path=os.pathsep.join(entries)) if entries else None

    def state(self, *names: str) -> str:
        """A path below Keepmum's state folder."""
        return os.path.join(self.home, "state", *names)


def config_home(user_home: str, environ: Mapping[str, str]) -> str:
    """The folder in which desktop apps keep a user's settings: `~/.config`, `Application Support`, or `AppData`."""
    if sys.platform == "darwin":  # here platformdirs follows XDG_CONFIG_HOME, which these apps do not
        return os.path.join(user_home, "Library", "Application Support")
    try:
        from platformdirs import user_config_dir
    except ImportError:  # install.sh plans before it installs packages
        if os.name == "nt":
            return environ.get("APPDATA") or os.path.join(user_home, "AppData", "Roaming")
        return environ.get("XDG_CONFIG_HOME") or os.path.join(user_home, ".config")
    return user_config_dir(roaming=True)


def _working_folder() -> str:
    """The working folder; the top of the file system when it was deleted meanwhile."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.path.abspath(os.sep)
