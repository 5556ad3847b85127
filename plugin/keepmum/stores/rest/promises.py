"""What a server's store cannot promise, and the writes that it refuses for that."""

from __future__ import annotations

from collections.abc import Mapping

from keepmum.core.errors import Unsupported
from keepmum.core.memory import Memory

__all__ = ["FIELDS_ARE_LEFT_OUT", "cannot", "refuse_unsupported"]

_CANNOT = {
    "scopes": "this server keeps memories of projects; leave `scope` out, or use `shared`",
    "users": "this server cannot keep the memories of users apart; take `user` out of the settings",
    "archive": "this server cannot set memories aside; leave `archive` out and they are removed, with 30 days to undo",
    "fields": "this server keeps text, title, agent and tags; the other fields are known on this machine alone",
    "kinds": "this server does not know kinds; only memories written here have one",
    "conflicts": "this server does not tell when two machines change a memory at once; the last one wins",
    "order": "this server lists memories by the time of their creation",
    "search": "this server searches text and title in its own way, not keys, tags and reasons",
    "ids": "this server chooses the ids of memories",
    "fading": "this server forgets by a curve of its own",
    "reinforcing": "this server counts every look at a memory in full as use",
}

_KEPT_BY_SECOND = frozenset({"fields", "kinds", "conflicts", "ids"})
FIELDS_ARE_LEFT_OUT = f"{_CANNOT['fields']} (backend.v1_trailer sends them in the text)"


def cannot(*, full: bool) -> Mapping[str, str]:
    """A sentence for each promise that is not kept; one that is `full`, of the second API, keeps more of them."""
    return {name: why for name, why in _CANNOT.items() if not (full and name in _KEPT_BY_SECOND)}


def refuse_unsupported(memory: Memory) -> None:
    """Nothing, when the server can hold a memory of this state, scope and owner.

    Raises: Unsupported.
    """
    if memory.status in {"archived", "tombstoned"}:
        raise Unsupported(f"archive: {_CANNOT['archive']}. Nothing was changed.")
    if memory.status == "active" and memory.scope in {"global", "session"}:
        raise Unsupported(f"scope: {_CANNOT['scopes']}. Nothing was stored.")
    if memory.status == "active" and memory.user is not None:
        raise Unsupported(f"user: {_CANNOT['users']}. Nothing was stored.")
