"""A home in which a version is tried: empty, except for the bytecode, which is that of the user's home."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

from keepmum_hooks import home as home_rules
from keepmum_installers.machine import Machine

__all__ = ["create"]


@contextlib.contextmanager
def create(prefix: str, machine: Machine) -> Iterator[str]:
    """The folder, which is removed at the end of the block.

    Its processes read and write the bytecode in the user's home, so a version is compiled once, and the first session
    after an installation finds everything compiled. Python compares bytecode with the time and size of its source.
    """
    with tempfile.TemporaryDirectory(prefix=prefix) as home:
        _link_bytecode(home, machine.home)
        yield home


def _link_bytecode(home: str, of_user: str) -> None:
    """Link the user's cache, unless it is missing for some reason or others can write it; processes then compile."""
    cache = os.path.join(of_user, "cache", "pycache")
    with contextlib.suppress(OSError):  # a disk is read-only, or Windows forbids links
        home_rules.make_private(cache)
        if home_rules.is_private(cache, of_user):
            os.mkdir(os.path.join(home, "cache"), 0o700)
            os.symlink(cache, os.path.join(home, "cache", "pycache"), target_is_directory=True)
