"""The files of a folder that git lists, and staged content.

Apart from `inputs`, since importing `subprocess` is slow and few runs need it.
"""

from __future__ import annotations

import contextlib
import os

from keepmum_scanner import git_process
from keepmum_scanner.git_process import GitFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GitFailed", "Staged", "listed", "staged"]

_LIST = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
_DIFF = ("diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--diff-filter=AMT")
_SUBMODULE = b"160000"  # file mode; a submodule has no text


def listed(folder: str) -> list[str] | None:
    """Sorted paths of the tracked and new files below `folder`, without ignored ones; None when git lists none.

    A folder among the paths is a repository of its own. The variables that git sets for hooks are ignored: they may
    point to another repository.
    """
    try:
        with git_process.view(folder) as (_, run):
            names = run(*_LIST).split(b"\0")[:-1]
    except GitFailed:
        return None
    return sorted({os.path.join(folder, os.fsdecode(name.rstrip(b"/"))) for name in names}) or None


@contextlib.contextmanager
def staged() -> Iterator[Staged]:
    """What is staged in the repository around the current folder, or in the one that called this as its hook.

    Raises: GitFailed outside of a repository, as all methods do.
    """
    variables = {name: os.environ[name] for name in git_process.LOCATION if name in os.environ}
    with git_process.view(os.getcwd(), variables=variables) as (top, run):
        yield Staged(top, run)


class Staged:
    """The staged files of a repository."""

    def __init__(self, top: str, run: git_process.Run) -> None:
        self._top = top
        self._run = run

    def files(self) -> Iterator[tuple[str, str]]:
        """Path below the top of the work tree and blob id of each staged file, without submodules."""
        # Source: https://git-scm.com/docs/git-diff#_raw_output_format, read 2026-11-21
        fields = self._run(*_DIFF, "--raw", "--no-abbrev", "-z", cwd=self._top).split(b"\0")
        for facts, name in zip(fields[::2], fields[1::2]):
            _, mode, _, blob, _ = facts.split(b" ")
            if mode != _SUBMODULE:
                yield name.decode("utf-8", "surrogateescape"), blob.decode("ascii")

    def content(self, blob: str) -> bytes:
        """The staged content of a file."""
        return self._run("cat-file", "blob", blob, cwd=self._top)

    def new_lines(self, name: str) -> tuple[range, ...]:
        """The lines that are staged as new in one file, from the hunk headers of its diff: `@@ -1,2 +3,4 @@`."""
        found = []
        for line in self._run(*_DIFF, "-U0", "--", f":(top,literal){name}", cwd=self._top).split(b"\n"):
            if line.startswith(b"@@ -"):
                start, _, count = line.split(b" ")[2][1:].partition(b",")
                found.append(range(int(start), int(start) + int(count or b"1")))
        return tuple(found)
