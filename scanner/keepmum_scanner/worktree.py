"""The files of a folder inside a git work tree, as git sees them: what is tracked or new, and not what is ignored."""

from __future__ import annotations

import os
import subprocess

__all__ = ["files"]

# A repository's settings name programs that git would run; listing needs none. Ignored files stay out, tracked ones in.
_GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false")
_LIST = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
_SECONDS = 60
_OWN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")  # set inside hooks, for another folder maybe


def files(folder: str) -> list[str] | None:
    """Paths of the files below `folder`, in order; None where git knows none of them: outside of a work tree, say.

    A folder among them is a repository of its own.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _OWN}
    try:
        done = subprocess.run(
            [*_GIT, *_LIST], capture_output=True, check=False, cwd=folder, timeout=_SECONDS, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    names = done.stdout.split(b"\0")[:-1]
    if done.returncode != 0 or not names:
        return None
    return sorted({os.path.join(folder, os.fsdecode(name.rstrip(b"/"))) for name in names})
