"""What Keepmum leaves in its home: what an uninstallation clears away, and what only a purge takes.

Everything is removed by its known name. Whoever set KEEPMUM_HOME to a folder with other things in it keeps those.
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

__all__ = ["clear", "elsewhere", "memories", "purge", "set_aside"]

_STATE = ("heartbeat", "sessions", "briefings")
_STORE = "memory.db"
_OUTBOX = ("outbox.db", "outbox-")  # queued writes, and the locks for sending them
_OWN_WORDS = ("config.toml", "credentials.toml", "allow.toml", "fingerprint.key")
_CACHES = ("pycache", "modules", "vectors-", "packed-")  # beginnings of names; all of it is made anew where it lacks
_COPIES = ("servers", os.path.join("cache", "markdown"))  # what this machine knows of memories that lie elsewhere


def clear(machine: Machine) -> None:
    """Removes what can be made anew: runtime, caches, and the state of hooks and sessions.

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
    for path in (os.path.join(models, "lock"), machine.state("swept"), machine.state("live.json")):
        with contextlib.suppress(OSError):
            os.unlink(path)
    for folder in ("cache", "bin", "state", "models"):
        _remove_if_empty(os.path.join(machine.home, folder))
    _remove_if_empty(machine.home)


def memories(machine: Machine) -> list[str]:
    """The files that hold memories, settings and keys, sorted."""
    return sorted(_kept(machine))


def purge(machine: Machine) -> int:
    """Removes memories, their backups, settings and keys for good; how many files that were.

    Raises: InstallError when something may not be removed.
    """
    doomed = memories(machine)
    try:
        for path in doomed:
            os.unlink(path)
    except OSError as error:
        raise _kept_back(error) from None
    _remove_tree(machine.state("backups"))
    for copies in _COPIES:
        _remove_tree(os.path.join(machine.home, copies))
    for folder in ("backups", "state", "cache"):
        _remove_if_empty(os.path.join(machine.home, folder))
    _remove_if_empty(machine.home)
    return len(doomed)


def set_aside(machine: Machine) -> list[str]:
    """Damaged stores that were moved out of the way, and are kept for a rescue by hand."""
    found = (path for path in memories(machine) if os.path.basename(path).startswith(f"{_STORE}.corrupt-"))
    return [path for path in found if not path.endswith(("-wal", "-shm"))]


def elsewhere(machine: Machine) -> str | None:
    """The store that the user's settings put outside Keepmum's home; None when there is none."""
    try:
        path = settings.load({"KEEPMUM_HOME": machine.home}, None).store.path
    except SettingsError:  # nobody can say what they meant
        return None
    inside = path is None or files.lies_in(path, machine.home)
    return None if inside or not os.path.exists(path or "") else path


def _kept(machine: Machine) -> Iterator[str]:
    for name in _names(machine.home):
        if name.startswith((_STORE, *_OUTBOX)) or name in _OWN_WORDS:
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
        raise _kept_back(error) from None


def _remove_if_empty(path: str) -> None:
    with contextlib.suppress(OSError):
        os.rmdir(path)


def _kept_back(error: OSError) -> InstallError:
    return InstallError(
        f"could not remove {error.filename}: {error.strerror}", "Close what uses it, then run this again."
    )
