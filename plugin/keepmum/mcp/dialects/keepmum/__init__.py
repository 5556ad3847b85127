"""The default dialect: our own tools."""

from __future__ import annotations

from keepmum.mcp.dialects.keepmum.prompts import PROMPTS
from keepmum.mcp.dialects.keepmum.resources import RESOURCES, TEMPLATES
from keepmum.mcp.dialects.keepmum.tools import INSTRUCTIONS, TOOLS
from keepmum.mcp.surface import Context, Surface

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.mcp.surface import Handlers

__all__ = ["SURFACE", "open_handlers"]

SURFACE = Surface(INSTRUCTIONS, TOOLS, RESOURCES, TEMPLATES, PROMPTS)


def open_handlers(context: Context) -> Handlers:
    """Import and open the handlers; call it after the handshake.

    Raises: KeepmumError when the memory cannot be opened.
    """
    from keepmum.mcp.dialects.keepmum import handlers

    return handlers.open_handlers(context)
