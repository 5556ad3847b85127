"""What is staged for the next commit in the git repository around this folder: whole files, of which new lines count.

A file is judged as a whole, since what names a secret may be an old line; what was committed before is not held
against the one who commits now.
"""

from __future__ import annotations

import subprocess

from keepmum_scanner.inputs import BINARY, Input, Unreadable, decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["staged"]

# A repository's settings name programs that git would run; none of these commands needs one.
_GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
_DIFF = ("diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--diff-filter=AMT")
_GITLINK = b"160000"  # the mode of a submodule, which has no text
_SECONDS = 60


def staged() -> Iterator[Input]:
    """Each staged file with the lines that are new.

    Raises: Unreadable outside of a repository, or without git.
    """
    top = _git("rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").rstrip("\n")
    # Source: https://git-scm.com/docs/git-diff#_raw_output_format, read 2026-11-21
    fields = _git(*_DIFF, "--raw", "--no-abbrev", "-z", cwd=top).split(b"\0")
    for facts, raw in zip(fields[::2], fields[1::2]):
        _, mode, _, blob, _ = facts.split(b" ")
        name = raw.decode("utf-8", "surrogateescape")
        if mode != _GITLINK:
            one = _input(name, blob.decode("ascii"), top)
            if one.problem != BINARY:
                yield one


def _input(name: str, blob: str, top: str) -> Input:
    try:
        text = decoded(_git("cat-file", "blob", blob, cwd=top), name)
    except Unreadable as reason:
        return Input(name, problem=str(reason))
    return Input(name, text, lines=_new_lines(_git(*_DIFF, "-U0", "--", f":(top,literal){name}", cwd=top)))


def _new_lines(diff: bytes) -> tuple[range, ...]:
    """The lines that the diff of one file adds, from the heads of its hunks: `@@ -1,2 +3,4 @@`."""
    found = []
    for line in diff.split(b"\n"):
        if line.startswith(b"@@ -"):
            start, _, count = line.split(b" ")[2][1:].partition(b",")
            found.append(range(int(start), int(start) + int(count or b"1")))
    return tuple(found)


def _git(*words: str, cwd: str | None = None) -> bytes:
    try:
        done = subprocess.run([*_GIT, *words], capture_output=True, check=False, cwd=cwd, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        raise Unreadable("git cannot be run, or takes too long") from None
    if done.returncode != 0:
        raise Unreadable("git says no: this is no repository, or a damaged one")
    return done.stdout
