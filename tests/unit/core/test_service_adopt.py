"""A folder that gets a remote keeps the memories that were stored under its path."""

from __future__ import annotations

from pathlib import Path

from keepmum.service import MemoryService, Place, ServiceOptions, open_service
from keepmum.stores import SqliteSpec
from keepmum.workspace.project import UNPLACED
from keepmum_scanner import scan


def _service(folder: Path, project: str) -> MemoryService:
    place = Place(project=project, name="api", root=str(folder))
    service = open_service(
        SqliteSpec(str(folder / "memory.db")), scan, ServiceOptions(place=place, agent="claude-code")
    )
    service.settle()
    return service


def test_memories_follow_a_folder_to_its_first_remote(tmp_path: Path) -> None:
    before = _service(tmp_path, "path:0123456789abcdef")
    kept = before.remember("Tabs, not spaces", key="style.tabs").memory
    before.close()

    after = _service(tmp_path, "github.com/acme/api")
    assert [match.memory.id for match in after.recall("tabs")] == [kept.id]
    assert after.find("style.tabs").id == kept.id
    after.close()


def test_memories_do_not_follow_from_one_remote_to_another(tmp_path: Path) -> None:
    before = _service(tmp_path, "github.com/acme/api")
    before.remember("Tabs, not spaces")
    before.close()

    after = _service(tmp_path, "github.com/someone/else")
    assert after.recall("tabs") == []
    after.close()


def test_a_key_that_is_taken_stays_with_its_holder(tmp_path: Path) -> None:
    named = Place(project="github.com/acme/api", name="api", root=str(tmp_path / "clone"))
    holder = open_service(SqliteSpec(str(tmp_path / "memory.db")), scan, ServiceOptions(place=named, agent="codex"))
    first = holder.remember("Spaces, not tabs", key="style.tabs").memory
    holder.close()

    unnamed = _service(tmp_path, "path:0123456789abcdef")
    second = unnamed.remember("Tabs, not spaces", key="style.tabs").memory
    unnamed.close()

    after = _service(tmp_path, "github.com/acme/api")
    assert after.find("style.tabs").id == first.id
    assert after.find(second.id).key is None
    assert after.find(second.id).project == "github.com/acme/api"
    after.close()


def test_a_session_without_a_project_takes_no_memories_of_a_folder(tmp_path: Path) -> None:
    named = _service(tmp_path, "path:0123456789abcdef")
    kept = named.remember("Tabs, not spaces").memory
    named.close()

    unplaced = _service(tmp_path, UNPLACED)
    assert unplaced.recall("tabs") == []
    other = unplaced.remember("Spaces, not tabs").memory
    unplaced.close()

    after = _service(tmp_path, "path:0123456789abcdef")
    assert [match.memory.id for match in after.recall("tabs")] == [kept.id]
    assert after.find(other.id).project == UNPLACED
    after.close()
