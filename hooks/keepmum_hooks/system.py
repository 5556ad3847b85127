"""The built-in module of system calls as `calls`, and the path functions that a hook needs.

`import os` adds 15 % to a hook's run time on Python 3.11 and 35 % on 3.9. Paths are joined with "/", also on Windows.
"""

from __future__ import annotations

import sys

from keepmum_hooks.home import exists, follow

if sys.platform == "win32":
    import nt as calls
else:
    import posix as calls

__all__ = [
    "ancestors",
    "calls",
    "exists",
    "has_terminal",
    "is_shared",
    "real_path",
]


def has_terminal() -> bool:
    """Whether this process has a controlling terminal, so that a person may read the output; on Windows always True."""
    if sys.platform == "win32":
        return True
    try:
        calls.close(calls.open("/dev/tty", calls.O_RDONLY | calls.O_NOCTTY))
    except OSError:
        return False
    return True


def is_shared(folder: str) -> bool:
    """Whether the folder is shared by all users, as `/tmp` is: world-writable, with the sticky bit."""
    mode = calls.stat(folder or "/").st_mode
    return bool(mode & 0o1000 and mode & 0o002)


def ancestors(folder: str) -> list[str]:
    """The absolute folder and its parents up to the file system's root, each without a trailing "/"."""
    path = (folder.replace("\\", "/") if sys.platform == "win32" else folder).rstrip("/")
    folders = [path]
    while "/" in path:
        path = path.rpartition("/")[0]
        folders.append(path)
    return folders


def real_path(path: str) -> str:
    """The absolute path without symbolic links, dots and double slashes, as `os.path.realpath` gives it.

    On Windows also in lower case. Missing names are kept; a path with a loop of links is returned unchanged.
    """
    return follow(path)[0]
