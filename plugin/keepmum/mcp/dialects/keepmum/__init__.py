"""The default dialect: our own tools."""

from __future__ import annotations

from keepmum.mcp.dialects.keepmum.prompts import PROMPTS
from keepmum.mcp.dialects.keepmum.resources import RESOURCES, TEMPLATES
from keepmum.mcp.dialects.keepmum.tools import INSTRUCTIONS, TOOLS
from keepmum.mcp.surface import Surface

__all__ = ["SURFACE"]

SURFACE = Surface(INSTRUCTIONS, TOOLS, RESOURCES, TEMPLATES, PROMPTS)
