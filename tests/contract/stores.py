"""The stores that the contract suite runs against, and the values it puts into them.

A new store is one line in `STORES`: a function that opens the store of one folder, as a process of its own would.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from contract.own_ids import OwnIds
from keepmum.core import ids
from keepmum.core.memory import Activity, Filter, Memory
from keepmum.stores import Store, markdown, sqlite
from keepmum.stores.composite import CompositeStore
from rest_server import shared_hosts
from unit.stores.rest_parts import open_at

__all__ = ["EXCUSED", "NOW", "STORES", "OpenStore", "a_memory", "an_event", "wanted"]

OpenStore = Callable[[Path], Store]
_IDS: dict[Path, dict[str, str]] = {}
NOW = 1_790_000_000_000  # some moment of 2026, in milliseconds


def _open_rest(folder: Path) -> Store:
    """A server of the first API for this folder alone, over HTTP."""
    origin, _ = shared_hosts()
    store = open_at(origin, folder, key=hashlib.sha256(str(folder).encode()).hexdigest())
    return cast(Store, OwnIds(store, _IDS.setdefault(folder, {})))


def _open_second(folder: Path) -> Store:
    """A server of the second API for this folder alone: ids and fields are kept as they are given."""
    origin, _ = shared_hosts()
    return open_at(origin, folder, key=f"second-{hashlib.sha256(str(folder).encode()).hexdigest()}")


STORES: Mapping[str, OpenStore] = {
    "composite": lambda folder: CompositeStore(
        {
            "sqlite": sqlite.open_store(str(folder / "memory.db")),
            "markdown": markdown.open_store(str(folder), str(folder / "cache"), "alpha"),
        },
        {"project": "markdown"},
    ),
    "markdown": lambda folder: markdown.open_store(str(folder), str(folder / "cache"), "alpha"),
    "rest": _open_rest,
    "rest-second": _open_second,
    "sqlite": lambda folder: sqlite.open_store(str(folder / "memory.db")),
}

# What a store says it cannot promise (`Capabilities.cannot`), by the tests that ask for it. Each of them must fail:
# a promise that is kept after all is struck from the list.
_FADING = {
    "test_time_is_told_of_what_it_may_have_changed_and_of_nothing_else": "fading",
    "test_what_is_due_is_told_before_what_may_only_fade": "fading",
}
_SERVER = {
    "test_a_key_of_another_space_is_free[the global space]": "scopes",
    "test_a_key_of_another_space_is_free[a session]": "scopes",
    "test_a_key_of_another_space_is_free[another user]": "users",
    "test_a_key_is_given_up_by_a_memory_that_is_no_longer_active[archived]": "archive",
    "test_a_key_is_given_up_by_a_memory_that_is_no_longer_active[tombstoned]": "archive",
    "test_every_read_leaves_out[another session]": "scopes",
    "test_every_read_leaves_out[a user, for nobody]": "users",
    "test_every_read_leaves_out[another user]": "users",
    "test_every_read_lets_through[global]": "scopes",
    "test_every_read_lets_through[the same session]": "scopes",
    "test_every_read_lets_through[the same user]": "users",
    "test_another_sessions_memories_stay_hidden_when_every_project_is_asked_for": "scopes",
    "test_a_search_looks_into[why]": "search",
    "test_a_search_looks_into[key]": "search",
    "test_a_search_looks_into_tags": "search",
    "test_the_parts_of_an_identifier_are_found": "search",
    "test_an_inflected_word_is_found": "search",
    "test_health_counts_what_is_kept_and_what_can_be_found": "archive",
    "test_time_is_told_of_what_it_may_have_changed_and_of_nothing_else": "archive",
}
EXCUSED: Mapping[str, Mapping[str, str]] = {
    "composite": _FADING,
    "markdown": _FADING,
    "rest": {**_SERVER, "test_ids_in_a_range_come_in_order": "ids"},
    "rest-second": _SERVER,
}


def a_memory(text: str = "The build runs on Postgres 16", **fields: Any) -> Memory:
    """A new active memory of project `alpha`, made at NOW unless told otherwise."""
    at = fields.pop("at", NOW)
    defaults: dict[str, Any] = {
        "id": ids.new_id(at), "title": text.split("\n", 1)[0][:120] or "untitled", "created_at": at, "updated_at": at,
        "project": "alpha", "created_by": "tester", "updated_by": "tester", "agent": "tester",
    }  # fmt: skip
    return Memory(text=text, **{**defaults, **fields})


def an_event(memory: Memory | None = None, **fields: Any) -> Activity:
    """An activity entry about `memory`."""
    defaults: dict[str, Any] = {
        "at": NOW, "agent": "tester", "action": "created", "memory": memory.id if memory else None,
        "key": memory.key if memory else None, "project": memory.project if memory else "alpha",
        "detail": memory.title if memory else "",
    }  # fmt: skip
    return Activity(**{**defaults, **fields})


def wanted(**fields: Any) -> Filter:
    """A filter for project `alpha` at NOW."""
    return Filter(**{"now": NOW, "project": "alpha", **fields})
