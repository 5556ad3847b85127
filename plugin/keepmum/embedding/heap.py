"""Memory that was used and is free again, given back to the machine instead of being kept for another time.

To read one long text takes megabytes for a moment, and so does opening the model. The C library of Linux keeps what was
freed, for each process and each of its threads; many servers run side by side and seldom do either.
"""

from __future__ import annotations

import sys

__all__ = ["give_back"]

if sys.platform == "linux":

    def give_back() -> None:
        """Give it back; takes a few milliseconds, and does nothing where the C library has no such function."""
        import ctypes  # numpy has imported it already wherever this is called

        # Source: https://man7.org/linux/man-pages/man3/malloc_trim.3.html, read 2026-11-21
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(ctypes.c_size_t(0))

else:

    def give_back() -> None:
        """Nothing: other systems see to that themselves."""
