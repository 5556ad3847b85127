"""Runs the `git` program safely, for what cannot be read from the repository's files.

The commands run no code of the repository: the program is taken from an absolute entry of PATH outside the repository,
and hooks, pagers, editors and file-system monitors are not started.
"""

from __future__ import annotations

import os
import sys

from keepmum.system.folders import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["changed_files", "run_git"]

_TIMEOUT = 2.0  # seconds; git usually answers in 2 ms
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
_MAX_CHANGES = 100  # files; a memory needs its subject, not an inventory
_STATUS_TIMEOUT = 3.0  # seconds, for huge working trees
_STATUS = (
    "git -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotePath=false "
    "status --porcelain=v1 -z --no-renames --untracked-files=all --ignore-submodules=all"
).split()
_MEMORIES = ".memories/"  # Keepmum's own files are no changes worth recording


def run_git(arguments: list[str], git_dir: str, outside: str, environ: Mapping[str, str]) -> str | None:
    """The output of `git`; None when there is no git, it takes longer than two seconds, or it fails.

    Args:
        arguments: a plumbing command that only reads, such as `config` or `rev-parse`.
        git_dir: the repository; git neither searches for it nor checks its owner.
        outside: a folder from which no program is run: the working tree.
        environ: PATH and git's own configuration variables are taken from here.
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
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # no console window on Windows
        ) as child:
            try:
                output = child.communicate(timeout=_TIMEOUT)[0]
            except subprocess.TimeoutExpired:
                _kill(child.pid)
                child.kill()
                return None
    except OSError:
        return None
    return output.decode("utf-8", "surrogateescape") if child.returncode == 0 else None


def changed_files(root: str) -> list[str] | None:
    """The paths that differ from the commit or are new, sorted, relative to the top of the working tree.

    None when git needs too long, or git or GitPython is missing.
    """
    import logging  # both imports are slow, and only stores of files need this function

    try:
        import git  # 75 ms, for the first memory stored in a repository
    except ImportError:  # also raised when the program is missing
        return None
    logging.getLogger("git").setLevel(logging.CRITICAL)  # keeps its messages out of the server's standard error
    try:
        with git.Repo(root, search_parent_directories=True) as repository:
            output = repository.git.execute(
                _STATUS,
                kill_after_timeout=_STATUS_TIMEOUT,
                strip_newline_in_stdout=False,
                env={"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"},
            )
    except (git.exc.GitError, OSError, ValueError):
        return None
    names = [entry[3:] for entry in str(output).split("\0") if len(entry) > 3]
    return sorted(name for name in names if not name.startswith(_MEMORIES))[:_MAX_CHANGES]


def _program(outside: str, environ: Mapping[str, str]) -> str | None:
    name = "git.exe" if sys.platform == "win32" else "git"
    for entry in environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(entry, name)
        is_usable = os.path.isabs(entry) and os.access(path, os.X_OK)
        if is_usable and not is_inside(os.path.realpath(path), os.path.realpath(outside)):
            return path
    return None


def _environment(git_dir: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables without those that select another repository, write traces or run a program."""
    kept = {
        name: value for name, value in environ.items() if not name.startswith("GIT_") or name.startswith("GIT_CONFIG")
    }
    return kept | _QUIET | {"GIT_DIR": git_dir}


def _kill(group: int) -> None:
    """Kill the process group, since `git` may be a wrapper script with a child of its own."""
    if sys.platform != "win32":
        import signal

        os.killpg(group, signal.SIGKILL)
