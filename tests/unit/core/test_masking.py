"""Secrets that an older version, another tool or an edit put into the store are masked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hidden import GITHUB_TOKEN as SECRET
from hidden import assert_hidden
from keepmum.core import memory_text, serialization, validation
from keepmum.core.errors import ScannerFailed
from keepmum.core.masking import CleanMemories, Masker, mask
from keepmum.core.memory import Memory
from keepmum.service import MemoryService, ServiceOptions
from keepmum_scanner import scan
from unit.core.service_parts import OpenService

FIELDS = ("text", "title", "key", "why", "source", "agent", "project", "session", "created_by", "updated_by", "origin")


def memory(**values: Any) -> Memory:
    given = {"text": "a text", "title": "a title", **values}
    return Memory(id="mem_" + "0" * 26, created_at=1, updated_at=1, **given)


def shown(one: Memory) -> Memory:
    return Masker(scan, lambda *_: None).memory(one)


def plant(service: MemoryService, column: str = "text", secret: str = f"deploy with {SECRET} now") -> str:
    """Store a memory with a secret, as if an older scanner had missed it; returns its id."""
    kept = service.remember("a title\n\nan ordinary value", key="known", kind="decision").memory
    database: Any = service.store._database._connection  # type: ignore[attr-defined] # bypasses the service
    database.execute(f"UPDATE memories SET {column} = ? WHERE id = ?", (secret, kept.id))
    return kept.id


def pieces(text: str) -> list[str]:
    return [SECRET[at : at + 5] for at in range(len(SECRET) - 4) if SECRET[at : at + 5].lower() in text.lower()]


@pytest.mark.parametrize("field", FIELDS)
def test_a_secret_is_masked_in_every_field(field: str) -> None:
    assert pieces(repr(shown(memory(**{field: f"deploy {SECRET}"})))) == []


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"tags": ("deploy", SECRET)}, id="a tag"),
        pytest.param({"data": {"deploy": [{"token": SECRET}]}}, id="data"),
        pytest.param({"data": {SECRET: 1}}, id="data's name"),
        pytest.param({"data": {"a": {SECRET: {"b": 1}}}}, id="the name of an object in data"),
        pytest.param({"data": {SECRET: []}}, id="the name of a list in data"),
        pytest.param({"data": [SECRET, 7, None, True]}, id="a list"),
        pytest.param({"git": {"remote": f"https://ada:{SECRET}@example.org/"}}, id="git"),
        pytest.param({"superseded_by": SECRET}, id="superseded by"),
    ],
)
def test_a_secret_is_masked_in_structured_fields(values: dict[str, Any]) -> None:
    assert pieces(repr(shown(memory(**values)))) == []


def test_the_text_around_a_secret_is_kept() -> None:
    masked = shown(memory(text=f"deploy with {SECRET} now", data={"to": "blue", "with": SECRET}))
    assert masked.text.startswith("deploy with [")
    assert masked.text.endswith(" removed] now")
    assert isinstance(masked.data, dict)
    assert masked.data["to"] == "blue"


def test_a_secret_that_is_cut_off_in_a_title_is_masked() -> None:
    assert pieces(repr(shown(memory(text=f"deploy with {SECRET}", title=f"deploy with {SECRET[:14]}…")))) == []


def test_a_second_mention_without_context_is_masked() -> None:
    password = "blau" + "Wal9!see"
    masked = shown(memory(text=f"password: {password}", why=f"{password} was chosen"))
    assert_hidden(password, repr(masked))


def test_a_memory_without_secrets_is_not_changed() -> None:
    one = memory(data={"a": [1, 2.5, None, True, "b"]}, tags=("x",), supersedes="mem_" + "1" * 26)
    assert shown(one) is one


def test_a_masked_memory_still_fits_its_limits() -> None:
    masked = shown(memory(title=("x " * 35) + SECRET, tags=(SECRET,)))
    assert serialization.parse(serialization.to_json(masked)).title == masked.title


def test_a_memory_is_scanned_once() -> None:
    calls: list[str] = []

    def counted(text: str) -> Sequence[validation.Finding]:
        calls.append(text)
        return scan(text)

    masker = Masker(counted, lambda *_: None)
    first = masker.memory(memory(text=f"deploy {SECRET}"))
    done = len(calls)
    assert masker.memory(memory(text=f"deploy {SECRET}")) == first
    assert len(calls) == done


class Shared:
    """Maskers of several requests, and how many texts they scanned."""

    def __init__(self) -> None:
        self.allowed = 1
        self.scanned = 0
        self._clean = CleanMemories(lambda: self.allowed)

    def shown(self, one: Memory) -> tuple[Memory, bool]:
        """A memory as a new request shows it, and whether it was scanned."""
        before = self.scanned
        return Masker(self._scan, lambda *_: None, None, self._clean.known()).memory(one), self.scanned > before

    def _scan(self, text: str) -> Sequence[validation.Finding]:
        self.scanned += 1
        return scan(text)


def test_a_memory_without_secrets_is_scanned_once_for_all_requests() -> None:
    shared = Shared()
    assert [shared.shown(memory())[1] for _ in range(3)] == [True, False, False]


@pytest.mark.parametrize("changed", [{"text": f"deploy {SECRET}"}, {"data": {"note": SECRET}}, {"tags": (SECRET,)}])
def test_another_content_of_a_known_memory_is_masked(changed: dict[str, Any]) -> None:
    shared = Shared()
    shared.shown(memory())
    masked, _ = shared.shown(memory(**changed))
    assert pieces(str(masked)) == []


def test_a_memory_with_a_secret_is_scanned_for_each_request() -> None:
    shared = Shared()
    assert [shared.shown(memory(text=f"deploy {SECRET}"))[1] for _ in range(2)] == [True, True]


def test_a_known_memory_is_scanned_again_once_another_list_allows_findings() -> None:
    shared = Shared()
    shared.shown(memory())
    shared.allowed = 2
    assert shared.shown(memory())[1]


def test_an_edit_without_a_new_revision_is_scanned() -> None:
    masker = Masker(scan, lambda *_: None)
    masker.memory(memory(text="ordinary"))
    assert pieces(masker.memory(memory(text=f"deploy {SECRET}")).text) == []


def test_locations_have_field_and_line() -> None:
    _, locations, _ = mask(serialization.to_json(memory(text=f"one\ntwo {SECRET}")), scan)
    assert [(location.field, location.line) for location in locations] == [("text", 2)]


READS: dict[str, Callable[[MemoryService], object]] = {
    "recall": lambda service: service.recall("title ordinary deploy known"),
    "a listing": lambda service: service.recall(),
    "load": lambda service: service.load(["known"]),
    "find": lambda service: service.find("known"),
    "resume": lambda service: service.resume(),
    "brief": lambda service: service.brief(),
    "export": lambda service: list(service.every()),
    "activity": lambda service: (service.load(["known"]), service.forget(["known"]), service.activity()),
    "history": lambda service: (service.remember("new", key="known"), service.history("known")),
    "an update": lambda service: service.remember("new", key="known"),
    "a superseding": lambda service: service.remember("new", supersedes="known"),
    "a listing to forget": lambda service: service.forget(query="ordinary"),
    "a dry run": lambda service: service.forget(["known"], dry_run=True),
    "an undo": lambda service: (service.forget(["known"]), service.undo("known")),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("column", ["text", "title", "why", "source"])
def test_no_read_returns_the_secret(
    service: MemoryService, read: Callable[[MemoryService], object], column: str
) -> None:
    plant(service, column)
    assert pieces(repr(read(service))) == []


def test_masked_places_are_counted_in_the_notices(service: MemoryService) -> None:
    plant(service)
    assert service.notices() == []
    service.recall()
    assert service.notices() == ["1 place masked: run `keepmum audit`"]


def test_masked_memories_are_logged_by_rule_and_id(service: MemoryService) -> None:
    planted = plant(service)
    service.load([planted])
    logged = [event for event in service.activity() if event.action == "masked"]
    assert [(event.memory, event.detail) for event in logged] == [(planted, "where it is shown: github.token")]


def test_a_briefing_on_disk_is_masked(service: MemoryService, keepmum_home: Path) -> None:
    service.settle()
    plant(service, "title")
    service.settle()
    (file,) = (keepmum_home / "state" / "briefings").iterdir()
    assert pieces(file.read_text(encoding="utf-8")) == []
    assert "removed]" in file.read_text(encoding="utf-8")


def test_a_masked_memory_can_be_shown_and_exported(service: MemoryService) -> None:
    plant(service, "data", json.dumps({"token": SECRET}))
    (one,) = service.load(["known"])
    assert "removed]" in json.dumps(serialization.to_json(one))
    assert memory_text.full(one)


def failing(text: str) -> Sequence[validation.Finding]:
    raise KeyError(text)


def test_a_failing_scanner_refuses_writes(open_memory: OpenService, monkeypatch: pytest.MonkeyPatch) -> None:
    service = open_memory()
    monkeypatch.setattr(service, "context", replace(service.context, scan=failing))
    with pytest.raises(ScannerFailed) as refusal:
        service.remember("an ordinary value of deploys")
    assert str(refusal.value) == "the scanner failed; nothing was stored; run `keepmum doctor`"
    assert "an ordinary value" not in repr((refusal.value.__cause__, refusal.value.args))
    assert service.recall() == []


def test_a_failing_scanner_withholds_stored_texts(service: MemoryService) -> None:
    service.remember("an ordinary value", key="known")
    broken = MemoryService(service.store, failing, ServiceOptions(place=service.place))
    (one,) = broken.load([service.find("known").id])
    assert "ordinary" not in repr(one)
    assert one.text == "[withheld: the scanner failed; run `keepmum doctor`]"
    assert broken.notices() == ["the scanner failed, so texts are withheld; run `keepmum doctor`"]


@pytest.mark.parametrize("read", ["resume", "brief", "recall", "activity"])
def test_a_failing_scanner_withholds_texts_in_every_read(service: MemoryService, read: str) -> None:
    service.remember("an ordinary value", key="known", kind="decision")
    broken = MemoryService(service.store, failing, ServiceOptions(place=service.place))
    assert "ordinary" not in repr(getattr(broken, read)())
