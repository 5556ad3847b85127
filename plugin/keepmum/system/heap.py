"""Returns freed heap memory to the system, on Linux; other systems do so themselves.

Reading a long text and loading the model allocate megabytes for a moment. glibc keeps freed memory for reuse, per
process and thread, which adds up over many server processes that rarely need it again.
"""

from __future__ import annotations

import sys

__all__ = ["limit_free_memory", "release_free_memory"]

# Source: https://man7.org/linux/man-pages/man3/mallopt.3.html, read 2026-11-21
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_MAX_FREE = 1 << 20  # bytes; enough for a query, less than a long text needs


def limit_free_memory() -> None:
    """Make glibc return free memory beyond one megabyte, from now on, and use one arena for all threads."""
    _call("mallopt", _ARENA_MAX, 1)
    _call("mallopt", _TRIM_THRESHOLD, _MAX_FREE)
    _call("mallopt", _MMAP_THRESHOLD, _MAX_FREE)


def release_free_memory() -> None:
    """Return all free memory now; takes some milliseconds when that is much."""
    # Source: https://man7.org/linux/man-pages/man3/malloc_trim.3.html, read 2026-11-21
    _call("malloc_trim", 0)


def _call(name: str, *numbers: int) -> None:
    """Call a function of the C library if it exists; only glibc has these."""
    if sys.platform == "linux":
        import ctypes  # numpy imports it as well

        function = getattr(ctypes.CDLL(None), name, None)
        if function is not None:
            function(*numbers)
