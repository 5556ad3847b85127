"""An audit scans the store again with the current rules, and removes findings without leaving a trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hidden import GITHUB_TOKEN as SECRET
from hidden import assert_hidden
from keepmum.core import ids
from keepmum.core.memory import Change, Memory
from keepmum.service import MemoryService, audit
from keepmum.stores import sqlite
from keepmum.stores.composite import CompositeStore
from keepmum_scanner import scan
from unit.core.service_parts import OpenService

SPLIT = [SECRET[at : at + 5].encode().lower() for at in range(len(SECRET) - 4)]


def leaks(home: Path) -> list[str]:
    contents = {path.name: path.read_bytes().lower() for path in home.rglob("*") if path.is_file()}
    return sorted(name for name, content in contents.items() if any(piece in content for piece in SPLIT))


@pytest.fixture
def planted(service: MemoryService, keepmum_home: Path) -> MemoryService:
    """A store that has a secret in every column, written past the service."""
    service.settle()
    database: Any = service.store._database._connection  # type: ignore[attr-defined] # bypasses the service

    def plant(column: str, value: str) -> str:
        kept = service.remember(f"an ordinary {column}", key=f"the.{column}", kind="decision").memory.id
        database.execute(f"UPDATE memories SET {column} = ? WHERE id = ?", (value, kept))
        return kept

    plant("text", f"deploy with {SECRET} now")
    plant("title", f"deploy with {SECRET[:16]}…")
    plant("why", f"because {SECRET}")
    plant("data", json.dumps({"token": SECRET}))
    plant("tags", json.dumps([SECRET]))
    plant("key", SECRET)
    database.execute("UPDATE memories SET text = ? WHERE title LIKE 'deploy%'", (f"deploy with {SECRET}",))
    past = service.remember("first", key="changed").memory.id
    service.remember("second", key="changed")
    database.execute("UPDATE history SET before = replace(before, 'first', ?) WHERE memory = ?", (SECRET, past))
    service.forget([plant("source", f"https://ada:{SECRET}@example.org/")])
    service.recall("deploys")
    service.activity()
    database.execute("UPDATE activity SET detail = ? WHERE action = 'recalled'", (f"{SECRET} (0 found)",))
    (keepmum_home / "memory.db.corrupt-20260101T000000Z").write_bytes(SECRET.encode())
    service.upkeep()  # makes a backup
    return service


def test_the_search_of_these_tests_works(planted: MemoryService, keepmum_home: Path) -> None:
    assert planted.audit().places
    assert {"memory.db", "memory.db.corrupt-20260101T000000Z"} < set(leaks(keepmum_home))


def test_an_audit_finds_every_place(planted: MemoryService) -> None:
    found = {(place.where, place.field) for place in planted.audit().places}
    in_memories = {("memory", name) for name in ("text", "why", "data", "tags", "key", "source")}
    assert found >= in_memories | {("history", "text"), ("activity", "detail")}


def test_a_report_shows_no_secret(planted: MemoryService) -> None:
    report = planted.audit()
    assert_hidden(SECRET, repr(report) + "".join(map(str, report.places)))


@pytest.mark.parametrize("purge", [False, True], ids=["redact", "purge"])
def test_no_byte_under_the_home_holds_a_piece_of_it_afterwards(
    planted: MemoryService, keepmum_home: Path, *, purge: bool
) -> None:
    planted.cleanse(planted.audit(), purge=purge)
    assert planted.audit().places == []
    assert leaks(keepmum_home) == []
    planted.close()
    assert leaks(keepmum_home) == []


def test_what_is_redacted_is_a_new_revision_with_placeholders(planted: MemoryService) -> None:
    before = planted.find("the.text")
    planted.cleanse(planted.audit(), purge=False)
    after = planted.find("the.text")
    assert after.text == "deploy with [github.token removed] now"
    assert after.revision == before.revision + 1
    assert planted.recall("deploy placeholder removed")


def test_what_is_redacted_can_be_undone_only_to_placeholders(planted: MemoryService) -> None:
    planted.cleanse(planted.audit(), purge=False)
    assert_hidden(SECRET, planted.undo("changed").memory.text)


def test_what_is_purged_is_gone_and_the_rest_is_there(planted: MemoryService) -> None:
    planted.remember("an innocent bystander", key="innocent")
    planted.cleanse(planted.audit(), purge=True)
    assert [match.memory.key for match in planted.recall()] == ["innocent"]


def test_one_sound_backup_is_left(planted: MemoryService, keepmum_home: Path) -> None:
    removed = planted.cleanse(planted.audit(), purge=False)
    assert len([name for name in removed if name.startswith("memory-")]) == 1
    assert len(list((keepmum_home / "backups").iterdir())) == 1
    assert planted.health()["integrity"] == "ok"


def test_a_second_process_that_is_open_goes_on(planted: MemoryService, open_memory: OpenService) -> None:
    other = open_memory("codex")
    other.recall("deploy")
    planted.cleanse(planted.audit(), purge=False)
    assert other.find("the.text").text == "deploy with [github.token removed] now"
    assert other.remember("written afterwards").action == "created"


def test_a_clean_store_has_no_findings(service: MemoryService) -> None:
    service.remember("an ordinary value")
    seen: list[tuple[int, int]] = []
    report = service.audit(lambda done, total: seen.append((done, total)))
    assert (report.places, report.looked_at, seen) == ([], 1, [(1, 0)])


# -- files


def test_a_finding_in_a_file_has_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_text(f"one\nuse {SECRET}\n", encoding="utf-8")
    (spot,) = audit.audit_file(str(file), scan)  # type: ignore[misc] # no `UnscannedFile` here
    assert str(spot) == f"{file}:2:5: github.token"


def test_a_binary_file_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "a.bin"
    file.write_bytes(b"\0" + SECRET.encode())
    assert audit.audit_file(str(file), scan) == audit.UnscannedFile(str(file), "is binary", may_hold_text=False)


@pytest.mark.parametrize(
    "encode", [lambda text: f"\0{text}".encode(), lambda text: f"\ufeff{text}".encode("utf-16-le")]
)
def test_a_text_with_nulls_is_scanned(tmp_path: Path, encode: Callable[[str], bytes]) -> None:
    file = tmp_path / "CLAUDE.md"
    file.write_bytes(encode(f"one\nuse {SECRET}\n"))
    (spot,) = audit.audit_file(str(file), scan)  # type: ignore[misc] # no `UnscannedFile` here
    assert (spot.line, spot.rule) == (2, "github.token")


def test_a_file_that_is_too_large_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "large.txt"
    with file.open("wb") as large:
        large.truncate(audit.LARGEST_FILE + 1)
    assert audit.audit_file(str(file), scan) == audit.UnscannedFile(
        str(file), "is larger than 10 MiB", may_hold_text=True
    )


def test_folders_are_walked_without_git_and_links(tmp_path: Path) -> None:
    for name in (".git", ".memories"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text("x", encoding="utf-8")
    (tmp_path / "b.md").symlink_to(tmp_path / ".memories" / "a.md")
    assert list(audit.files_below([str(tmp_path)])) == [str(tmp_path / ".memories" / "a.md")]


def test_an_older_copy_in_another_store_is_audited_too(tmp_path: Path) -> None:
    stores = {name: sqlite.SqliteStore(str(tmp_path / name / "memory.db")) for name in ("one", "two")}
    now = 1_790_000_000_000
    old = Memory(id=ids.new_id(now), text=f"deploy with {SECRET}", title="deploy", created_at=now, updated_at=now)
    for store in stores.values():
        store.commit([Change(None, old)])
    stores["two"].commit([Change(old, replace(old, text="deploy with care", updated_at=now + 1, revision=2))])
    with MemoryService(CompositeStore(stores, {}), scan) as service:
        report = service.audit()
        assert sorted(place.where for place in report.places) == ["history", "memory"]
        assert report.looked_at == 1
        service.cleanse(report, purge=False)
        assert service.audit().places == []
    assert leaks(tmp_path) == []
