"""A user of a command-line client: home, project and environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from clients.terminal import LIMIT, Terminal, running

__all__ = ["User"]


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
    def terminal(self, *arguments: str) -> Iterator[Terminal]:
        """The interactive program in a terminal."""
        with running([*self.program, *arguments], self.project, self.environ) as child:
            yield Terminal(child)
