"""One cache of bytecode for all processes that the tests of one process start."""

from __future__ import annotations

import atexit
import contextlib
import functools
import shutil
import tempfile
from pathlib import Path

__all__ = ["share"]


def share(keepmum_home: Path) -> None:
    """Let the processes of a KEEPMUM_HOME use the bytecode that those of other tests made.

    Without it a process compiles every module that it imports, those of the standard library and of packages too: most
    of the time of a short command, and half of that of a server's start. The folder is linked, so a test that reads all
    files of its home does not read these.
    """
    cache = keepmum_home / "cache"
    for folder in (keepmum_home, cache):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(OSError):  # Windows may forbid links; a home that is used again has one
        (cache / "pycache").symlink_to(_folder(), target_is_directory=True)


@functools.cache
def _folder() -> str:
    folder = tempfile.mkdtemp(prefix="bytecode-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
