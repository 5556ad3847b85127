"""A lock on a folder, which the kernel frees when its holder dies and which leaves no file behind."""

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

_PAUSE = 0.01  # seconds between two tries
# A network file system may know no locks on folders; the comparison before each replacement still guards the file.
_NO_LOCKS_HERE = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOTSUP)


@contextlib.contextmanager
def locked(folder: str, seconds: float = 60) -> Iterator[None]:
    """Holds the only lock on folder while the block runs.

    Raises: InstallError when somebody else held it all the time.
    """
    descriptor = _open(folder)
    try:
        deadline = time.monotonic() + seconds
        while not _take(descriptor):
            if time.monotonic() > deadline:
                raise InstallError(
                    f"another installation has been at work in {folder} for {seconds:g} seconds",
                    "Wait until it has ended and run this again.",
                )
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import hashlib
    import tempfile

    def _open(folder: str) -> int:
        # Windows locks files only, and never a folder.
        name = "keepmum-" + hashlib.sha256(os.path.realpath(folder).encode()).hexdigest()[:16] + ".lock"
        return os.open(os.path.join(tempfile.gettempdir(), name), os.O_RDWR | os.O_CREAT)

else:

    def _open(folder: str) -> int:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)


def _take(descriptor: int) -> bool:
    try:
        return file_locks.take(descriptor)
    except OSError as error:
        if error.errno not in _NO_LOCKS_HERE:
            raise
        return True
