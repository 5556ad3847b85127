"""Helpers for the tests of all stores, and the filters that every read must apply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from contract.stores import NOW, wanted
from keepmum.core.memory import Change, Memory
from keepmum.stores import Store

__all__ = ["FIELDS", "PASSES", "Opener", "found", "put", "required", "texts"]

Opener = Callable[[], Store]
_Feature = TypeVar("_Feature")

# What a filter excludes (`FIELDS`) and what it lets pass (`PASSES`): the filter, and fields of a memory.
FIELDS: list[Any] = [
    pytest.param({}, {"project": "beta"}, id="another project"),
    pytest.param({"session": "s1"}, {"scope": "session", "session": "s2"}, id="another session"),
    pytest.param({}, {"user": "ada"}, id="a user, for nobody"),
    pytest.param({"user": "ada"}, {"user": "bob"}, id="another user"),
    pytest.param({"user": "ada"}, {"user": None}, id="nobody, for a user"),
    pytest.param({"kinds": ("decision",)}, {"kind": "note"}, id="another kind"),
    pytest.param({"scopes": ("global",)}, {"scope": "project"}, id="another scope"),
    pytest.param({"tags": ("a", "b")}, {"tags": ("c",)}, id="none of the tags"),
    pytest.param({"tags": ("a", "b"), "all_tags": True}, {"tags": ("a", "c")}, id="not all of the tags"),
    pytest.param({"agent": "codex"}, {"agent": "claude"}, id="another agent"),
    pytest.param({"since": NOW}, {"updated_at": NOW - 1}, id="before since"),
    pytest.param({"until": NOW}, {"updated_at": NOW}, id="at until"),
    pytest.param({}, {"status": "trashed"}, id="in the trash"),
    pytest.param({}, {"status": "superseded"}, id="superseded"),
    pytest.param({"statuses": ("trashed",)}, {"status": "active"}, id="not in the trash"),
    pytest.param({}, {"expires_at": NOW}, id="expired this moment"),
]
PASSES: list[Any] = [
    pytest.param({}, {}, id="the same project"),
    pytest.param({}, {"scope": "global", "project": None}, id="global"),
    pytest.param({}, {"scope": "shared"}, id="shared in the project"),
    pytest.param({"session": "s1"}, {"scope": "session", "session": "s1"}, id="the same session"),
    pytest.param({"user": "ada"}, {"user": "ada"}, id="the same user"),
    pytest.param({"everywhere": True}, {"project": "beta"}, id="every project"),
    pytest.param({"kinds": ("decision", "note")}, {"kind": "note"}, id="one of the kinds"),
    pytest.param({"tags": ("a", "b")}, {"tags": ("b", "c")}, id="one of the tags"),
    pytest.param({"tags": ("a", "b"), "all_tags": True}, {"tags": ("c", "b", "a")}, id="all of the tags"),
    pytest.param({"agent": "codex"}, {"agent": "codex"}, id="the same agent"),
    pytest.param({"since": NOW}, {"updated_at": NOW}, id="at since"),
    pytest.param({"until": NOW}, {"updated_at": NOW - 1}, id="before until"),
    pytest.param({"statuses": ("trashed",)}, {"status": "trashed", "expires_at": NOW - 1}, id="in the trash"),
    pytest.param({}, {"expires_at": NOW + 1}, id="about to expire"),
]


def required(feature: _Feature | None) -> _Feature:
    """A feature that the store of a test must have."""
    assert feature is not None
    return feature


def put(store: Store, *memories: Memory) -> None:
    store.commit([Change(None, memory) for memory in memories])


def texts(memories: list[Memory]) -> list[str]:
    return [memory.text for memory in memories]


def found(store: Store, *words: str, **fields: Any) -> list[str]:
    return [memory.text for memory, _ in store.search(words, wanted(**fields), 50)]
