"""What a client tells about itself: its name, the protocol it speaks, its folders. All of it is its word only."""

from __future__ import annotations

import os

from keepmum.core.agents import identify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

__all__ = ["VERSIONS", "Client", "root_paths", "told_with_call"]

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # the first is offered when none fits
_BATCHING = frozenset({"2025-03-26", "2024-11-05"})  # later versions took JSON-RPC batches out
_MAX_LABEL = 80  # characters of a name: it stands in every memory that the client writes


class Client:
    """One client, as its `initialize` request introduces it. What is missing or of a wrong type counts as not said."""

    __slots__ = ("agent", "agent_version", "batches", "has_roots", "name", "protocol")

    def __init__(self, params: Mapping[str, object]) -> None:
        info = _mapping(params.get("clientInfo"))
        wanted = params.get("protocolVersion")
        self.name: Final = _label(info.get("name")) or "unknown"  # as it stands there
        self.agent: Final = identify(self.name).id
        self.agent_version: Final = _label(info.get("version"))
        self.protocol: Final = wanted if isinstance(wanted, str) and wanted in VERSIONS else VERSIONS[0]
        self.batches: Final = self.protocol in _BATCHING
        self.has_roots: Final = isinstance(_mapping(params.get("capabilities")).get("roots"), dict)


def root_paths(result: object) -> tuple[str, ...]:
    """The client's folders as paths of this machine, from its answer to `roots/list`; other places are left out."""
    roots = _mapping(result).get("roots")
    uris = [_mapping(root).get("uri") for root in roots] if isinstance(roots, list) else []
    paths = [_path(uri) for uri in uris if isinstance(uri, str)]
    return tuple(path for path in paths if path)


def told_with_call(meta: Mapping[str, object]) -> tuple[str, tuple[str, ...]]:
    """The session that a call belongs to, and its folders, where a client tells them with each call; else "" and none.

    Codex does: it has no roots, starts servers of plugins in folders that mean nothing, and may serve several sessions
    by one process. The folders are those of repositories; elsewhere it names none.

    Source: what version 0.169.0 sends; https://github.com/openai/codex/issues/37903, read 2026-11-21, asks for more.
    """
    turn = _mapping(meta.get("x-codex-turn-metadata"))
    session = turn.get("session_id")
    folders = (folder for folder in _mapping(turn.get("workspaces")) if os.path.isabs(folder) and "\0" not in folder)
    return (session, tuple(folders)) if isinstance(session, str) else ("", ())


def _path(uri: str) -> str:
    from urllib.parse import unquote, urlsplit  # three milliseconds that no handshake should pay

    try:
        parts = urlsplit(uri)
    except ValueError:  # half of an IPv6 address
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
