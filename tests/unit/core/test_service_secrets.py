"""A secret is refused in every field, and occurs nowhere afterwards."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hidden import GITHUB_TOKEN as SECRET
from keepmum.core.errors import KeepmumError, SecretFound
from keepmum.service import MemoryService
from unit.core.service_parts import OpenService

PIECE = 5  # characters: pieces of this length must not occur

Write = Callable[[MemoryService, str], object]

WRITES: dict[str, Write] = {
    "text": lambda service, secret: service.remember(f"deploy with {secret} please"),
    "text after a line": lambda service, secret: service.remember(f"a title\n\nthen {secret}"),
    "title": lambda service, secret: service.remember("text", title=f"deploy {secret}"),
    "key": lambda service, secret: service.remember("text", key=secret),
    "why": lambda service, secret: service.remember("text", why=f"because {secret}"),
    "tags": lambda service, secret: service.remember("text", tags=["deploy", secret]),
    "source": lambda service, secret: service.remember("text", source=f"https://ada:{secret}@example.org/"),
    "data": lambda service, secret: service.remember("text", data={"deploy": [{"token": secret}]}),
    "data's name": lambda service, secret: service.remember("text", data={secret: 1}),
    "the name of an object in data": lambda service, secret: service.remember("text", data={"a": {secret: {"b": 1}}}),
    "the name of a list in data": lambda service, secret: service.remember("text", data={secret: ["b"]}),
    "the name of nothing in data": lambda service, secret: service.remember("text", data={"a": [{secret: {}}]}),
    "session": lambda service, secret: service.remember("text", session=secret),
    "project": lambda service, secret: service.remember("text", project=secret),
    "supersedes": lambda service, secret: service.remember("text", supersedes=secret),
    "kind": lambda service, secret: service.remember("text", kind=secret),
    "scope": lambda service, secret: service.remember("text", scope=secret),
    "tier": lambda service, secret: service.remember("text", tier=secret),
    "hidden characters": lambda service, secret: service.remember("deploy " + "\u200d".join(secret)),
    "tag characters": lambda service, secret: service.remember("deploy " + secret[:20] + "\U000e0041" + secret[20:]),
    "an update": lambda service, secret: service.remember(f"new {secret}", key="known"),
    "an import": lambda service, secret: service.import_memory(
        {"id": "mem_" + "0" * 26, "text": secret, "title": "t", "created_at": 1, "updated_at": 1}
    ),
    "an import's agent": lambda service, secret: service.import_memory(
        {"id": "mem_" + "0" * 26, "text": "t", "title": "t", "created_at": 1, "updated_at": 1, "agent": secret}
    ),
    "an import's field": lambda service, secret: service.import_memory(
        {"id": "mem_" + "0" * 26, "text": "t", "title": "t", "created_at": 1, "updated_at": 1, secret: 1}
    ),
    "an import's channel": lambda service, secret: service.import_memory(
        {"id": "mem_" + "0" * 26, "text": "t", "title": "t", "created_at": 1, "updated_at": 1, "origin": secret}
    ),
    "an import's link": lambda service, secret: service.import_memory(
        {"id": "mem_" + "0" * 26, "text": "t", "title": "t", "created_at": 1, "updated_at": 1, "supersedes": secret}
    ),
    "an import's other link": lambda service, secret: service.import_memory(
        {"id": "mem_" + "0" * 26, "text": "t", "title": "t", "created_at": 1, "updated_at": 1, "superseded_by": secret}
    ),
    "an import's git": lambda service, secret: service.import_memory(
        {"id": "mem_" + "0" * 26, "text": "t", "title": "t", "created_at": 1, "updated_at": 1, "git": {"url": secret}}
    ),
    "an id to load": lambda service, secret: service.load([secret]),
    "an id to forget": lambda service, secret: service.forget([secret]),
    "an id to undo": lambda service, secret: service.undo(secret),
    "a way to forget": lambda service, secret: service.forget(["known"], mode=secret),
    "a scope to look in": lambda service, secret: service.recall("x", scope=secret),
    "a kind to look for": lambda service, secret: service.recall("x", kinds=[secret]),
}


def pieces(secret: str) -> set[bytes]:
    return {secret[start : start + PIECE].lower().encode() for start in range(len(secret) - PIECE + 1)}


def error_text(error: BaseException) -> bytes:
    """The text of an error with its causes and traceback."""
    return "".join([*traceback.format_exception(error), repr(error), repr(error.args), repr(vars(error))]).encode()


def found_in(data: bytes, secret: str) -> list[bytes]:
    # Binary parts of the file may contain five of these letters by chance.
    return [piece for piece in pieces(secret) if piece in data.lower()]


def leaks(folder: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"memory.db", "memory.db-wal", "memory.db-shm", "memory.db.lock"}
    return [path.name for path in files if found_in(path.read_bytes(), SECRET)]


@pytest.fixture
def known(service: MemoryService) -> MemoryService:
    service.settle()
    service.remember("an ordinary value", key="known", kind="decision")
    return service


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_secret_is_refused_and_in_no_message(known: MemoryService, write: Write) -> None:
    with pytest.raises(KeepmumError) as refusal:
        write(known, SECRET)
    assert found_in(error_text(refusal.value), SECRET) == []


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_refused_secret_is_nowhere_on_disk(known: MemoryService, keepmum_home: Path, write: Write) -> None:
    with pytest.raises(KeepmumError):
        write(known, SECRET)
    known.remember("another ordinary value")  # writes what was deferred
    assert leaks(keepmum_home) == []
    known.upkeep()  # makes a backup and checkpoints the WAL
    assert leaks(keepmum_home) == []


def test_the_disk_search_of_these_tests_works(known: MemoryService, keepmum_home: Path) -> None:
    assert found_in((keepmum_home / "memory.db-wal").read_bytes(), "an ordinary value")
    known.upkeep()
    for path in (keepmum_home / "memory.db", *keepmum_home.glob("backups/*"), *keepmum_home.glob("state/*/*.md")):
        assert found_in(path.read_bytes(), "an ordinary value"), path.name


def test_a_search_for_a_secret_is_answered_and_not_logged(known: MemoryService, keepmum_home: Path) -> None:
    assert known.recall(SECRET) == []
    known.close()
    assert found_in((keepmum_home / "memory.db").read_bytes(), SECRET) == []


def test_an_agent_whose_name_is_a_secret_is_refused(open_memory: OpenService, keepmum_home: Path) -> None:
    with pytest.raises(SecretFound):
        open_memory(SECRET)
    for path in keepmum_home.iterdir():
        assert found_in(path.read_bytes(), SECRET) == []


def test_a_refusal_names_rule_field_and_line(service: MemoryService) -> None:
    with pytest.raises(SecretFound) as refusal:
        service.remember(f"a title\n\ndeploy with {SECRET}", why="fine")
    field, rule, line = refusal.value.places[0]
    assert (field, line) == ("text", 3)
    assert rule in str(refusal.value)
    assert "nothing stored" in str(refusal.value)
    assert "where the secret is kept" in str(refusal.value)


def test_a_refusal_is_logged_with_its_rule_only(service: MemoryService) -> None:
    with pytest.raises(SecretFound) as refusal:
        service.remember(f"deploy with {SECRET}", key="deploy")
    (event,) = service.activity()
    assert (event.action, event.detail) == ("refused", refusal.value.places[0][1])
    assert (event.memory, event.key) == (None, None)


def test_an_undo_restores_no_old_secret(known: MemoryService) -> None:
    memory = known.find("known")
    history: Any = known.store._database._connection  # type: ignore[attr-defined] # as if an older scanner had missed it
    known.remember("a second value", key="known")
    history.execute("UPDATE history SET before = replace(before, 'an ordinary value', ?)", (f"token {SECRET}",))
    with pytest.raises(SecretFound):
        known.undo(memory.id)
    assert known.find("known").text == "a second value"
