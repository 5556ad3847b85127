"""Runs `git` for what cannot be read from the files of a repository or its working tree."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["changed_files", "run_git"]

_TIMEOUT = 2.0  # seconds; git usually answers in 2 ms
_MAX_CHANGES = 100  # files; a memory needs its subject, not an inventory
_STATUS_TIMEOUT = 3.0  # seconds, for huge working trees
_STATUS = "status --porcelain=v1 -z --no-renames --untracked-files=all --ignore-submodules=all".split()
_MEMORIES = ".memories/"  # Keepmum's own files are not changes worth recording


def run_git(arguments: list[str], git_dir: str, root: str, environ: Mapping[str, str]) -> str | None:
    """The output of `git`; None when there is no git, it takes longer than two seconds, or it fails.

    Args:
        arguments: a command that only reports names or settings, such as `config` or `rev-parse`.
        git_dir: the repository; git neither searches for it nor checks its owner.
        root: the top of its working tree; no program in it is run.
        environ: PATH and git's own configuration variables are taken from here.
    """
    from keepmum_scanner import git_process  # imports subprocess, which is slow

    variables = {name: value for name, value in environ.items() if name.startswith("GIT_CONFIG")}
    try:
        output = git_process.run(arguments, root, environ, {**variables, "GIT_DIR": git_dir}, _TIMEOUT)
    except git_process.GitFailed:
        return None
    return output.decode("utf-8", "surrogateescape")


def changed_files(git_dir: str, root: str, environ: Mapping[str, str]) -> list[str] | None:
    """The paths that differ from the commit or are new, sorted, relative to `root`, the top of the working tree.

    None when git is missing, fails, or needs too long.
    """
    from keepmum_scanner import git_process

    variables = {"GIT_DIR": git_dir, "GIT_WORK_TREE": root}
    try:
        with git_process.view(root, environ, variables, _STATUS_TIMEOUT) as (_, run):
            output = run(*_STATUS).decode("utf-8", "surrogateescape")
    except git_process.GitFailed:
        return None
    names = [entry[3:] for entry in output.split("\0") if len(entry) > 3]
    return sorted(name for name in names if not name.startswith(_MEMORIES))[:_MAX_CHANGES]
