"""The temporary home and project in which a live trial runs."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from keepmum_installers import files, local_plugin
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine

__all__ = ["SECONDS", "Sandbox", "sandbox", "version_of"]

SECONDS = 120.0  # for one step; a client's first start on a slow disk takes ten
# The variables that a program needs to start at all; no others are inherited.
_INHERITED = ("PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT", "TMPDIR", "TEMP", "TMP")


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Folders and environment of one trial."""

    root: str
    """The folder of the bundle."""
    home: str
    """The user's home."""
    project: str
    environ: Mapping[str, str]

    @property
    def keepmum_home(self) -> str:
        """The folder of the trial's memories."""
        return self.environ["KEEPMUM_HOME"]

    def run(self, argv: Sequence[str], what: str, environ: Mapping[str, str] | None = None) -> str:
        """The output of a command that runs in the project, errors included.

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
            lines = (line.strip() for line in (done.stderr + done.stdout).splitlines())
            first = next((line for line in lines if line), "no output")
            raise InstallError(f"{what} failed: {first[:200]}", "Run the client once by hand, then try again.")
        return done.stdout + done.stderr

    def write_plugin(self, texts: Mapping[str, str]) -> str:
        """The folder of a plugin with these files, which are named by relative path with forward slashes."""
        folder = os.path.join(self.home, "plugin")
        for name, text in texts.items():
            path = local_plugin.path(folder, name)
            files.private_folder(os.path.dirname(path))
            files.write(path, text.encode())
        return folder

    def keepmum(self, *arguments: str) -> str:
        """The output of the bundle's `keepmum` command."""
        launch = os.path.join(self.root, "plugin", "launch.py")
        return self.run((sys.executable, "-I", "-S", launch, *arguments), "keepmum")


def version_of(program: str, machine: Machine) -> str:
    """The version that a program reports; empty without one. It runs in a sandbox: some clients unpack files first.

    Raises: InstallError as `Sandbox.run`.
    """
    with sandbox("", machine) as box:
        found = re.search(r"\d+\.\d+\.\d+", box.run((program, "--version"), os.path.basename(program)))
    return found[0] if found else ""


@contextlib.contextmanager
def sandbox(root: str, machine: Machine) -> Iterator[Sandbox]:
    """A sandbox that is deleted when the block ends."""
    # A last child process of the client may still write while the folder is deleted.
    with tempfile.TemporaryDirectory(prefix="keepmum-live-", ignore_cleanup_errors=True) as folder:
        top = os.path.realpath(folder)
        home, project = os.path.join(top, "home"), os.path.join(top, "project")
        os.mkdir(home)
        os.makedirs(os.path.join(project, ".git"))  # marks the top of the repository without running git
        environ = {name: machine.environ[name] for name in _INHERITED if name in machine.environ}
        environ |= {
            "HOME": home,
            "USERPROFILE": home,
            "LANG": "C.UTF-8",
            "KEEPMUM_HOME": os.path.join(home, ".keepmum"),
        }
        yield Sandbox(root, home, project, environ)
