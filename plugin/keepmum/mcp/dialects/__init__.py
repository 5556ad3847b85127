"""The tool sets a server can speak, by name. A new one is one module and one line here.

A dialect is a `Surface`, cheap to import, and where its handlers are found when they are first needed.
"""

from __future__ import annotations

from keepmum.mcp.dialects import keepmum, koi, shared
from keepmum.mcp.surface import Surface

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from keepmum.mcp.surface import OpenHandlers

__all__ = ["DEFAULT", "DIALECTS", "OFF"]

DEFAULT = "keepmum"
DIALECTS: Mapping[str, tuple[Surface, OpenHandlers]] = {
    "keepmum": (keepmum.SURFACE, keepmum.open_handlers),
    "koi": (koi.SURFACE, koi.open_handlers),
    "shared": (shared.SURFACE, shared.open_handlers),
}

# What is served where Keepmum is switched off: nothing, so that an agent does not even know of it.
OFF = Surface("")
