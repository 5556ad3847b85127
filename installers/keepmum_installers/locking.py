"""A lock on a folder, which the kernel releases when its holder exits, and which leaves no file."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator

from keepmum.system import file_locks
from keepmum_installers.errors import InstallError

__all__ = ["locked"]

_PAUSE = 0.01  # seconds between two attempts
# A network file system may not support locks on folders; the comparison before each replacement still protects files.
_UNSUPPORTED = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOTSUP)


@contextlib.contextmanager
def locked(folder: str, seconds: float = 60) -> Iterator[None]:
    """Hold the exclusive lock on the folder while the block runs.

    Raises: InstallError when another process holds it for that many seconds.
    """
    descriptor = _open(folder)
    try:
        deadline = time.monotonic() + seconds
        while not _take(descriptor):
            if time.monotonic() > deadline:
                raise InstallError(
                    f"another installation has been running in {folder} for {seconds:g} seconds",
                    "Wait until it has finished and run this again.",
                )
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import hashlib
    import tempfile

    def _open(folder: str) -> int:
        # Windows can lock files only, not folders.
        name = "keepmum-" + hashlib.sha256(os.path.realpath(folder).encode()).hexdigest()[:16] + ".lock"
        return os.open(os.path.join(tempfile.gettempdir(), name), os.O_RDWR | os.O_CREAT)

else:

    def _open(folder: str) -> int:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)


def _take(descriptor: int) -> bool:
    try:
        return file_locks.take(descriptor)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        return True
