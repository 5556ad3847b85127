"""Listings of a server with more memories than one request returns are complete, or say that they are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request

from keepmum.cli.main import main
from rest_server import KEY, Answer, FakeServer, behind

MANY = 1_700


@pytest.fixture(autouse=True)
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer) -> FakeServer:
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    fake = FakeServer()
    origin = behind(httpserver, fake)
    monkeypatch.setenv("MEMORY_API_URL", origin)
    monkeypatch.setenv("MEMORY_API_KEY", KEY)
    main(["backend", "use", origin])
    return fake


def fill(server: FakeServer, count: int = MANY) -> None:
    for number in range(count):
        server.put(f"Queue {number} restarts at night", f"Queue {number}", project="shop" if number % 3 else "office")


def exported(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, set[str], str]:
    """Exit status, the texts that `export` wrote, and what it said."""
    capsys.readouterr()
    status = main(["export", *options])
    output = capsys.readouterr()
    return status, {json.loads(line)["text"] for line in output.out.splitlines()}, output.err


def texts(server: FakeServer) -> set[str]:
    return {memory["text"] for memory in server.memories.values()}


@pytest.mark.parametrize("command", [["import", "--from", "server"], ["migrate", "rest", "sqlite"]], ids=" ".join)
def test_a_large_server_is_copied_completely(
    capsys: pytest.CaptureFixture[str], server: FakeServer, command: list[str]
) -> None:
    fill(server)
    capsys.readouterr()
    assert main(command) == 0
    assert capsys.readouterr().out.startswith(f"{MANY} ")
    main(["backend", "use", "sqlite"])
    assert exported(capsys, "--all")[1] == texts(server)


def test_an_export_of_a_large_server_is_complete(capsys: pytest.CaptureFixture[str], server: FakeServer) -> None:
    fill(server)
    status, found, said = exported(capsys, "--all")
    assert (status, found) == (0, texts(server))
    assert f"{MANY:,} memories exported" in said
    status, found, _ = exported(capsys)
    assert (status, found) == (0, {one["text"] for one in server.memories.values() if one["project"] == "shop"})


# -- servers that return less than they have


@pytest.mark.parametrize("cap", [10, 100, 500, 1_000])
def test_a_silently_capped_list_is_reported(capsys: pytest.CaptureFixture[str], server: FakeServer, cap: int) -> None:
    fill(server)
    server.change_list = lambda _, listed: listed[:cap]
    status, found, said = exported(capsys, "--all")
    assert status == 1
    assert cap <= len(found) < MANY
    assert f"listed {len(found):,} of its memories, and has more" in said
    assert "this export is not complete" in said
    assert main(["import", "--from", "server"]) == 1
    output = capsys.readouterr()
    assert output.out.startswith(f"{len(found)} imported")
    assert "and has more" in output.err


def test_a_list_that_is_capped_like_every_search_is_reported(
    capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    fill(server, 400)
    server.change_list = lambda _, listed: listed[:100]
    server.fault = lambda request: Answer(200, {"data": []}) if request.path.endswith("/search") else None
    status, found, said = exported(capsys, "--all")
    assert (status, len(found)) == (1, 200), "100 of each project"
    assert "the lists of its projects hold more" in said


def test_a_refused_limit_is_reported(capsys: pytest.CaptureFixture[str], server: FakeServer) -> None:
    fill(server)
    server.fault = lambda request: (
        Answer(400, {"error": {"message": "limit must be <= 500"}}) if int(request.args.get("limit", 0)) > 500 else None
    )
    status, found, said = exported(capsys, "--all")
    assert (status, len(found)) == (1, 500)
    assert "limit must be <= 500" in said


def test_a_server_that_takes_small_limits_only_is_read(capsys: pytest.CaptureFixture[str], server: FakeServer) -> None:
    fill(server, 60)
    server.fault = lambda request: (
        Answer(400, {"error": {"message": "limit must be <= 100"}}) if int(request.args.get("limit", 0)) > 100 else None
    )
    assert exported(capsys, "--all")[:2] == (0, texts(server))


@pytest.mark.parametrize("count", [500, 501])
def test_a_full_list_is_not_a_reason_for_a_warning(
    capsys: pytest.CaptureFixture[str], server: FakeServer, count: int
) -> None:
    fill(server, count)
    status, found, said = exported(capsys, "--all")
    assert (status, len(found)) == (0, count)
    assert "has more" not in said


def test_duplicates_in_a_list_are_copied_once(capsys: pytest.CaptureFixture[str], server: FakeServer) -> None:
    fill(server, 700)
    server.change_list = lambda _, listed: [item for item in listed for _ in range(2)]
    capsys.readouterr()
    assert main(["import", "--from", "server"]) == 0
    assert capsys.readouterr().out.startswith("700 imported")


def test_a_server_that_returns_fewer_texts_than_asked_for_is_read_completely(
    capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    fill(server, 120)
    server.most_loaded = 7
    assert exported(capsys, "--all")[:2] == (0, texts(server))


def test_a_server_that_cannot_search_is_listed(capsys: pytest.CaptureFixture[str], server: FakeServer) -> None:
    fill(server, 600)
    server.fault = lambda request: Answer(503) if request.path.endswith("/search") else None
    assert exported(capsys, "--all")[:2] == (0, texts(server))


def test_a_list_that_cannot_be_stored_here_is_reported(
    capsys: pytest.CaptureFixture[str], server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(server, 20)
    monkeypatch.setattr("keepmum.stores.rest.write_behind.WriteBehindCache.flush", lambda _: None)
    status, _, said = exported(capsys, "--all")
    assert status == 1
    assert "this machine could not store the list" in said


@pytest.mark.parametrize("version", [1, 2])
def test_both_versions_of_the_api_are_read_to_the_end(
    capsys: pytest.CaptureFixture[str], server: FakeServer, version: int
) -> None:
    server.newest = version
    for number in range(3):
        main(["remember", f"Pool {number} is blue", "--title", f"Pool {number}"])
    fill(server, 700)
    assert exported(capsys, "--all")[:2] == (0, texts(server))


def test_a_server_among_other_stores_is_read_to_the_end(
    capsys: pytest.CaptureFixture[str], server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPMUM_ROUTES", "project:sqlite shared:rest")
    main(["remember", "This one is here"])
    fill(server)
    status, found, _ = exported(capsys, "--all")
    assert (status, found) == (0, {*texts(server), "This one is here"})
    server.change_list = lambda _, listed: listed[:100]
    status, found, said = exported(capsys, "--all")
    assert status == 1
    assert "has more" in said


def test_a_list_of_the_latest_counts_all(capsys: pytest.CaptureFixture[str], server: FakeServer) -> None:
    fill(server)
    capsys.readouterr()
    assert main(["recall", "--scope", "all"]) == 0
    assert f"the latest 10 of {MANY:,}" in capsys.readouterr().err


def test_an_export_without_the_server_holds_what_is_known_and_says_so(
    capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    fill(server, 30)
    exported(capsys, "--all")
    server.fault = lambda _: Answer(503)
    status, found, said = exported(capsys, "--all")
    assert (status, found) == (1, texts(server))
    assert "not the server's answer" in said


def test_an_audit_of_a_capped_server_is_not_clean(capsys: pytest.CaptureFixture[str], server: FakeServer) -> None:
    fill(server, 300)
    server.change_list = lambda _, listed: listed[:100]
    capsys.readouterr()
    assert main(["audit"]) == 1
    assert "not every memory was scanned" in capsys.readouterr().err


def test_a_removal_by_tag_concerns_the_whole_server(capsys: pytest.CaptureFixture[str], server: FakeServer) -> None:
    for number in range(600):
        server.put(f"Queue {number}", f"Queue {number}", project="shop", tags=["old"])
    capsys.readouterr()
    assert main(["forget", "--tag", "old", "--dry-run"]) == 0
    assert "600 memories would be trashed" in capsys.readouterr().err


def test_a_list_by_tag_says_when_not_every_memory_was_compared(
    capsys: pytest.CaptureFixture[str], server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keepmum.stores.rest.reader._MOST_LOADED", 100)
    for number in range(150):
        server.put(f"Queue {number}", f"Queue {number}", project="shop", tags=["old"])
    main(["recall", "--tag", "old", "--limit", "3"])
    assert "50 memories of http" in capsys.readouterr().err
    main(["recall", "--tag", "old", "--limit", "3"])
    output = capsys.readouterr()
    assert "the latest 3 of 150" in output.err
    assert "not compared" not in output.err


# -- servers that change or fail meanwhile


def test_a_failure_in_the_middle_is_reported_and_can_be_continued(
    capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    fill(server)
    loads = iter(range(10_000))
    server.fault = lambda request: Answer(503) if request.path.endswith("/load") and next(loads) >= 30 else None
    capsys.readouterr()
    assert main(["import", "--from", "server"]) == 1
    output = capsys.readouterr()
    done = int(output.out.split()[0])
    assert 0 < done < MANY
    assert "not all of them were copied" in output.err
    assert "Run the command again to continue" in output.err
    server.fault = lambda _: None
    assert main(["import", "--from", "server"]) == 0
    assert capsys.readouterr().out == f"{MANY - done} imported, {done} unchanged, 0 refused\n"


def test_an_export_that_fails_in_the_middle_says_so_and_holds_no_title_for_a_text(
    capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    fill(server)
    loads = iter(range(10_000))
    server.fault = lambda request: Answer(503) if request.path.endswith("/load") and next(loads) >= 30 else None
    status, found, said = exported(capsys, "--all")
    assert status == 1
    assert found < texts(server)
    assert len(found) >= 1_000
    assert "this export is not complete" in said
    assert "cannot serve just now (503)" in said


def test_one_answer_that_fails_is_reported_though_later_ones_do_not(
    capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    fill(server)
    loads = iter(range(10_000))
    server.fault = lambda request: (
        Answer(400, {"error": {"message": "one bad id"}})
        if request.path.endswith("/load") and next(loads) == 3
        else None
    )
    status, found, said = exported(capsys, "--all")
    assert status == 1
    assert found < texts(server)
    assert "this export is not complete" in said
    assert "one bad id" in said


def test_memories_that_are_removed_during_an_export_do_not_hide_others(
    capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    fill(server)
    gone = iter(list(server.memories)[::2])

    def remove(request: Request) -> Answer | None:
        if request.path.endswith("/load"):
            for _ in range(20):
                server.memories.pop(next(gone, ""), None)
        return None

    server.fault = remove
    status, found, _ = exported(capsys, "--all")
    assert status == 0
    assert found >= texts(server)


def test_memories_that_teammates_removed_before_do_not_hide_others(
    capsys: pytest.CaptureFixture[str], server: FakeServer
) -> None:
    fill(server)
    main(["recall", "--scope", "all"])  # the mirror has all titles
    for name in list(server.memories)[:1_200]:
        del server.memories[name]
    assert exported(capsys, "--all")[:2] == (0, texts(server))


def test_a_list_without_older_memories_removes_nothing_from_the_mirror(
    capsys: pytest.CaptureFixture[str], server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("keepmum.stores.rest.reader._SETTLING_MS", -60_000)
    for number in range(30):
        main(["remember", f"Queue {number} restarts at night", "--key", f"queue-{number}"])
    server.change_list = lambda _, listed: listed[:10]
    main(["recall"])
    capsys.readouterr()
    assert main(["load", "queue-0"]) == 0
