"""The panel in the chat (an MCP App): its tools and its page, listed only for a client that can show it.

`memory_dashboard` opens it. The panel asks for its data itself, through two tools that hosts offer to it and not to the
model. What they can do is limited for everybody who calls them (`keepmum.dashboard.panel`), since a host may ignore
that.

Source: https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx, read 2026-11-22.
"""

from __future__ import annotations

from keepmum.mcp.surface import Resource, Surface, Tool, parameters, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MIME_TYPE", "TOOLS", "URI", "with_panel"]

URI = "ui://keepmum/memory"
MIME_TYPE = "text/html;profile=mcp-app"
_OPENS: Mapping[str, object] = {"ui": {"resourceUri": URI}, "ui/resourceUri": URI}  # the flat one is for older hosts
_FOR_APPS: Mapping[str, object] = {"ui": {"resourceUri": URI, "visibility": ["app"]}}
_READS = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
_CHANGES = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False}
_SHOWN_WITH = ("remember", "recall", "list_memories")  # tools of Agent Memory, which show its widget
_NAME = {"type": "string", "maxLength": 40}

TOOLS = (
    Tool(
        "memory_dashboard",
        "Show the user the memory as a panel that they can search and correct.",
        parameters(query=text("Opens with this search", 1000)),
        _READS,
        meta=_OPENS,
        title="Memory panel",
        for_panel=True,
    ),
    Tool(
        "memory_view",
        "Data for the panel; not for you.",
        parameters(("view",), view=_NAME, args={"type": "object"}),
        _READS,
        meta=_FOR_APPS,
        for_panel=True,
    ),
    Tool(
        "memory_change",
        "What the user decides in the panel; not for you.",
        parameters(("do",), do=_NAME, args={"type": "object"}),
        _CHANGES,
        meta=_FOR_APPS,
        for_panel=True,
    ),
)
_PAGE = Resource(URI, "memory-panel", "The panel", MIME_TYPE, contents_meta={"ui": {"prefersBorder": False}})


def with_panel(surface: Surface) -> Surface:
    """A surface that also offers the panel; one without tools stays as it is."""
    if not surface.tools:
        return surface
    names = {tool.name for tool in surface.tools}
    shown_with = _SHOWN_WITH if names.issuperset(_SHOWN_WITH) else ()
    tools = [_opening(tool) if tool.name in shown_with else tool for tool in surface.tools]
    return Surface(
        surface.instructions,
        (*tools, *TOOLS),
        (*surface.resources, _PAGE),
        surface.templates,
        surface.prompts,
        surface.aliases,
    )


def _opening(tool: Tool) -> Tool:
    """The tool, with the panel shown for its result."""
    meta = {**(tool.meta or {}), **_OPENS}
    return Tool(tool.name, tool.description, tool.parameters, tool.annotations, meta=meta, title=tool.title)
