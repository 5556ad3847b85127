"""How much a team may store: by every way to write, over both engines."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from keepmum.core import ids, serialization
from keepmum.core.errors import QuotaExceeded
from keepmum.core.memory import Change, Memory
from keepmum.server.call import Call
from keepmum.server.edge.at_once import AtOnce, TooManyAtOnce
from keepmum.server.people.roles import Principal
from keepmum.server.v2.transfer import export_memories
from keepmum.service import Place, Step
from keepmum.service.team import (
    ORGANISATION,
    Grant,
    QdrantSpec,
    QuotaLimits,
    SharedSpec,
    TeamSqliteSpec,
    Usage,
    create_collection,
    open_shared,
    open_team,
)
from keepmum.stores.quota import Quota
from keepmum.workspace.allowlist import AllowlistScanner
from qdrant_server import NAME, QdrantHttp
from server_app import ENGINES, client_of, keys, spec_of

MOST = 3  # memories of a project
V1, V2 = "/api/v1/memories", "/api/v2/memories"
_names = (f"q{number}-{uuid.uuid4().hex[:8]}" for number in itertools.count())


@pytest.fixture(scope="module", params=ENGINES)
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("server")
    limits = QuotaLimits(project_memories=MOST, project_bytes=2_000)
    settings = {"writes_per_minute": 0, "reads_per_minute": 0}
    with client_of(request.param, folder, keys(root=None, ada=["ada-1", "ada-2"]), settings, limits) as opened:
        yield opened


@pytest.fixture
def project() -> str:
    return next(_names)


def ask(client: TestClient, method: str, path: str, body: Any = None, key: str = "root", **more: Any) -> Any:
    return client.request(method, path, json=body, headers={"Authorization": f"Bearer {key}"}, **more)


def fill(client: TestClient, project: str, count: int = MOST) -> list[str]:
    """Store memories; returns their ids."""
    found = [ask(client, "POST", V2, {"text": f"Fact {number}", "project": project}) for number in range(count)]
    assert [answer.status_code for answer in found] == [201] * count
    return [answer.json()["data"]["id"] for answer in found]


def stored(client: TestClient, project: str) -> int:
    listed = ask(client, "GET", "/api/v2/projects").json()["data"]
    return next((int(one["memories"]) for one in listed if one["project"] == project), 0)


def whole(project: str, text: str = "One more") -> dict[str, Any]:
    memory = Memory(id=ids.new_id(), text=text, title="t", created_at=1_790_000_000_000, updated_at=1_790_000_000_000)
    return {**serialization.to_json(replace(memory, project=project)), "project": project}


def sentence(project: str, unit: str = "memories", most: int = MOST) -> str:
    return (
        f"nothing was stored: the project {project} has no room for more {unit} (limits.project_{unit}: {most:,}), the "
        "trash included; a curator can purge memories, or the operator of the server raise the limit"
    )


def test_every_way_to_write_is_refused_with_the_same_sentence(client: TestClient, project: str) -> None:
    fill(client, project)
    line = json.dumps(whole(project)).encode()
    call = {"name": "remember", "arguments": {"text": "One more"}}
    mcp = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accept = {"Accept": "application/json, text/event-stream", "X-Keepmum-Project": project}
    key = {"Authorization": "Bearer root"}
    item = {"id": whole(project)["id"], "memory": whole(project)}
    answers = [
        ask(client, "POST", V1, {"text": "One more", "title": "t", "project": project}),
        ask(client, "POST", V2, {"text": "One more", "project": project}),
        ask(client, "POST", V2, {"memory": whole(project)}),
        ask(client, "POST", f"{V2}:batch", {"items": [item], "atomic": True}),
        ask(client, "POST", "/api/v2/handoffs", {"project": project, "summary": "s", "next_steps": "n"}),
    ]
    assert {answer.status_code for answer in answers} == {403}
    assert {answer.json()["error"]["message"] for answer in answers} == {sentence(project)}
    (each,) = ask(client, "POST", f"{V2}:batch", {"items": [item]}).json()["data"]
    assert (each["status"], each["error"]["message"]) == (403, sentence(project))
    sent = {**key, "Content-Type": "application/x-ndjson"}
    imported = client.post("/api/v2/import", content=line, headers=sent).json()["data"]
    assert (imported["refused"], imported["problems"][0]["message"]) == (1, sentence(project))
    answer = client.post("/mcp", json=mcp, headers={**key, **accept}).json()["result"]
    assert answer["isError"]
    assert sentence(project) in answer["content"][0]["text"]
    assert stored(client, project) == MOST


def test_another_project_still_has_room(client: TestClient, project: str) -> None:
    fill(client, project)
    assert ask(client, "POST", V2, {"text": "Elsewhere", "project": next(_names)}).status_code == 201


def test_a_batch_that_does_not_fit_as_a_whole_is_not_stored_in_part(client: TestClient, project: str) -> None:
    items = [{"id": one["id"], "memory": one} for one in (whole(project, f"Fact {n}") for n in range(MOST + 1))]
    assert ask(client, "POST", f"{V2}:batch", {"items": items, "atomic": True}).status_code == 403
    assert stored(client, project) == 0
    statuses = [one["status"] for one in ask(client, "POST", f"{V2}:batch", {"items": items}).json()["data"]]
    assert statuses == [201] * MOST + [403]


def test_an_import_stores_what_fits(client: TestClient, project: str) -> None:
    lines = b"\n".join(json.dumps(whole(project, f"Fact {number}")).encode() for number in range(MOST + 2))
    headers = {"Authorization": "Bearer root", "Content-Type": "application/x-ndjson"}
    counts = client.post("/api/v2/import", content=lines, headers=headers).json()["data"]
    assert (counts["stored"], counts["refused"]) == (MOST, 2)


def test_a_full_project_can_be_changed_and_its_trash_counts(client: TestClient, project: str) -> None:
    first, *_ = fill(client, project)
    assert ask(client, "PATCH", f"{V2}/{first}", {"text": "Fact 0, but longer"}).status_code == 200
    assert ask(client, "DELETE", f"{V2}/{first}").status_code == 200
    assert ask(client, "POST", V2, {"text": "One more", "project": project}).status_code == 403


@pytest.fixture(params=[*ENGINES, "qdrant"])
def spec(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SharedSpec]:
    if request.param != "qdrant":
        yield spec_of(request.param, tmp_path)
        return
    with QdrantHttp() as server:
        create_collection(server.url, "", NAME)
        yield QdrantSpec(server.url, "", NAME, str(tmp_path / "memory.db"))


def test_a_purge_makes_room(spec: SharedSpec, project: str) -> None:
    limits = QuotaLimits(project_memories=1)
    place = Place(project=project, name=project)
    with (
        contextlib.closing(open_team(spec, AllowlistScanner(None), None, limits)) as team,
        team.service(Grant(ORGANISATION), actor="ada", place=place, origin="rest") as service,
    ):
        first = service.remember("Deploys go through the blue pool").memory
        with pytest.raises(QuotaExceeded):
            service.remember("Backups go to the cold store")
        service.apply([Step(first.id, None, first.revision, curated=True)], lambda _: True)
        second = service.remember("Grüße", title="t", why="é", data={"a": 1}).memory
        size = len("Grüße".encode()) + 1 + 2 + len('{"a": 1}')
        assert team.shared.usage(Grant(ORGANISATION))[project] == Usage(1, size, 1, second.updated_at)
        assert project not in team.shared.usage(Grant(ORGANISATION, frozenset({"another"})))


def test_bytes_are_limited_and_a_shorter_text_always_fits(client: TestClient, project: str) -> None:
    (memory,) = fill(client, project, 1)
    refused = ask(client, "PATCH", f"{V2}/{memory}", {"text": "é" * 1_000, "title": "t"})
    assert refused.status_code == 403
    assert refused.json()["error"]["message"] == sentence(project, "bytes", 2_000)
    assert ask(client, "PATCH", f"{V2}/{memory}", {"text": "é" * 900, "title": "t"}).status_code == 200
    hidden = {**whole(project), "data": {"value": "x" * 300}}
    assert ask(client, "POST", V2, {"memory": hidden}).status_code == 403
    assert ask(client, "PATCH", f"{V2}/{memory}", {"text": "short"}).status_code == 200
    assert ask(client, "POST", V2, {"memory": hidden}).status_code == 201


def test_a_key_sees_its_own_projects_only(client: TestClient, project: str) -> None:
    fill(client, project, 2)
    ask(client, "POST", V2, {"text": "Grüße", "title": "t", "project": "ada-1"}, key="ada")
    answer = ask(client, "GET", "/api/v2/projects", key="ada").json()
    first, second = answer["data"]
    assert (first["project"], second["project"]) == ("ada-1", "ada-2")
    assert (first["role"], first["memories"], first["active"], first["bytes"]) == ("writer", 1, 1, 8)
    assert {**second, "role": ""} == {
        "project": "ada-2", "role": "", "memories": 0, "active": 0, "bytes": 0, "changed_at": None,
    }  # fmt: skip
    assert answer["limits"] == {"memories": MOST, "bytes": 2_000}
    assert {"ada-1", project} <= {one["project"] for one in ask(client, "GET", "/api/v2/projects").json()["data"]}


@pytest.mark.parametrize("engine", ENGINES)
def test_writers_at_once_do_not_exceed_the_limit_of_the_server(engine: str, tmp_path: Path) -> None:
    spec = spec_of(engine, tmp_path)
    with contextlib.closing(open_shared(spec)) as shared:
        before = sum(used.memories for used in shared.usage(Grant(ORGANISATION)).values())
    name, refused = next(_names), []
    limits = QuotaLimits(memories=before + 5)
    with contextlib.closing(open_team(spec, AllowlistScanner(None), None, limits)) as team:

        def write(number: int) -> None:
            project = f"{name}-{number % 3}"
            place = Place(project=project, name=project)
            with team.service(Grant(ORGANISATION), actor="ada", place=place, origin="rest") as service:
                try:
                    service.remember(f"Fact {number} of a crowd")
                except QuotaExceeded as error:
                    refused.append(str(error))

        threads = [threading.Thread(target=write, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        usage = team.shared.usage(Grant(ORGANISATION))
    assert sum(used.memories for project, used in usage.items() if project.startswith(name)) == 5
    assert len(refused) == 11
    assert {name in message for message in refused} == {False}  # nothing about any project


def a_change(project: str = "api") -> Change:
    return Change(None, Memory(id=ids.new_id(), text="x", title="", created_at=1, updated_at=1, project=project))


def test_a_write_that_failed_takes_no_room() -> None:
    quota = Quota(QuotaLimits(project_memories=1), dict)
    with pytest.raises(ValueError, match="failed"), quota.writing([a_change()]):
        raise ValueError("failed")
    with quota.writing([a_change()]):
        pass
    with pytest.raises(QuotaExceeded), quota.writing([a_change()]):
        pass


def test_what_a_change_frees_is_free_after_it_was_written() -> None:
    quota, first = Quota(QuotaLimits(project_memories=1), dict), a_change()
    with quota.writing([first]):
        pass
    with quota.writing([Change(first.after, None)]), pytest.raises(QuotaExceeded), quota.writing([a_change()]):
        pass
    with quota.writing([a_change()]):
        pass


def test_what_other_processes_wrote_counts_after_a_minute_and_what_they_purged_at_once() -> None:
    now, there = 0.0, {"api": Usage(0, 0, 0, 0)}
    quota = Quota(QuotaLimits(project_memories=2), lambda: there, lambda: now)
    with quota.writing([a_change()]):
        pass
    there = {"api": Usage(2, 2, 2, 0)}
    now = 61.0
    with pytest.raises(QuotaExceeded), quota.writing([a_change()]):
        pass
    there = {"api": Usage(1, 1, 1, 0)}
    now = 67.0
    with quota.writing([a_change()]):
        pass


def test_a_key_runs_two_exports_at_a_time(tmp_path: Path) -> None:
    exports = AtOnce(2, "exports")
    with contextlib.closing(open_team(TeamSqliteSpec(str(tmp_path / "m.db")), AllowlistScanner(None))) as team:

        def export(key: str = "k1") -> Any:
            roles = {"api": "reader"}
            ada = Principal("p", "ada", key, roles)  # type: ignore[arg-type]
            return export_memories(Call(team=team, principal=ada, exports=exports, current_principal=lambda: ada)).body

        with team.service(
            Grant(ORGANISATION), actor="ada", place=Place(project="api", name="api"), origin="rest"
        ) as service:
            service.remember("Deploys go blue")
        running = [export(), export()]
        with pytest.raises(TooManyAtOnce, match="this key has 2 exports"):
            export()
        assert json.loads(list(export("k2"))[-1]) == {"exported": 1}
        running.pop()  # as when a client leaves
        assert json.loads(list(export())[-1]) == {"exported": 1}
        assert json.loads(list(running.pop())[-1]) == {"exported": 1}
        assert not exports
