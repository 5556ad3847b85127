"""Puts the code of a version into the home, makes it the current one, and removes those that are no longer needed."""

from __future__ import annotations

import contextlib
import os
import shutil
import time

from keepmum_hooks import home as home_rules
from keepmum_installers.app import layout
from keepmum_installers.app.bundle import Bundle, bundle_at
from keepmum_installers.errors import InstallError

__all__ = ["place", "planned_folder", "prune", "remove", "switch"]

_NEW, _OLD = ".new-", ".old-"  # prefixes of folders that are being written or removed
_NEXT_STEP = "Get a complete copy, then run its installer."
_NEEDED = ("hooks/run.py", "installers/__main__.py", "plugin/launch.py", "pyproject.toml")


def planned_folder(bundle: Bundle, version: str, home: str) -> str:
    """The folder that the bundle gets; an existing one has the same files.

    Raises: InstallError when the bundle is incomplete.
    """
    missing = [name for name in _NEEDED if name not in bundle.paths]
    if missing:
        raise InstallError(f"{bundle.folder} is not a complete Keepmum: {missing[0]} is missing", _NEXT_STEP)
    if not layout.is_version(version):
        raise InstallError(f"{bundle.folder} has no version such as 0.2.0", _NEXT_STEP)
    digest = bundle.digest
    usual = os.path.join(layout.folder(home), layout.folder_name(version))
    if not os.path.lexists(usual) or bundle_at(usual).digest == digest:
        return usual
    return os.path.join(layout.folder(home), layout.folder_name(version, digest))


def place(bundle: Bundle, version: str, home: str) -> str:
    """The folder with a copy of the bundle, written now or before; the caller holds the lock on the app folder.

    Raises: InstallError when it cannot be written; the versions there are unchanged.
    """
    path = planned_folder(bundle, version, home)
    if os.path.isdir(path) and bundle_at(path).digest == bundle.digest:
        return path
    unfinished = os.path.join(layout.folder(home), f"{_NEW}{os.getpid()}-{os.urandom(4).hex()}")
    try:
        _copy(bundle, unfinished)
        if os.path.lexists(path):  # a folder of the same digest in its name, but damaged
            _discard(path)
        os.rename(unfinished, path)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        reason = (error.strerror or "unknown reason").lower()
        raise InstallError(
            f"could not copy the code to {path}: {reason}", "Check the permissions and the free space, then try again."
        ) from None
    return path


def _copy(bundle: Bundle, folder: str) -> None:
    """Write the files, writable by the user only, whatever the umask is, and flush them to the disk."""
    made = {""}
    os.mkdir(folder, 0o755)
    for name, source in bundle.paths.items():
        parts = name.split("/")
        for depth in range(1, len(parts)):
            part = "/".join(parts[:depth])
            if part not in made:
                os.mkdir(os.path.join(folder, *parts[:depth]), 0o755)
                made.add(part)
        with open(source, "rb") as file:
            content = file.read()
        mode = 0o755 if name.endswith(".sh") else 0o644
        descriptor = os.open(os.path.join(folder, *parts), _FLAGS, mode)
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def switch(path: str, home: str) -> None:
    """Make this version the current one, and the one before it the previous; the caller holds the lock.

    Raises: InstallError when a link cannot be written.
    """
    before = layout.target(layout.current(home))
    if before == os.path.realpath(path):
        return
    if before is not None:
        layout.set_link(layout.previous(home), before)
    layout.set_link(layout.current(home), path)


def prune(home: str) -> None:
    """Remove all versions but the current and the previous one, and what killed runs left, under the caller's lock."""
    kept = {layout.target(link) for link in (layout.current(home), layout.previous(home))}
    for path in layout.versions(home):
        if os.path.realpath(path) not in kept:
            _discard(path)
            shutil.rmtree(_bytecode(path, home), ignore_errors=True)
    for name in os.listdir(layout.folder(home)):
        path = os.path.join(layout.folder(home), name)
        if name.startswith((_NEW, _OLD)):
            shutil.rmtree(path, ignore_errors=True)
        elif name.endswith(".part"):
            with contextlib.suppress(OSError):
                os.unlink(path)


def remove(home: str) -> None:
    """Remove all versions and links; other files in the folder stay."""
    with contextlib.suppress(OSError):
        for link in (layout.current(home), layout.previous(home)):
            if layout.target(link) is not None or os.path.islink(link):
                (os.rmdir if os.name == "nt" else os.unlink)(link)
        with contextlib.suppress(FileNotFoundError):
            prune(home)
            os.unlink(layout.origin(home))
        os.rmdir(layout.folder(home))


def _discard(path: str) -> None:
    """Remove a version: rename it first, so that a run that is killed leaves no part of it under its name."""
    with contextlib.suppress(OSError):
        unused = os.path.join(os.path.dirname(path), f"{_OLD}{time.time_ns()}-{os.path.basename(path)}")
        os.rename(path, unused)
        shutil.rmtree(unused, ignore_errors=True)


def _bytecode(path: str, home: str) -> str:
    """The folder of the bytecode of a version."""
    return os.path.join(home, "cache", "pycache") + home_rules.follow(path)[0]
