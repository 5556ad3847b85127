"""Where a client learns how to get a token for this server (RFC 9728), and what to ask it for.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization, read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Sequence

from keepmum.core.memory import JsonValue

__all__ = ["PATHS", "SCOPES", "challenge", "document"]

PATHS = ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp")
SCOPES = ("memories:read", "memories:write")


def document(url: str, issuers: Sequence[str] = ()) -> dict[str, JsonValue]:
    """The metadata of the resource at `url`; without an issuer, only keys of this server are accepted."""
    known: dict[str, JsonValue] = {
        "resource": f"{url}/mcp",
        "resource_name": "Keepmum",
        "bearer_methods_supported": ["header"],
        "scopes_supported": list(SCOPES),
    }
    return {**known, "authorization_servers": list(issuers)} if issuers else known


def challenge(url: str, *, insufficient: bool = False) -> str:
    """The `WWW-Authenticate` header of a 401, or of a 403 for a key that may read nothing."""
    error = 'error="insufficient_scope", ' if insufficient else ""
    return f'Bearer {error}resource_metadata="{url}{PATHS[1]}", scope="{SCOPES[0]}"'
