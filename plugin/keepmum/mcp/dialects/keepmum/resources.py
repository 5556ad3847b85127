"""The resources as data; `keepmum.mcp.dialects.keepmum.handlers` renders their texts."""

from __future__ import annotations

from keepmum.mcp.surface import Resource, Template

__all__ = ["ACTIVITY", "CONTEXT", "RESOURCES", "SCHEME", "TEMPLATES"]

SCHEME = "memory://"
CONTEXT = f"{SCHEME}current-context"
ACTIVITY = f"{SCHEME}agent-activity"

RESOURCES = (
    Resource(CONTEXT, "current-context", "Instructions, preferences, decisions and open work of this project"),
    Resource(ACTIVITY, "agent-activity", "Which agent did what lately, and to which memory"),
)
TEMPLATES = (Template(f"{SCHEME}{{key}}", "memory", "One memory in full, by its key or id"),)
