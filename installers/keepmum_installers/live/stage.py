"""Where a live trial takes place: a home and a project that nobody else uses, and that are gone afterwards."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from keepmum_installers import files, handover
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine

__all__ = ["SECONDS", "Stage", "said", "stage"]

SECONDS = 120.0  # for one step: a client's first start on a slow disk takes ten
# What a program needs of the real environment to start at all; nothing else of it is handed on.
_HANDED_ON = ("PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT", "TMPDIR", "TEMP", "TMP")


@dataclass(frozen=True, slots=True)
class Stage:
    """Folders and environment of one trial."""

    root: str  # of the bundle
    home: str  # the user's
    project: str
    environ: Mapping[str, str]

    @property
    def keepmum_home(self) -> str:
        """Where the trial's memories lie."""
        return self.environ["KEEPMUM_HOME"]

    def run(self, argv: Sequence[str], what: str, environ: Mapping[str, str] | None = None) -> str:
        """What a command said, output and errors; it runs in the project.

        Raises: InstallError when it cannot be started, fails, or does not end.
        """
        try:
            done = subprocess.run(
                argv,
                cwd=self.project,
                env={**self.environ, **(environ or {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                encoding="utf-8",
                errors="replace",
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = "did not end" if isinstance(error, subprocess.TimeoutExpired) else "could not be started"
            raise InstallError(f"{what} {reason}", "Run the client once by hand, then try again.") from None
        if done.returncode:
            said = next((line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()), "nothing")
            raise InstallError(f"{what} failed: {said[:200]}", "Run the client once by hand, then try again.")
        return done.stdout + done.stderr

    def hand_over(self, texts: Mapping[str, str]) -> str:
        """The folder of a plugin that is made of these files, which go by their paths in it."""
        folder = os.path.join(self.home, "handed-over")
        for name, text in texts.items():
            path = handover.path(folder, name)
            files.private_folder(os.path.dirname(path))
            files.write(path, text.encode())
        return folder

    def keepmum(self, *arguments: str) -> str:
        """What the `keepmum` command of the bundle said."""
        launch = os.path.join(self.root, "plugin", "launch.py")
        return self.run((sys.executable, "-I", "-S", launch, *arguments), "keepmum")


def said(argv: Sequence[str], machine: Machine) -> str:
    """What a command says in a home of its own, since some clients unpack themselves at their first start.

    Raises: InstallError as `Stage.run`.
    """
    with stage("", machine) as on:
        return on.run(argv, os.path.basename(argv[0]))


@contextlib.contextmanager
def stage(root: str, machine: Machine) -> Iterator[Stage]:
    """A stage that lasts as long as the block."""
    # A client's last child may still write while the folder goes.
    with tempfile.TemporaryDirectory(prefix="keepmum-live-", ignore_cleanup_errors=True) as folder:
        top = os.path.realpath(folder)
        home, project = os.path.join(top, "home"), os.path.join(top, "project")
        os.mkdir(home)
        os.makedirs(os.path.join(project, ".git"))  # its top, without asking git for one
        environ = {name: machine.environ[name] for name in _HANDED_ON if name in machine.environ}
        environ |= {
            "HOME": home,
            "USERPROFILE": home,
            "LANG": "C.UTF-8",
            "KEEPMUM_HOME": os.path.join(home, ".keepmum"),
        }
        yield Stage(root, home, project, environ)
