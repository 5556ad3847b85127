"""Promoting memories to other scopes, and copying one store into another."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hidden import assert_hidden
from keepmum.core.errors import InvalidInput, SecretFound, StoreError
from keepmum.core.memory import Change
from keepmum.service import MemoryService, Place, ServiceOptions, lookup, open_service, transfer
from keepmum.stores import CompositeSpec, MarkdownSpec, SqliteSpec, Store
from keepmum_scanner import scan

ALL: dict[str, Any] = {"dry_run": False, "progress": lambda _, __: None}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[MemoryService]:
    root = tmp_path / "project"
    root.mkdir()
    database = SqliteSpec(str(tmp_path / "home" / "memory.db"))
    files = MarkdownSpec(str(root), str(tmp_path / "cache"), "alpha", user_home=str(tmp_path))
    opened = open_service(
        CompositeSpec({"sqlite": database}, {}, markdown=files), scan,
        ServiceOptions(
            agent="claude-code", home=str(tmp_path / "home"),
            place=Place(project="alpha", name="Alpha", root=str(root)),
        ),
    )  # fmt: skip
    with contextlib.closing(opened):
        yield opened


def part(service: MemoryService, name: str) -> Store:
    assert service.store.features.composite is not None
    return service.store.features.composite.parts[name]


def test_a_memory_moves_into_the_repository_and_back(service: MemoryService, tmp_path: Path) -> None:
    memory = service.remember("Deploys go through the blue pool", key="deploy").memory
    service.move(service.plan_move("deploy", "repo"))
    assert part(service, "sqlite").get([memory.id]) == []
    assert len(list(tmp_path.rglob(".memories/*/*.md"))) == 1
    assert service.find("deploy").text == memory.text
    service.move(service.plan_move("deploy", "mine"))
    assert part(service, "markdown").get([memory.id]) == []
    assert list(tmp_path.rglob(".memories/*/*.md")) == []
    assert service.find("deploy").text == memory.text


def test_planning_a_move_does_nothing(service: MemoryService, tmp_path: Path) -> None:
    memory = service.remember("A zebra").memory
    move = service.plan_move(memory.id, "repo")
    assert (move.source, move.target, move.after.text) == ("sqlite", "markdown", "A zebra")
    assert list(tmp_path.rglob(".memories/*/*.md")) == []


def test_a_memory_that_is_already_there_does_not_move(service: MemoryService) -> None:
    memory = service.remember("A zebra").memory
    with pytest.raises(InvalidInput, match="is in sqlite already"):
        service.plan_move(memory.id, "mine")


def test_without_a_server_nothing_goes_to_a_team(service: MemoryService) -> None:
    memory = service.remember("A zebra").memory
    with pytest.raises(StoreError, match="keepmum backend use URL"):
        service.plan_move(memory.id, "team")


def test_an_old_secret_does_not_move(service: MemoryService) -> None:
    memory = service.remember("A zebra").memory
    edited = replace(memory, text="the token is " + "ghp_" + os.urandom(18).hex(), revision=2)
    part(service, "sqlite").commit([Change(memory, edited)])
    with pytest.raises(SecretFound):
        service.plan_move(memory.id, "repo")


def test_a_key_taken_at_the_target_prevents_a_move(service: MemoryService) -> None:
    memory = service.remember("A zebra", key="animal").memory
    move = service.plan_move(memory.id, "repo")
    part(service, "markdown").commit([Change(None, replace(memory, id="mem_01m7yytwqcewd9089yc1qzhn18", text="x"))])
    with pytest.raises(InvalidInput, match="in use in markdown"):
        service.move(move)
    assert part(service, "sqlite").get([memory.id]) == [memory]


def test_a_concurrent_change_leaves_no_copy_behind(service: MemoryService) -> None:
    memory = service.remember("A zebra").memory
    move = service.plan_move(memory.id, "repo")
    part(service, "sqlite").commit([Change(memory, replace(memory, text="A gnu", revision=2))])
    with pytest.raises(StoreError):
        service.move(move)
    assert part(service, "markdown").get([memory.id]) == []
    assert service.find(memory.id).text == "A gnu"


def test_a_store_is_copied_with_everything_that_belongs_to_the_project(service: MemoryService) -> None:
    kept = [service.remember(f"Note {number}", key=f"k{number}", data={"n": number}).memory for number in range(5)]
    service.remember("About the user", scope="global")
    done = service.migrate("sqlite", "markdown", **ALL)
    assert (done.copied, done.known, done.left, done.refused, done.differing) == (5, 0, 1, [], [])
    copies = part(service, "markdown").get([memory.id for memory in kept])
    assert [replace(copy, accessed_at=None) for copy in copies] == kept
    assert len(part(service, "sqlite").get([memory.id for memory in kept])) == 5


def test_an_interrupted_migration_continues(service: MemoryService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "_PAGE", 20)
    for number in range(25):
        service.remember(f"Note {number}")
    calls = iter([None, KeyboardInterrupt()])
    store = part(service, "markdown")
    original = store.commit

    def commit(*arguments: Any) -> Any:
        if (stop := next(calls)) is not None:
            raise stop
        return original(*arguments)

    monkeypatch.setattr(store, "commit", commit)
    with pytest.raises(KeyboardInterrupt):
        service.migrate("sqlite", "markdown", **ALL)
    monkeypatch.undo()
    done = service.migrate("sqlite", "markdown", **ALL)
    assert done.known > 0
    assert done.copied + done.known == 25


def test_a_dry_run_counts_and_copies_nothing(service: MemoryService, tmp_path: Path) -> None:
    service.remember("A zebra")
    assert service.migrate("sqlite", "markdown", dry_run=True, progress=lambda _, __: None).copied == 1
    assert list(tmp_path.rglob(".memories/*/*.md")) == []


def test_a_secret_is_not_copied_and_reported_by_id(service: MemoryService) -> None:
    memory = service.remember("A zebra").memory
    secret = "ghp_" + os.urandom(18).hex()
    part(service, "sqlite").commit([Change(memory, replace(memory, text=f"the token is {secret}", revision=2))])
    done = service.migrate("sqlite", "markdown", **ALL)
    assert [name for name, _ in done.refused] == [memory.id]
    assert_hidden(secret, done.refused[0][1])


def test_after_a_copy_the_one_that_changed_last_is_read(service: MemoryService) -> None:
    memory = service.remember("A zebra").memory
    service.migrate("sqlite", "markdown", **ALL)
    there = part(service, "markdown").get([memory.id])[0]
    later = replace(there, text="A gnu", updated_at=there.updated_at + 1, revision=there.revision + 1)
    part(service, "markdown").commit([Change(there, later)])
    assert service.find(memory.id).text == "A gnu"
    assert [match.memory.text for match in service.recall()] == ["A gnu"]
    service.revise(memory.id, "A fox")
    assert part(service, "markdown").get([memory.id])[0].text == "A fox"


def test_a_memory_replaces_an_older_copy_at_the_target(service: MemoryService) -> None:
    memory = service.remember("A zebra").memory
    service.migrate("sqlite", "markdown", **ALL)
    service.revise(memory.id, "A fox")
    service.move(service.plan_move(memory.id, "repo"))
    assert part(service, "sqlite").get([memory.id]) == []
    assert [found.text for found in part(service, "markdown").get([memory.id])] == ["A fox"]
    assert [past.before["text"] for past in service.history(memory.id)] == ["A zebra"]


def test_a_copy_includes_the_history(service: MemoryService) -> None:
    memory = service.remember("A zebra").memory
    service.revise(memory.id, "A gnu")
    service.revise(memory.id, "A fox")
    done = service.migrate("sqlite", "markdown", **ALL)
    assert (done.past, done.past_refused) == (2, 0)
    past = part(service, "markdown").history(memory.id)
    assert [one.before["text"] for one in past] == ["A gnu", "A zebra"]
    assert past == part(service, "sqlite").history(memory.id)


def test_a_former_state_that_holds_a_secret_is_not_copied(service: MemoryService) -> None:
    memory = service.remember("A zebra").memory
    secret = "ghp_" + os.urandom(18).hex()
    held = replace(memory, text=f"the token is {secret}", revision=2)
    part(service, "sqlite").commit([Change(memory, held)])
    part(service, "sqlite").commit([Change(held, replace(memory, text="A gnu", revision=3))])
    done = service.migrate("sqlite", "markdown", **ALL)
    assert (done.copied, done.past, done.past_refused) == (1, 1, 1)
    assert [one.before["text"] for one in part(service, "markdown").history(memory.id)] == ["A zebra"]


def test_a_moved_memory_keeps_its_history(service: MemoryService) -> None:
    memory = service.remember("A zebra").memory
    service.revise(memory.id, "A gnu")
    service.move(service.plan_move(memory.id, "repo"))
    assert [one.before["text"] for one in service.history(memory.id)] == ["A zebra"]


def test_ids_of_copies_that_are_noted_after_a_cut_off_line_are_kept(tmp_path: Path) -> None:
    first = transfer._Ledger(str(tmp_path), "sqlite", "rest")
    first.note("mem_a", "there_a")
    (file,) = (tmp_path / "state" / "migrations").iterdir()
    file.write_bytes(file.read_bytes() + b'{"mem_b": "\xc3')  # a full disk
    transfer._Ledger(str(tmp_path), "sqlite", "rest").note("mem_b", "there_b")
    assert transfer._Ledger(str(tmp_path), "sqlite", "rest").names == {"mem_a": "there_a", "mem_b": "there_b"}
