"""Asks git for the files of a folder and for staged content.

Apart from `inputs`, since importing `subprocess` is slow and few runs need it.
"""

from __future__ import annotations

import os
import subprocess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GitFailed", "content", "listed", "new_lines", "staged", "top"]

# A repository's settings may name programs that git would start; none of these commands needs one.
_GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
_LIST = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
_DIFF = ("diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--diff-filter=AMT")
_SUBMODULE = b"160000"  # file mode; a submodule has no text
_TIMEOUT = 60  # seconds
# Git sets these for hooks; they may point to another repository than the folder that is scanned.
_HOOK_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


class GitFailed(Exception):
    """Git gave no answer; the message says why."""


def listed(folder: str) -> list[str] | None:
    """Sorted paths of the tracked and new files below `folder`, without ignored ones; None when git lists none.

    A folder among the paths is a repository of its own.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _HOOK_VARIABLES}
    try:
        names = _git(*_LIST, cwd=folder, environment=environment).split(b"\0")[:-1]
    except GitFailed:
        return None
    return sorted({os.path.join(folder, os.fsdecode(name.rstrip(b"/"))) for name in names}) or None


def top() -> str:
    """The top folder of the repository around the current folder.

    Raises: GitFailed outside of a repository.
    """
    return _git("rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")


def staged(top: str) -> Iterator[tuple[str, str]]:
    """Path below `top` and blob id of each staged file, without submodules.

    Raises: GitFailed, as all functions below do.
    """
    # Source: https://git-scm.com/docs/git-diff#_raw_output_format, read 2026-11-21
    fields = _git(*_DIFF, "--raw", "--no-abbrev", "-z", cwd=top).split(b"\0")
    for facts, name in zip(fields[::2], fields[1::2]):
        _, mode, _, blob, _ = facts.split(b" ")
        if mode != _SUBMODULE:
            yield name.decode("utf-8", "surrogateescape"), blob.decode("ascii")


def content(blob: str, top: str) -> bytes:
    """The staged content of a file."""
    return _git("cat-file", "blob", blob, cwd=top)


def new_lines(name: str, top: str) -> tuple[range, ...]:
    """The lines that are staged as new in one file, from the hunk headers of its diff: `@@ -1,2 +3,4 @@`."""
    found = []
    for line in _git(*_DIFF, "-U0", "--", f":(top,literal){name}", cwd=top).split(b"\n"):
        if line.startswith(b"@@ -"):
            start, _, count = line.split(b" ")[2][1:].partition(b",")
            found.append(range(int(start), int(start) + int(count or b"1")))
    return tuple(found)


def _git(*words: str, cwd: str | None = None, environment: dict[str, str] | None = None) -> bytes:
    try:
        done = subprocess.run(
            [*_GIT, *words], capture_output=True, check=False, cwd=cwd, timeout=_TIMEOUT, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        raise GitFailed("git cannot be started, or takes too long") from None
    if done.returncode != 0:
        raise GitFailed("git failed: not a repository, or a damaged one")
    return done.stdout
