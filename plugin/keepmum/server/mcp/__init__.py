"""MCP over Streamable HTTP at `/mcp`, for clients of both eras, without sessions in the server.

endpoint       the ASGI application: who may call, which dialect, what the protocol does not allow
dialect        one dialect's tools, prompts and resources as a server of the SDK
calls          one request over a service of the team's memory
caller         which project a call is about, and which agent sends it
session_token  the signed `Mcp-Session-Id` of clients that name themselves once
listening      notifications of changed resources
metadata       where a client learns how to get a token (RFC 9728)
"""

from keepmum.server.mcp.calls import Edge
from keepmum.server.mcp.endpoint import McpEndpoint
from keepmum.server.mcp.metadata import Resource

__all__ = ["Edge", "McpEndpoint", "Resource"]
