"""The REST store: what is sent, what is found, what the mirror has, and what happens without the server."""

from __future__ import annotations

import contextlib
import os
import stat
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from contract.stores import a_memory, wanted
from hidden import assert_hidden
from keepmum.core import ids
from keepmum.core.errors import KeyRefused, NotFound, SecretFound, StoreError, StoreReadOnly, Unsupported
from keepmum.core.memory import Change
from keepmum.service import MemoryService
from keepmum.stores import StaleWrite
from rest_server import Answer, FakeServer, behind
from unit.stores.rest_parts import Opener, open_at, put

OpenService = Callable[..., MemoryService]
TOKEN = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
LONG = 600.0  # seconds; longer than a busy machine stops a test


def found(service: MemoryService, *args: Any, **options: Any) -> list[str]:
    return [match.memory.title for match in service.recall(*args, **options)]


def stored(fake: FakeServer) -> list[str]:
    return sorted(memory["text"] for memory in fake.memories.values())


# -- writing


def test_a_write_sends_the_fields_of_the_api(open_memory: OpenService, fake: FakeServer) -> None:
    open_memory().remember("Blue first", title="Pools", tags=["Deploy"])
    body = fake.asked("POST")[0].get_json()
    assert body == {
        "text": "Blue first",
        "title": "Pools",
        "agent": "claude-code",
        "project": "alpha",
        "tags": ["deploy"],
    }


def test_a_new_memory_has_the_id_of_the_server(open_memory: OpenService, fake: FakeServer) -> None:
    answer = open_memory().remember("Blue first")
    assert [ids.to_uuid(answer.memory.id)] == list(fake.memories)


def test_a_create_has_an_idempotency_key(open_memory: OpenService, fake: FakeServer) -> None:
    open_memory().remember("Blue first")
    assert uuid.UUID(fake.asked("POST")[0].headers["Idempotency-Key"]).version == 7


def test_a_secret_reaches_no_server(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    with pytest.raises(SecretFound):
        memory.remember(f"The job signs in with {TOKEN}.")
    assert fake.requests == []


def test_servers_of_two_versions_share_the_lock_for_sending(tmp_path: Path) -> None:
    with contextlib.closing(open_at("http://127.0.0.1:9", tmp_path)):
        assert [path.suffix for path in tmp_path.glob("outbox-*")] == [".turn"]


def test_a_write_under_the_same_key_updates_the_memory(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    memory.remember("Blue first", key="pool")
    assert memory.remember("Green first", key="pool").action == "updated"
    assert stored(fake) == ["Green first"]
    assert len(fake.asked("PUT")) == 1


def test_a_memory_removed_by_a_teammate_is_created_again(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    old = memory.remember("Blue first", key="pool").memory
    fake.memories.clear()
    new = memory.remember("Green first", key="pool").memory
    assert stored(fake) == ["Green first"]
    assert new.id != old.id


def test_a_removal_during_an_update_loses_nothing(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    memory.remember("Blue first", key="pool")
    fake.fault = lambda request: fake.memories.clear() if request.method == "PUT" else None
    memory.remember("Green first", key="pool")
    assert stored(fake) == ["Green first"]


def test_a_superseded_memory_is_deleted_at_the_server(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    old = memory.remember("Blue first").memory
    memory.remember("Green first", supersedes=old.id)
    assert stored(fake) == ["Green first"]


def test_forget_deletes_at_the_server_and_undo_restores(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    old = memory.remember("Blue first").memory
    assert memory.forget([old.id]).done
    assert stored(fake) == []
    back = memory.undo(old.id).memory
    assert stored(fake) == ["Blue first"]
    assert ids.to_uuid(back.id) in fake.memories
    assert memory.find(old.id) == back, "the former id still works"


def test_undo_of_a_change_restores_the_text_at_the_server(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    memory.remember("Blue first", key="pool")
    memory.remember("Green first", key="pool")
    memory.undo("pool")
    assert stored(fake) == ["Blue first"]


def test_a_title_is_not_kept_as_an_earlier_text(open_memory: OpenService, fake: FakeServer) -> None:
    name = fake.put("the whole text", "only a title")
    memory = open_memory()
    memory.recall("title")
    memory.load([name])
    assert memory.history(name) == []


@pytest.mark.parametrize("scope", ["global", "session"])
def test_an_unsupported_scope_is_refused_and_nothing_is_sent(
    open_memory: OpenService, fake: FakeServer, scope: str
) -> None:
    with pytest.raises(Unsupported, match=r"keeps memories of projects.* Nothing was stored"):
        open_memory().remember("Blue first", scope=scope)
    assert not fake.asked("POST")


def test_archiving_is_refused(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    old = memory.remember("Blue first").memory
    with pytest.raises(Unsupported, match="cannot archive"):
        memory.forget([old.id], mode="archive")
    assert stored(fake) == ["Blue first"]


def test_fields_that_the_server_cannot_hold_are_reported_and_kept_here(
    open_memory: OpenService, fake: FakeServer
) -> None:
    memory = open_memory()
    memory.remember("Blue first", kind="decision", key="pool")
    assert "known on this machine only" in " ".join(memory.notices())
    assert memory.find("pool").kind == "decision"
    assert stored(fake) == ["Blue first"]


def test_a_removal_reports_no_missing_fields(open_memory: OpenService) -> None:
    kept = open_memory().remember("A zebra", kind="decision", key="animal").memory
    later = open_memory()
    later.forget([kept.id])
    assert later.notices() == []


def test_a_plain_note_gives_no_notice(open_memory: OpenService) -> None:
    memory = open_memory()
    memory.remember("Blue first")
    assert memory.notices() == []


def test_a_trailer_brings_the_other_fields_to_other_machines(open_memory: OpenService, fake: FakeServer) -> None:
    here = open_memory(trailer=True)
    here.remember("Blue first", kind="decision", why="it\nis tested", importance=0.9, data={"a": [1]})
    assert "```yaml keepmum" in stored(fake)[0]
    there = open_memory(machine="there", trailer=True)
    seen = there.load([there.recall("blue")[0].memory.id])[0]
    assert (seen.text, seen.kind, seen.why, seen.importance, seen.data) == (
        "Blue first", "decision", "it\nis tested", 0.9, {"a": [1]},
    )  # fmt: skip
    assert here.notices() == []


@pytest.mark.parametrize(
    "trailer",
    ['kind: "nonsense"', "kind: [", 'id: "x"'],
    ids=["invalid kind", "invalid JSON", "unknown field"],
)
def test_an_invalid_trailer_is_text(open_memory: OpenService, fake: FakeServer, trailer: str) -> None:
    name = fake.put(f"Blue first\n\n```yaml keepmum\n{trailer}\n```")
    memory = open_memory().load([name])[0]
    assert memory.text.startswith("Blue first")
    assert memory.kind == "note"


def test_a_refusal_of_the_server_is_reported_and_nothing_is_stored(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    fake.fault = lambda _: Answer(400, {"error": {"code": 400, "message": "Secret detected in text: hex"}})
    with pytest.raises(StoreError, match=r"refused \(400\): Secret detected in text: hex"):
        memory.remember("Blue first")
    fake.fault = lambda _: None
    assert found(memory) == []


def test_a_refused_key_fails_a_write(open_memory: OpenService) -> None:
    with pytest.raises(KeyRefused, match="keepmum login"):
        open_memory(key="another-key").remember("Blue first")


def test_without_a_key_nothing_is_sent_and_nothing_is_stored(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory(key=None)
    assert found(memory, "blue") == []
    with pytest.raises(StoreReadOnly, match=r"there is no key for it\. Nothing was stored"):
        memory.remember("Blue first")
    assert "there is no key for it" in memory.notices()
    assert memory.caveat() == "This is what was known here, not the server's answer."
    assert fake.requests == []


def test_two_processes_do_not_overwrite_each_other(open_rest: Opener) -> None:
    here, there = open_rest(), open_rest()
    receipt = put(here, a_memory("one"))
    name = next(iter(receipt.ids.values()))
    before = here.get([name])[0]
    there.commit([Change(before, a_memory("theirs", id=name, revision=2))])
    with pytest.raises(StaleWrite):
        here.commit([Change(before, a_memory("ours", id=name, revision=2))])


# -- reading


def test_a_search_is_one_request_with_words_project_and_limit(open_memory: OpenService, fake: FakeServer) -> None:
    fake.put("Blue first", "Pools")
    assert found(open_memory(), "which pools?") == ["Pools"]
    assert [(one.path, one.args["project"]) for one in fake.requests] == [("/api/v1/memories/search", "alpha")]


def test_a_search_of_all_projects_sends_no_project(open_memory: OpenService, fake: FakeServer) -> None:
    fake.put("zebra", "here"), fake.put("zebra", "there", project="beta")
    assert sorted(found(open_memory(), "zebra", scope="all")) == ["here", "there"]
    assert "project" not in fake.requests[0].args


def test_a_search_of_the_global_scope_is_not_sent(open_memory: OpenService, fake: FakeServer) -> None:
    assert found(open_memory(), "zebra", scope="global") == []
    assert not fake.asked("GET", "/api")


def test_all_tags_are_filtered_at_the_server_and_any_tag_here(open_memory: OpenService, fake: FakeServer) -> None:
    fake.put("zebra one", "both", tags=["a", "b"])
    fake.put("zebra two", "one", tags=["a"])
    fake.put("zebra three", "none")
    memory = open_memory()
    assert found(memory, "zebra", tags=["a", "b"], all_tags=True) == ["both"]
    assert fake.requests[-1].args["tags"] == "a,b"
    assert sorted(found(memory, "zebra", tags=["a", "b"])) == ["both", "one"]


def test_loading_a_text_is_one_request(
    open_memory: OpenService, fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keepmum.stores.rest.write_behind._FRESH_SECONDS", LONG)
    name = fake.put("Blue first", "Pools", agent="codex", tags=["deploy"])
    memory = open_memory()
    seen = memory.load([name])[0]
    assert (seen.text, seen.title, seen.agent, seen.tags) == ("Blue first", "Pools", "codex", ("deploy",))
    assert len(fake.asked("GET", "/api/v1/memories/load")) == 1
    assert fake.memories[name]["access_count"] == 1


def test_an_id_works_in_either_spelling_and_by_its_prefix(open_memory: OpenService, fake: FakeServer) -> None:
    name = fake.put("Blue first", "Pools")
    memory = open_memory()
    listed = memory.recall("pools")[0].memory
    assert [memory.find(one).text for one in (name, listed.id, listed.id[:12])] == ["Blue first"] * 3


def test_an_unknown_id_is_not_found(open_memory: OpenService) -> None:
    with pytest.raises(NotFound):
        open_memory().load([str(uuid.uuid4())])


def test_a_change_by_a_teammate_is_seen(open_memory: OpenService) -> None:
    here, there = open_memory(), open_memory("codex", machine="there")
    name = here.remember("Blue first").memory.id
    there.revise(name, "Green first")
    assert open_memory(machine="third").load([name])[0].text == "Green first"


def test_a_removal_by_a_teammate_is_seen(open_memory: OpenService, fake: FakeServer) -> None:
    name = open_memory().remember("Blue first", key="pool").memory.id
    fake.memories.clear()
    memory = open_memory()
    for reference in ("pool", name):
        with pytest.raises(NotFound):
            memory.load([reference])
    fake.fault = lambda _: Answer(503)
    with pytest.raises(NotFound):  # also while the server is unavailable
        open_memory().load([name])


def test_a_recall_without_a_query_lists_the_memories_of_the_server(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    memory.remember("one", title="mine")
    fake.put("two", "theirs")
    assert sorted(found(memory)) == ["mine", "theirs"]


def test_a_secret_in_a_text_of_the_server_is_masked(open_memory: OpenService, fake: FakeServer) -> None:
    name = fake.put(f"The job signs in with {TOKEN}.", "Jobs")
    assert_hidden(TOKEN, open_memory().load([name])[0].text)


def test_a_project_is_known_by_its_short_name_at_the_server(open_memory: OpenService, fake: FakeServer) -> None:
    fake.put("zebra", "Z")
    match = open_memory().recall("zebra")[0]
    assert match.memory.project == "github.com/acme/alpha"


def test_the_briefing_makes_no_request(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    memory.settle()
    assert fake.requests == []


# -- without the server


def test_a_read_without_the_server_uses_the_mirror_and_says_so(open_memory: OpenService, fake: FakeServer) -> None:
    fake.put("zebra crossing", "a zebra")
    first = open_memory()
    first.recall("zebra")
    first.close()
    fake.fault = lambda _: Answer(503)
    memory = open_memory()
    memory.recall()
    assert found(memory, "zebra") == ["a zebra"]
    assert "not the server's answer" in memory.caveat()


def test_a_recent_match_is_found_without_the_server(open_memory: OpenService, fake: FakeServer) -> None:
    fake.put("zebra crossing", "a zebra")
    memory = open_memory()
    memory.recall("zebra")
    fake.fault = lambda _: Answer(503)
    assert found(memory, "zebra") == ["a zebra"]


def test_a_write_clears_the_caveat_of_a_read(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    fake.fault = lambda _: Answer(503)
    memory.recall("zebra")
    assert memory.caveat()
    memory.remember("Blue first")
    assert memory.caveat() == ""


def test_a_read_from_the_server_has_no_caveat(open_memory: OpenService) -> None:
    memory = open_memory()
    memory.recall("zebra")
    assert memory.caveat() == ""


def test_a_server_that_is_down_is_not_asked_on_every_read(
    open_memory: OpenService, fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keepmum.stores.rest.circuit_breaker._OPEN_SECONDS", LONG)
    memory = open_memory()
    fake.fault = lambda _: Answer(503, headers={"Retry-After": "60"})
    for _ in range(5):
        memory.recall("zebra")
    assert len(fake.requests) == 1


def test_a_write_without_the_server_is_reported_as_queued(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    fake.fault = lambda _: Answer(503)
    answer = memory.remember("Blue first")
    assert (answer.action, answer.queued) == ("created", 1)
    assert memory.remember("Green first").queued == 2
    assert fake.memories == {}


def test_a_queued_memory_is_found_at_once(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    fake.fault = lambda request: Answer(503) if request.method == "POST" else None
    memory.remember("a zebra crossing")
    assert found(memory, "zebra") == ["a zebra crossing"]
    assert found(memory) == ["a zebra crossing"]


def test_a_secret_is_never_queued(open_memory: OpenService, fake: FakeServer, tmp_path: Any) -> None:
    memory = open_memory()
    fake.fault = lambda _: Answer(503)
    with pytest.raises(SecretFound):
        memory.remember(f"The job signs in with {TOKEN}.")
    assert all(TOKEN.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_change_of_a_queued_memory_is_queued_behind_it(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    fake.fault = lambda _: Answer(503)
    name = memory.remember("Blue first").memory.id
    fake.fault = lambda _: None
    assert memory.revise(name, "Green first").queued == 2
    assert fake.memories == {}


def drain(open_memory: OpenService, **options: Any) -> MemoryService:
    """A service whose queue has been sent."""
    memory = open_memory(drains=True, **options)
    ends = time.monotonic() + 60
    store: Any = memory.store
    while store.health()["queued"]:
        assert time.monotonic() < ends, "the queue was not sent"
    return memory


def test_a_delivered_memory_is_still_found_by_its_first_id(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    fake.fault = lambda _: Answer(503)
    name = memory.remember("Blue first", key="pool").memory.id
    memory.remember("Green first", key="pool")
    fake.fault = lambda _: None
    after = drain(open_memory)
    assert stored(fake) == ["Green first"]
    assert after.find(name).id == after.find("pool").id != name


def test_a_lost_response_makes_no_second_memory(open_memory: OpenService, fake: FakeServer) -> None:
    lost = [Answer(502)]
    memory = open_memory()
    fake.late_fault = lambda request: lost.pop() if lost and request.method == "POST" else None
    assert memory.remember("Blue first").queued == 1
    drain(open_memory)
    assert stored(fake) == ["Blue first"]
    assert len(fake.asked("POST")) == 1


def test_a_queued_write_that_is_refused_is_reported(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    fake.fault = lambda _: Answer(503)
    memory.remember("Blue first")
    fake.fault = lambda request: Answer(422) if request.method == "POST" else None
    after = drain(open_memory)
    assert "refused 1 write that was queued; `keepmum outbox list`" in " ".join(after.notices())


def test_a_removal_is_queued(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    name = memory.remember("Blue first").memory.id
    fake.fault = lambda request: Answer(503) if request.method == "DELETE" else None
    assert memory.forget([name]).queued == 1
    fake.fault = lambda _: None
    drain(open_memory)
    assert fake.memories == {}


def test_nothing_is_queued_for_another_server(open_memory: OpenService, fake: FakeServer) -> None:
    memory = open_memory()
    fake.fault = lambda _: Answer(503)
    memory.remember("Blue first")
    other = FakeServer()
    with HTTPServer() as elsewhere:
        there = open_memory(where=behind(elsewhere, other), drains=True)
        there.recall("blue")
        there.close()
    assert other.asked("POST") == []


# -- facts


def test_health_reports_whether_the_server_answers(open_memory: OpenService, fake: FakeServer, origin: str) -> None:
    health = open_memory().health()
    assert (health["server"], health["reached"], health["collection"]) == (origin, True, "shared_agent_memory")
    fake.fault = lambda _: Answer(503, headers={"Retry-After": "60"})
    assert open_memory().health()["reached"] is False


def test_a_search_without_words_finds_nothing(open_rest: Opener) -> None:
    assert open_rest().search([], wanted(), 5) == []


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_all_local_files_are_private(open_memory: OpenService, fake: FakeServer, tmp_path: Path) -> None:
    memory = open_memory()
    fake.fault = lambda _: Answer(503)
    memory.remember("Blue first")
    files = [path for path in (tmp_path / "here").rglob("*") if path.is_file()]
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in files} == {path.name: 0o600 for path in files}


# -- bulk reads by programs


def test_an_export_has_texts_not_titles(open_memory: OpenService, fake: FakeServer) -> None:
    fake.put("the whole text", "only a title")
    assert [memory.text for memory in open_memory().every()] == ["the whole text"]


def test_an_audit_finds_a_secret_in_a_text_that_was_not_loaded(open_memory: OpenService, fake: FakeServer) -> None:
    fake.put(f"The job signs in with {TOKEN}.", "Jobs")
    memory = open_memory()
    memory.recall()
    report = memory.audit()
    assert [place.rule for place in report.places] == ["github.token"]


def test_forget_by_query_searches_the_texts(open_memory: OpenService, fake: FakeServer) -> None:
    fake.put("a zebra crossing", "Streets")
    memory = open_memory()
    listed = memory.forget(query="zebra crossing", dry_run=True)
    assert [one.title for one in listed.memories] == ["Streets"]
    memory.forget(query="zebra crossing", confirmation=listed.confirmation)
    assert fake.memories == {}


def test_a_found_secret_is_redacted_at_the_server(open_memory: OpenService, fake: FakeServer) -> None:
    fake.put(f"The job signs in with {TOKEN}.", "Jobs")
    memory = open_memory()
    memory.recall()
    memory.cleanse(memory.audit(), purge=False)
    assert_hidden(TOKEN, str(fake.memories))
