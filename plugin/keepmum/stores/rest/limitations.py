"""What a server cannot do, and the writes that are refused for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from keepmum.core.errors import Unsupported
from keepmum.core.memory import Memory

__all__ = ["FIELDS_ARE_LEFT_OUT", "MINIMAL_V2", "cannot", "refuse_unsupported"]

_CANNOT = {
    "scopes": "this server keeps memories of projects; leave `scope` out, or use `shared`",
    "users": "this server cannot keep the memories of users apart; remove `user` from the settings",
    "archive": "this server cannot archive; leave `archive` out and memories are removed, with 30 days to undo",
    "fields": "this server keeps text, title, agent and tags; the other fields are known on this machine only",
    "kinds": "this server does not know kinds; only memories written here have one",
    "conflicts": "this server does not report when two machines change a memory at once; the last one wins",
    "order": "this server lists memories by the time of their creation",
    "search": "this server searches text and title in its own way, not keys, tags and reasons",
    "ids": "this server chooses the ids of memories",
    "fading": "this server forgets by a curve of its own",
    "reinforcing": "this server counts every load of a text as use",
}

MINIMAL_V2 = frozenset({"fields", "kinds", "conflicts", "ids"})  # what every server of version 2 gives
FIELDS_ARE_LEFT_OUT = f"{_CANNOT['fields']} (backend.v1_trailer sends them in the text)"


def cannot(promises: Collection[str]) -> Mapping[str, str]:
    """A sentence for each guarantee that a server lacks which gives those in `promises`."""
    return {name: why for name, why in _CANNOT.items() if name not in promises}


def refuse_unsupported(memory: Memory, promises: Collection[str]) -> None:
    """Refuse a memory whose status, scope or user the server does not support.

    Raises: Unsupported.
    """
    if memory.status in {"archived", "tombstoned"} and "archive" not in promises:
        raise Unsupported(f"archive: {_CANNOT['archive']}. Nothing was changed.")
    if memory.status == "active" and memory.scope in {"global", "session"} and "scopes" not in promises:
        raise Unsupported(f"scope: {_CANNOT['scopes']}. Nothing was stored.")
    if memory.status == "active" and memory.user is not None and "users" not in promises:
        raise Unsupported(f"user: {_CANNOT['users']}. Nothing was stored.")
