"""An export can be imported, and no import does harm."""

from __future__ import annotations

import contextlib
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from keepmum.core import serialization, validation
from keepmum.core.errors import InvalidInput, KeepmumError, SecretFound
from keepmum.core.memory import KINDS, LIMITS, SCOPES, STATUSES, TIERS, Memory
from keepmum.service import MemoryService, Place, ServiceOptions, open_service
from keepmum.stores import SqliteSpec

# Each example opens its own stores, which takes disk time.
settings.register_profile("stores", deadline=None, suppress_health_check=[HealthCheck.too_slow])
stores = settings(settings.get_profile("stores"), max_examples=25)

# The first call may take longer than the default deadline on a shared machine.
unhurried = settings(deadline=None)

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
words = st.text(characters, min_size=1, max_size=60)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=8,
)
shares = st.floats(0, 1)
writes = st.fixed_dictionaries(
    {"text": words.filter(lambda text: text.strip())},
    optional={
        "title": words, "key": words, "why": words, "source": words, "kind": st.sampled_from(KINDS),
        "scope": st.sampled_from(SCOPES), "tier": st.sampled_from(TIERS), "importance": shares, "confidence": shares,
        "tags": st.lists(words, max_size=5), "data": json_values, "ttl_seconds": st.floats(1, 1e9),
    },
)  # fmt: skip


def open_at(folder: str, name: str) -> contextlib.closing[MemoryService]:
    place = Place(project="alpha", session="s1", user="ada")
    spec = SqliteSpec(str(Path(folder) / name))
    return contextlib.closing(open_service(spec, lambda _: [], ServiceOptions(place=place, agent="tester")))


@stores
@given(st.lists(writes, max_size=6))
def test_an_imported_export_has_the_same_memories(sent: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder, open_at(folder, "a.db") as here, open_at(folder, "b.db") as there:
        for fields in sent:
            with contextlib.suppress(InvalidInput, SecretFound):  # empty after cleaning; or named by another field
                here.remember(**fields)
        lines = [json.dumps(serialization.to_json(memory)) for memory in here.every()]
        for line in lines:
            assert there.import_memory(json.loads(line)).action == "imported"
        assert list(there.every()) == [replace(one, trust="outside", origin="import") for one in here.every()]
        assert [there.import_memory(json.loads(line)).action for line in lines] == [None] * len(lines)


TIMES = st.integers(0, 253_402_300_799_999)
GOOD: dict[str, st.SearchStrategy[Any]] = {
    "id": st.integers(0, 2**128 - 1).map(lambda number: f"{number:032x}"), "text": words, "title": words,
    "created_at": TIMES, "updated_at": TIMES,
}  # fmt: skip
anything = json_values | st.integers() | st.floats() | st.just("\ud800") | st.just("a\x00b")
FIELDS = ["key", "why", "kind", "tags", "scope", "project", "session", "user", "agent", "tier", "importance", "colour",
          "confidence", "data", "git", "source", "origin", "status", "supersedes", "superseded_by", "accessed_at",
          "access_count", "expires_at", "trashed_at", "created_by", "updated_by", "revision", "trust", "source_kind",
          "confirmed_at", "confirmed_by", "pinned", "citations"]  # fmt: skip
choices = st.sampled_from([*KINDS, *SCOPES, *STATUSES, *TIERS])


@settings(deadline=None, max_examples=300)
@given(st.fixed_dictionaries(GOOD), st.dictionaries(st.sampled_from([*FIELDS, *GOOD]), anything | choices, max_size=4))
def test_a_parsed_memory_is_within_the_limits(good: dict[str, Any], more: dict[str, Any]) -> None:
    try:
        memory = serialization.parse({**good, **more})
    except InvalidInput as refusal:
        field = refusal.field
    else:
        field = "text"
        assert_within_limits(memory)
    assert field in {*FIELDS, *GOOD, "fields"}


def assert_within_limits(memory: Memory) -> None:
    assert memory.text
    assert memory.title
    assert memory.kind in KINDS
    assert memory.status in STATUSES
    assert 0 <= memory.importance <= 1
    assert 0 <= memory.confidence <= 1
    assert memory.access_count >= 0
    assert len(memory.key or "") <= LIMITS.key
    assert len(memory.agent) <= LIMITS.name
    assert serialization.parse(json.loads(json.dumps(serialization.to_json(memory)))) == memory


@stores
@given(st.fixed_dictionaries(GOOD), st.dictionaries(st.sampled_from(FIELDS), anything | choices, max_size=6))
def test_reads_work_after_any_import(good: dict[str, Any], more: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder, open_at(folder, "a.db") as service:
        with contextlib.suppress(KeepmumError):
            service.import_memory({**good, **more})
        service.recall("any words")
        service.recall(scope="all", order="accessed")
        service.resume()
        service.sweep()
        service.sweep()
        assert len(list(service.every(scope="all"))) <= 1


@unhurried
@given(st.text(characters))
def test_cleaning_is_idempotent(text: str) -> None:
    once = validation.clean("text", text, LIMITS.text, in_bytes=True)
    assert validation.clean("text", once, LIMITS.text, in_bytes=True) == once


@unhurried
@given(st.text())
def test_cleaning_returns_text_or_names_the_field(text: str) -> None:
    field = "why"
    try:
        validation.clean("why", text, LIMITS.why).encode()
    except InvalidInput as refusal:
        field = refusal.field
    assert field == "why"


@unhurried
@given(st.text(characters) | st.text("# \u00a0\x1f\u2003\n*->\tx"))
@example("\x1f")
@example("# \u00a0\nDeploys go through staging")
def test_a_title_is_one_line_within_its_limit(text: str) -> None:
    title = validation.title_of(text)
    assert 0 < len(title) <= LIMITS.title
    assert title == title.strip()
    assert len(title.splitlines()) == 1


@pytest.mark.parametrize("name", ["id", "text", "title", "created_at", "updated_at"])
def test_a_missing_field_is_reported(name: str) -> None:
    whole = serialization.to_json(Memory(id="mem_" + "0" * 26, text="x", title="x", created_at=1, updated_at=1))
    with pytest.raises(InvalidInput, match=f"{name}: is missing"):
        serialization.parse({**whole, name: None})
