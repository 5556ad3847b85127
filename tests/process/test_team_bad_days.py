"""A server whose disk is full or whose database takes no writes: writes wait, reads go on, nothing is lost."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import postgres_server
from own_server import OwnServer
from server_process import Reply

MEMORIES = "/api/v2/memories"
ROOM = 20_000  # bytes that a file may still grow
READ_ONLY = "ALTER ROLE keepmum_app IN DATABASE read_only SET default_transaction_read_only = on"
WRITABLE = "ALTER ROLE keepmum_app IN DATABASE read_only RESET default_transaction_read_only"
# Of this database only: the other tests of the process have connections to the same server.
DISCONNECT = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE usename = 'keepmum_app' AND datname = current_database()
"""
NO_LIMIT = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def _write(server: OwnServer, text: str) -> Reply:
    return server.ask("POST", MEMORIES, {"text": text, "project": "api"}, key=server.key)


def _texts(server: OwnServer) -> set[str]:
    listed = server.ask("GET", f"{MEMORIES}?project=api&limit=100", key=server.key)
    assert listed.status == 200
    return {str(memory["text"])[:20] for memory in listed.body["data"]}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[OwnServer]:
    with OwnServer(tmp_path) as running:
        yield running


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits the files of another process")
def test_with_a_full_disk_nothing_is_acknowledged_that_is_not_stored(server: OwnServer) -> None:
    folder = Path(server.environ["KEEPMUM_HOME"]) / "server"
    acknowledged = {"The first memory"}
    assert _write(server, "The first memory").status == 201
    largest = max(file.stat().st_size for file in folder.glob("memory.db*"))
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (largest + ROOM, resource.RLIM_INFINITY))
    answers = {f"Memory number {number:06}": _write(server, f"Memory number {number:06} " + "word " * 2_000)
               for number in range(8)}  # fmt: skip
    acknowledged |= {text for text, answer in answers.items() if answer.status == 201}
    refused = [answer for answer in answers.values() if answer.status != 201]
    assert {answer.status for answer in refused} == {503}
    assert "disk is full" in refused[-1].body["error"]["message"]
    assert _texts(server) == acknowledged
    headers = {"Content-Type": "application/x-ndjson"}
    with contextlib.suppress(ConnectionError):  # the server may answer and close before it has read everything
        large = server.ask("POST", "/api/v2/import", raw=b" " * 5_000_000, key=server.key, headers=headers)
        assert large.status == 503
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, NO_LIMIT)
    assert _write(server, "There is room again").status == 201
    assert _texts(server) == acknowledged | {"There is room again"}


def test_a_database_that_takes_no_writes_is_still_read(tmp_path: Path) -> None:
    database = postgres_server.database("read_only")
    with psycopg.connect(database.admin, autocommit=True) as admin:
        environ = {"KEEPMUM_SERVER_DATABASE_URL": database.app}
        with OwnServer(tmp_path, environ) as first:
            assert _write(first, "The first memory").status == 201
            admin.execute(READ_ONLY)
            try:
                admin.execute(DISCONNECT)
                answer = _until_refused(first)
                assert (answer.status, answer.headers["retry-after"]) == (503, "2")
                assert "takes no writes" in answer.body["error"]["message"]
                assert "The first memory" in _texts(first)
            finally:
                admin.execute(WRITABLE)
                admin.execute(DISCONNECT)
    assert "internal error" not in "".join(first.log)


def _until_refused(server: OwnServer) -> Reply:
    """The first refusal that is about writing, and not about a connection that was just lost."""
    for number in range(50):
        answer = _write(server, f"Memory {number}")
        if answer.status != 201 and "connection" not in answer.body["error"]["message"]:
            return answer
    raise AssertionError(answer)
