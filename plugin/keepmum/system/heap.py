"""Memory that was used and is free again, given back to the machine instead of being kept for another time.

To read one long text takes megabytes for a moment, and so does opening the model. The C library of Linux keeps what was
freed, for each process and each of its threads; many servers run side by side and seldom do either.
"""

from __future__ import annotations

import sys

__all__ = ["limit_free_memory", "release_free_memory"]

if sys.platform == "linux":
    # Source: https://man7.org/linux/man-pages/man3/mallopt.3.html, read 2026-11-21
    _TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
    _KEPT = 1 << 20  # bytes: what a question needs comes from what is kept, what a long text needs does not

    def limit_free_memory() -> None:
        """Have the C library give back whatever is free beyond a megabyte, from now on.

        Left to itself it keeps as much as was ever free at once, and that for each thread; few of ours work at once.
        """
        _call("mallopt", _ARENA_MAX, 1)
        _call("mallopt", _TRIM_THRESHOLD, _KEPT)
        _call("mallopt", _MMAP_THRESHOLD, _KEPT)

    def release_free_memory() -> None:
        """Give back what is free now; takes some milliseconds where that is much."""
        # Source: https://man7.org/linux/man-pages/man3/malloc_trim.3.html, read 2026-11-21
        _call("malloc_trim", 0)

    def _call(name: str, *numbers: int) -> None:
        """Call a function of the C library, where it has it; others than glibc do not."""
        import ctypes  # numpy imports it as well

        function = getattr(ctypes.CDLL(None), name, None)
        if function is not None:
            function(*numbers)

else:

    def limit_free_memory() -> None:
        """Nothing: other systems see to that themselves."""

    def release_free_memory() -> None:
        """Nothing, as above."""
