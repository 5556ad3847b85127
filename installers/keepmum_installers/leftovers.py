"""The files in Keepmum's home: those that uninstalling removes, and those that only a purge removes.

Everything is removed by its known name, so other files in the folder of KEEPMUM_HOME stay.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator

from keepmum.core.errors import SettingsError
from keepmum.embedding.local_model import MINILM
from keepmum.workspace import settings
from keepmum_installers import files
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine

__all__ = ["clear", "elsewhere", "memories", "moved_aside", "purge", "remove_if_empty"]

_STATE = ("heartbeat", "sessions", "briefings")
_STORE = "memory.db"
_OUTBOX = ("outbox.db", "outbox-")  # queued writes, and the locks for sending them
_SETTINGS = ("config.toml", "credentials.toml", "allow.toml", "fingerprint.key")
_CACHES = ("pycache", "modules", "vectors-", "packed-")  # prefixes of names; each is created again when missing
_COPIES = ("servers", os.path.join("cache", "markdown"))  # local copies of memories that are stored elsewhere


def clear(machine: Machine) -> None:
    """Remove everything that can be created again: runtime, caches, and the state of hooks and sessions.

    Raises: InstallError when something may not be removed.
    """
    cache = os.path.join(machine.home, "cache")
    caches = [os.path.join(cache, name) for name in _names(cache) if name.startswith(_CACHES)]
    trees = [*caches, *(machine.state(name) for name in _STATE)]
    runtime = os.path.join(machine.home, "runtime")
    if os.path.isfile(os.path.join(runtime, "pyvenv.cfg")):
        trees.append(runtime)
    models = os.path.join(machine.home, "models")
    trees += [os.path.join(models, name) for name in _names(models) if name.startswith(MINILM.name)]
    for tree in trees:
        _remove_tree(tree)
    for path in (os.path.join(models, "lock"), *map(machine.state, ("swept", "live.json", "lexical-only"))):
        with contextlib.suppress(OSError):
            os.unlink(path)
    for folder in ("cache", "bin", "state", "models"):
        remove_if_empty(os.path.join(machine.home, folder))
    remove_if_empty(machine.home)


def memories(machine: Machine) -> list[str]:
    """The files that hold memories, settings and keys, sorted."""
    return sorted(_kept(machine))


def purge(machine: Machine) -> int:
    """Remove memories, their backups, settings and keys permanently; returns the number of files.

    Raises: InstallError when something may not be removed.
    """
    paths = memories(machine)
    try:
        for path in paths:
            os.unlink(path)
    except OSError as error:
        raise _removal_error(error) from None
    _remove_tree(machine.state("backups"))
    for copies in _COPIES:
        _remove_tree(os.path.join(machine.home, copies))
    for folder in ("backups", "state", "cache"):
        remove_if_empty(os.path.join(machine.home, folder))
    remove_if_empty(machine.home)
    return len(paths)


def moved_aside(machine: Machine) -> list[str]:
    """Damaged stores that were moved aside and kept for recovery by hand."""
    found = (path for path in memories(machine) if os.path.basename(path).startswith(f"{_STORE}.corrupt-"))
    return [path for path in found if not path.endswith(("-wal", "-shm"))]


def elsewhere(machine: Machine) -> str | None:
    """The path of a store outside Keepmum's home, as the user's settings name it; None when there is none."""
    try:
        path = settings.load({"KEEPMUM_HOME": machine.home}, None).store.path
    except SettingsError:  # damaged settings name no store
        return None
    inside = path is None or files.lies_in(path, machine.home)
    return None if inside or not os.path.exists(path or "") else path


def _kept(machine: Machine) -> Iterator[str]:
    for name in _names(machine.home):
        if name.startswith((_STORE, *_OUTBOX)) or name in _SETTINGS:
            yield os.path.join(machine.home, name)
    folder = os.path.join(machine.home, "backups")
    for name in _names(folder):
        if name.startswith("memory-"):
            yield os.path.join(folder, name)
    for copies in _COPIES:
        for top, _, names in os.walk(os.path.join(machine.home, copies)):
            yield from (os.path.join(top, name) for name in names)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _remove_tree(path: str) -> None:
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
    except OSError as error:
        raise _removal_error(error) from None


def remove_if_empty(path: str) -> None:
    """Remove a folder that has no files."""
    with contextlib.suppress(OSError):
        os.rmdir(path)


def _removal_error(error: OSError) -> InstallError:
    return InstallError(
        f"could not remove {error.filename}: {error.strerror}", "Close the programs that use it, then run this again."
    )
