"""What a client says about itself: its name, its protocol version, its folders. None of it is verified."""

from __future__ import annotations

import os

from keepmum.core.agents import identify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

__all__ = ["VERSIONS", "Client", "root_paths", "session_of_call"]

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # the first is the fallback
_BATCHING = frozenset({"2025-03-26", "2024-11-05"})  # later versions removed JSON-RPC batches
_MAX_LABEL = 80  # characters of a name, which is stored with every memory of the client


class Client:
    """A client, from its `initialize` request; missing or wrongly typed fields are empty."""

    __slots__ = ("agent", "agent_version", "apps", "batches", "has_roots", "name", "protocol")

    def __init__(self, params: Mapping[str, object]) -> None:
        info = _mapping(params.get("clientInfo"))
        wanted = params.get("protocolVersion")
        self.name: Final = _label(info.get("name")) or "unknown"  # unchanged
        self.agent: Final = identify(self.name).id
        self.agent_version: Final = _label(info.get("version"))
        self.protocol: Final = wanted if isinstance(wanted, str) and wanted in VERSIONS else VERSIONS[0]
        self.batches: Final = self.protocol in _BATCHING
        self.apps: Final = _shows_apps(_mapping(params.get("capabilities")))
        self.has_roots: Final = isinstance(_mapping(params.get("capabilities")).get("roots"), dict)


def root_paths(result: object) -> tuple[str, ...]:
    """The client's folders as local paths, from its response to `roots/list`; other URIs are left out."""
    roots = _mapping(result).get("roots")
    uris = [_mapping(root).get("uri") for root in roots] if isinstance(roots, list) else []
    paths = [_path(uri) for uri in uris if isinstance(uri, str)]
    return tuple(path for path in paths if path)


def session_of_call(meta: Mapping[str, object]) -> tuple[str, tuple[str, ...]]:
    """The session and its folders that a call names in its metadata; "" and () if it names none.

    Codex names them: it has no roots, starts plugin servers in unrelated folders, and may use one server process for
    several sessions. It names repositories only.

    Source: what version 0.169.0 sends; https://github.com/openai/codex/issues/37903, read 2026-11-21, asks for more.
    """
    turn = _mapping(meta.get("x-codex-turn-metadata"))
    session = turn.get("session_id")
    folders = (folder for folder in _mapping(turn.get("workspaces")) if os.path.isabs(folder) and "\0" not in folder)
    return (session, tuple(folders)) if isinstance(session, str) else ("", ())


def _shows_apps(capabilities: Mapping[str, object]) -> bool:
    """Whether the client shows the page of an MCP App; its name does not tell.

    Source: https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx, section
    "Client<>Server Capability Negotiation", read 2026-11-22.
    """
    types = _mapping(_mapping(capabilities.get("extensions")).get("io.modelcontextprotocol/ui")).get("mimeTypes")
    return isinstance(types, list) and "text/html;profile=mcp-app" in types


def _path(uri: str) -> str:
    from urllib.parse import unquote, urlsplit  # takes three milliseconds, which would delay the handshake

    try:
        parts = urlsplit(uri)
    except ValueError:  # an incomplete IPv6 address
        return ""
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = unquote(parts.path)
    if os.name == "nt":
        path = path.lstrip("/").replace("/", "\\")  # file:///C:/shop
    return "" if "\0" in path else path


def _label(value: object) -> str:
    text = value if isinstance(value, str) else ""
    return "".join(letter for letter in text if letter.isprintable()).strip()[:_MAX_LABEL]


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
