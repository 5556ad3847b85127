"""One question to the `git` program, for what reading its files by hand cannot answer.

The child runs nothing that a repository brings along: the program is taken from an absolute entry of PATH outside
the repository, and only commands that start no hook, pager, editor or file-system monitor may be asked.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ask"]

_LIMIT = 2.0  # seconds; a healthy git answers in 2 ms
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def ask(arguments: list[str], git_dir: str, outside: str, environ: Mapping[str, str]) -> str | None:
    """What git prints, or None when there is no git, it takes longer than two seconds, or it fails.

    Args:
        arguments: a plumbing command that only reads, such as `config` or `rev-parse`.
        git_dir: the repository, named outright; git neither searches for it nor asks who owns it.
        outside: a folder from which no program is taken, the working tree.
        environ: PATH and git's own configuration variables come from here.
    """
    program = _program(outside, environ)
    if program is None:
        return None
    import subprocess

    try:
        with subprocess.Popen(
            [program, "--no-pager", *arguments],
            stdin=subprocess.DEVNULL,  # the server's own standard input carries its protocol
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=git_dir,
            env=_environment(git_dir, environ),
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # no console flashes up on Windows
        ) as child:
            try:
                output = child.communicate(timeout=_LIMIT)[0]
            except subprocess.TimeoutExpired:
                _kill(child.pid)
                child.kill()
                return None
    except OSError:
        return None
    return output.decode("utf-8", "surrogateescape") if child.returncode == 0 else None


def _program(outside: str, environ: Mapping[str, str]) -> str | None:
    name = "git.exe" if sys.platform == "win32" else "git"
    for entry in environ.get("PATH", os.defpath).split(os.pathsep):
        candidate = os.path.join(entry, name)
        if os.path.isabs(entry) and os.access(candidate, os.X_OK) and not _lies_in(candidate, outside):
            return candidate
    return None


def _lies_in(path: str, folder: str) -> bool:
    return (os.path.realpath(path) + os.sep).startswith(os.path.realpath(folder).rstrip(os.sep) + os.sep)


def _environment(git_dir: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The caller's variables without those by which git would take another repository, trace, or run a program."""
    kept = {
        name: value for name, value in environ.items() if not name.startswith("GIT_") or name.startswith("GIT_CONFIG")
    }
    return kept | _QUIET | {"GIT_DIR": git_dir}


def _kill(group: int) -> None:
    """End the child with whatever it started: a wrapper's grandchild would live on."""
    if sys.platform != "win32":
        import signal

        os.killpg(group, signal.SIGKILL)
