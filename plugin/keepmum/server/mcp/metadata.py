"""Where a client learns how to get a token for this server (RFC 9728), and what to ask it for.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization, read 2026-11-22.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from keepmum.core.memory import JsonValue

__all__ = ["PATHS", "SCOPES", "Resource"]

PATHS = ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp")
SCOPES = ("memories:read", "memories:write")


class Resource(NamedTuple):
    """This server as its metadata describe it; without an issuer, only its own keys are accepted."""

    url: str = ""  # "" for the address that a request names
    issuer: str = ""
    scopes: Sequence[str] = ()  # of the issuer, which may refuse to sign in who asks for others

    def document(self) -> dict[str, JsonValue]:
        """The metadata of the resource."""
        known: dict[str, JsonValue] = {
            "resource": f"{self.url}/mcp",
            "resource_name": "Keepmum",
            "bearer_methods_supported": ["header"],
        }
        if scopes := self._scopes():
            known["scopes_supported"] = list(scopes)
        return {**known, "authorization_servers": [self.issuer]} if self.issuer else known

    def challenge(self, error: str = "") -> str:
        """The `WWW-Authenticate` header of a 401, or of a 403; `error` is its code of RFC 6750."""
        scope = " ".join(self.scopes) if self.issuer else SCOPES[0]
        named = {"error": error, "resource_metadata": f"{self.url}{PATHS[1]}", "scope": scope}
        return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in named.items() if value)

    def _scopes(self) -> Sequence[str]:
        return self.scopes if self.issuer else SCOPES
