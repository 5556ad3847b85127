"""One process at a time over the SQLite file of a server: either it serves, or it is being replaced."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from keepmum.core.errors import SettingsError
from keepmum.system import file_locks, private_files

__all__ = ["alone"]


@contextlib.contextmanager
def alone(home: str) -> Iterator[None]:
    """Hold the lock of the server's state during the block.

    Raises: SettingsError when another process holds it.
    """
    private_files.make_folder(home)
    descriptor = os.open(os.path.join(home, "server.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not file_locks.take(descriptor):
            raise SettingsError(f"another process serves or restores {home}; stop it first")
        yield
    finally:
        os.close(descriptor)
