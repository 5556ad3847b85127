"""The stores that the contract suite runs against, and the values it puts into them.

To add a store, add a line to `STORES`: a function that opens the store of a folder, as another process would.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import own_server
import postgres_server
import qdrant_server
from contract.own_ids import OwnIds
from keepmum.core import ids
from keepmum.core.memory import Activity, Filter, Memory
from keepmum.stores import Store, markdown, sqlite
from keepmum.stores.composite import CompositeStore
from keepmum.stores.rest.api import Api
from keepmum.stores.rest.http_client import HttpClient
from rest_server import shared_hosts
from unit.stores.rest_parts import open_at

__all__ = ["EXCUSED", "NOW", "STORES", "OpenStore", "a_memory", "an_event", "wanted"]

OpenStore = Callable[[Path], Store]
_WIPED: set[Path] = set()
_IDS: dict[Path, dict[str, str]] = {}
NOW = 1_790_000_000_000  # some moment of 2026, in milliseconds


def _open_rest(folder: Path) -> Store:
    """A server of the first API, over HTTP, with a database of its own for this folder."""
    origin, _ = shared_hosts()
    store = open_at(origin, folder, key=hashlib.sha256(str(folder).encode()).hexdigest())
    return cast(Store, OwnIds(store, _IDS.setdefault(folder, {})))


def _open_own(engine: str, folder: Path) -> Store:
    """Our own server, empty at first; an answer of the mirror in place of the server's fails the test."""
    server = own_server.shared(engine)
    if folder not in _WIPED:
        _WIPED.add(folder)
        server.wipe()
    store = open_at(server.origin, folder, key=server.key)
    cast(Any, store)._breaker._fall_back = _refused
    return store


class _FirstVersion(HttpClient):
    """A client that takes every server for one of version 1."""

    @property
    def api_version(self) -> int | None:
        return 1

    @api_version.setter
    def api_version(self, version: int | None) -> None:
        pass


def _open_own_first(engine: str, folder: Path) -> Store:
    """Our own server through version 1 of its API."""
    store: Any = _open_own(engine, folder)
    store._breaker._connect = lambda server: Api(_FirstVersion(server))
    return cast(Store, OwnIds(store, _IDS.setdefault(folder, {})))


def _refused(_: Callable[[], object]) -> Any:
    raise AssertionError("the mirror answered in place of the server")


def _open_second(folder: Path) -> Store:
    """A server of the second API, which keeps ids and all fields, with a database of its own for this folder."""
    origin, _ = shared_hosts()
    return open_at(origin, folder, key=f"second-{hashlib.sha256(str(folder).encode()).hexdigest()}")


STORES: Mapping[str, OpenStore] = {
    "composite": lambda folder: CompositeStore(
        {
            "sqlite": sqlite.SqliteStore(str(folder / "memory.db")),
            "markdown": markdown.MarkdownStore(str(folder), str(folder / "cache"), "alpha"),
        },
        {"project": "markdown"},
    ),
    "markdown": lambda folder: markdown.MarkdownStore(str(folder), str(folder / "cache"), "alpha"),
    "postgres": postgres_server.open_at,
    "qdrant": qdrant_server.open_at,
    "rest": _open_rest,
    "rest-second": _open_second,
    "rest-v1-postgres": functools.partial(_open_own_first, "postgres"),
    "rest-v2-postgres": functools.partial(_open_own, "postgres"),
    "rest-v2-sqlite": functools.partial(_open_own, "sqlite"),
    "sqlite": lambda folder: sqlite.SqliteStore(str(folder / "memory.db")),
    # Both engines answer version 2 in every run; version 1 is the same code over them.
    **(
        {"rest-v1-sqlite": functools.partial(_open_own_first, "sqlite")}
        if os.environ.get("KEEPMUM_TEST_FULL") == "1"
        else {}
    ),
}

# Tests that a store is excused from, with the guarantee that it lacks (`Capabilities.cannot`). Each of them must fail:
# remove a line when its test passes.
_FADING = {
    "test_only_memories_that_may_be_due_are_fading": "fading",
    "test_certainly_due_memories_come_first": "fading",
}
_FOLDERS = {
    "test_a_tick_returns_the_previous_tick_of_any_process": "folders",
    "test_project_folders_are_listed_latest_first": "folders",
    "test_a_folder_belongs_to_its_latest_project": "folders",
}
_SERVER = {
    "test_a_key_may_be_used_in_another_space[the global space]": "scopes",
    "test_a_key_may_be_used_in_another_space[a session]": "scopes",
    "test_a_key_may_be_used_in_another_space[another user]": "users",
    "test_an_inactive_memory_frees_its_key[archived]": "archive",
    "test_an_inactive_memory_frees_its_key[tombstoned]": "archive",
    "test_every_read_leaves_out[another session]": "scopes",
    "test_every_read_leaves_out[a user, for nobody]": "users",
    "test_every_read_leaves_out[another user]": "users",
    "test_every_read_lets_through[global]": "scopes",
    "test_every_read_lets_through[the same session]": "scopes",
    "test_every_read_lets_through[the same user]": "users",
    "test_another_sessions_memories_stay_hidden_in_a_search_of_all_projects": "scopes",
    "test_a_search_covers[why]": "search",
    "test_a_search_covers[key]": "search",
    "test_a_search_covers_tags": "search",
    "test_the_parts_of_an_identifier_are_found": "search",
    "test_an_inflected_word_is_found": "search",
    "test_health_counts_stored_and_indexed_memories": "archive",
    "test_only_memories_that_may_be_due_are_fading": "archive",
}
_FOUND_BY_OURS = frozenset(  # what our own server finds also through version 1
    {"test_a_search_covers_tags", "test_the_parts_of_an_identifier_are_found", "test_an_inflected_word_is_found"}
)
_OWN_FIRST = {
    **{test: promise for test, promise in _SERVER.items() if test not in _FOUND_BY_OURS},
    "test_ids_in_a_range_come_in_order": "ids",
}
EXCUSED: Mapping[str, Mapping[str, str]] = {
    "composite": _FADING,
    "markdown": _FADING,
    "postgres": _FOLDERS,
    "qdrant": _FOLDERS,
    "rest": {**_SERVER, "test_ids_in_a_range_come_in_order": "ids"},
    "rest-second": _SERVER,
    "rest-v1-postgres": _OWN_FIRST,
    "rest-v1-sqlite": _OWN_FIRST,
}


def a_memory(text: str = "The build runs on Postgres 16", **fields: Any) -> Memory:
    """A new active memory of project `alpha`, made at NOW unless `at` is given."""
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
