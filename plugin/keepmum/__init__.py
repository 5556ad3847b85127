"""Keepmum: one memory that coding agents share and that never keeps a secret.

For programs: `from keepmum import open_memory` (see `keepmum.service.opening`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.service.opening import open_memory

__all__ = ["open_memory"]


def __getattr__(name: str) -> object:
    """What programs import, loaded when they do: servers and hooks start without it."""
    if name == "open_memory":
        from keepmum.service import opening

        return opening.open_memory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
