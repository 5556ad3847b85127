"""The broom: removes what sessions left behind that nobody has resumed for two months, and images as old."""

from __future__ import annotations

import time

from keepmum_hooks import files, places
from keepmum_hooks.system import calls

__all__ = ["sweep"]

_DAY = 86_400  # seconds
_KEEP = 60 * _DAY
_BATCH = 500  # files looked at in one sweep: some 2 ms, once a day


def sweep(home: str) -> None:
    """Remove old session files and images, and note that it was done; an image that is still in use is made anew."""
    try:
        files.touch(f"{home}/state/swept")
    except OSError:
        return
    for folder in (places.sessions_folder(home), places.module_cache_folder(home)):
        _sweep(folder)


def _sweep(folder: str) -> None:
    """Remove old files; each day looks at another part where there are many."""
    try:
        names = sorted(calls.listdir(folder))
    except OSError:
        return
    start = int(time.time() // _DAY) * _BATCH % max(len(names), 1)
    for name in (names[start:] + names[:start])[:_BATCH]:
        path = f"{folder}/{name}"
        if _KEEP < files.seconds_since_change(path) < float("inf"):
            files.remove(path)
