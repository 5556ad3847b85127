"""`keepmum serve import`: a whole shared-agent-memory server, from its API and from exported points."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from contract.stores import a_memory
from foreign_memories import QDRANT
from keepmum.cli.main import main
from keepmum.core import ids
from keepmum.core.memory import Change, Memory
from keepmum.service.team import Key, Person, open_shared
from keepmum.stores.grants import ORGANISATION, Grant
from keepmum.stores.shared import TeamSqliteSpec
from keepmum.workspace import credentials
from rest_server import KEY, Answer, FakeServer, behind


class Site:
    """Our server on this machine, and the old one, which has three memories of two projects."""

    def __init__(self, home: Path, httpserver: HTTPServer) -> None:
        self.home = home
        self.old = FakeServer()
        self.url = behind(httpserver, self.old)
        self.old.put("Deploys go through the blue pool", project="shop", tags=["deploy"], agent="codex")
        self.old.put("Backups run at night", project="shop")
        self.old.put("The build needs Node", project="web")

    def run(self, *arguments: str) -> int:
        return main(["serve", "import", *arguments, "--yes"])

    def memories(self) -> dict[str, Memory]:
        """Ours by text."""
        with contextlib.closing(open_shared(TeamSqliteSpec(str(self.home / "server" / "memory.db")))) as shared:
            found = shared.acting(Grant(ORGANISATION)).between("", "~", 10_000)
        return {memory.text: memory for memory in found}

    def people(self) -> tuple[list[Person], list[Key]]:
        with contextlib.closing(open_shared(TeamSqliteSpec(str(self.home / "server" / "memory.db")))) as shared:
            return shared.records.people(), shared.records.keys()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer) -> Site:
    monkeypatch.setenv("KEEPMUM_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["serve", "init"]) == 0
    found = Site(tmp_path, httpserver)
    credentials.store(str(tmp_path), found.url, KEY)
    return found


def test_a_whole_server_moves_with_its_ids_authors_and_projects(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    before = site.people()
    assert site.run(site.url) == 0
    memories = site.memories()
    assert {memory.id for memory in memories.values()} == {ids.from_uuid(uuid) for uuid in site.old.memories}
    one = memories["Deploys go through the blue pool"]
    assert (one.project, one.agent, one.tags, one.created_by) == ("shop", "codex", ("deploy",), "somebody")
    assert (one.trust, one.origin, one.status) == ("team", "import", "active")
    assert site.people() == before
    out = capsys.readouterr().out.splitlines()
    assert out[-3:] == [
        "shop: 2 there, 2 here", "web: 1 there, 1 here", "3 imported, 0 updated, 0 unchanged, 0 refused",
    ]  # fmt: skip


def test_a_second_run_loads_only_what_is_new_or_changed(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert site.run(site.url) == 0
    site.old.requests.clear()
    assert site.run(site.url) == 0
    assert site.old.asked("GET", "/api/v1/memories/load") == []
    added = site.old.put("Added since", project="web")
    changed = next(one for one in site.old.memories.values() if one["text"] == "The build needs Node")
    changed |= {"text": "The build needs Bun", "updated_at": "2099-01-01T00:00:00.000Z",
                "updatedAt": "2099-01-01T00:00:00.000Z"}  # fmt: skip
    assert site.run(site.url) == 0
    (asked,) = site.old.asked("GET", "/api/v1/memories/load")
    assert set(asked.args["ids"].split(",")) == {added, changed["id"]}
    assert {"Added since", "The build needs Bun"} < site.memories().keys()
    assert "1 imported, 1 updated" in capsys.readouterr().out


def test_an_interrupted_move_goes_on(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(320):
        site.old.put(f"memory {number}", project="big")
    loads = []

    def fail(request: Any) -> Answer | None:
        if request.path.endswith("/load"):
            loads.append(request)
        return Answer(401, {"error": "Unauthorized"}) if len(loads) == 6 else None

    site.old.fault = fail
    assert site.run(site.url) == 1
    stored = len(site.memories())
    assert 0 < stored < 323
    site.old.fault = lambda _: None
    site.old.requests.clear()
    assert site.run(site.url) == 0
    asked = [
        one for request in site.old.asked("GET", "/api/v1/memories/load") for one in request.args["ids"].split(",")
    ]
    assert len(asked) == 323 - stored
    assert len(site.memories()) == 323
    assert "big: 320 there, 320 here" in capsys.readouterr().out


def test_an_id_that_another_project_chose_loses_no_memory(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    taken = next(
        ids.from_uuid(uuid) for uuid, one in site.old.memories.items() if one["text"] == "Backups run at night"
    )
    with contextlib.closing(open_shared(TeamSqliteSpec(str(site.home / "server" / "memory.db")))) as shared:
        other = a_memory("Not of the shop", id=taken, project="mine")
        shared.acting(Grant(ORGANISATION)).commit([Change(None, other)])
    for counts in ("3 imported, 0 updated, 0 unchanged", "0 imported, 0 updated, 0 unchanged"):  # as nothing is loaded
        assert site.run(site.url) == 0
        assert counts in capsys.readouterr().out
        assert {memory.text: memory.project for memory in site.memories().values()} == {
            "Deploys go through the blue pool": "shop", "Backups run at night": "shop", "The build needs Node": "web",
            "Not of the shop": "mine",
        }  # fmt: skip
    assert len(site.old.asked("GET", "/api/v1/memories/load")) == 1
    with contextlib.closing(open_shared(TeamSqliteSpec(str(site.home / "server" / "memory.db")))) as shared:
        (stored,) = shared.acting(Grant(ORGANISATION, frozenset({"shop"}), frozenset())).get([taken])
    assert stored.text == "Backups run at night"


def test_a_project_gets_the_id_that_it_has_here(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert site.run(site.url, "--project", "shop=github.com/acme/shop") == 0
    projects = sorted(memory.project or "" for memory in site.memories().values())
    assert projects == ["github.com/acme/shop", "github.com/acme/shop", "web"]
    assert "shop as github.com/acme/shop: 2 there, 2 here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "said"), [("shop", "must be NAME=ID"), ("shpo=github.com/acme/shop", "no memory there is of")]
)
def test_a_wrong_project_imports_nothing(site: Site, given: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert site.run(site.url, "--project", given) == 1
    assert said in capsys.readouterr().err
    assert site.memories() == {}


def test_a_secret_stays_behind_and_is_named_by_its_id(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    secret = "AKIA" + "QYLPMN5H" + "HHFPZAM2"
    uuid = site.old.put(f"the key is {secret}", project="shop")
    assert site.run(site.url) == 1
    captured = capsys.readouterr()
    assert uuid in captured.err
    assert "shop: 3 there, 2 here" in captured.out
    assert secret not in captured.err + captured.out
    assert len(site.memories()) == 3


def test_without_a_key_the_next_step_is_said(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    credentials.remove(str(site.home), site.url)
    assert site.run(site.url) == 1
    assert f"`keepmum login {site.url}`" in capsys.readouterr().err
    assert site.old.requests == []


def test_exported_points_move_with_what_the_server_forgot(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "points.json"
    file.write_text(json.dumps(QDRANT), encoding="utf-8")
    assert site.run(str(file)) == 0
    memories = site.memories()
    assert (memories["Deploys go through the blue pool"].created_by, memories["昔のメモ"].status) == (
        "ada-key", "tombstoned",
    )  # fmt: skip
    assert memories["Deploys go through the blue pool"].access_count == 5
    assert "shop: 2 there, 2 here" in capsys.readouterr().out
    assert site.run(str(file)) == 0
    assert "0 imported, 0 updated, 2 unchanged" in capsys.readouterr().out


def test_nothing_is_moved_without_a_person(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "import", site.url]) == 1  # no terminal
    assert "nothing was imported" in capsys.readouterr().err
    assert site.memories() == {}
