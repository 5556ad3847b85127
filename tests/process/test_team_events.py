"""The stream of changes of a running server."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from server_process import ADA, BOB, TeamServer

WAIT = 60.0  # seconds


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    with TeamServer(tmp_path_factory.mktemp("server")) as running:
        yield running


class Stream:
    """A client of the stream."""

    def __init__(self, server: TeamServer, key: str, path: str = "/api/v2/events", **headers: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)
        self._connection.request("GET", path, headers={"Authorization": f"Bearer {key}", **headers})
        self.answer = self._connection.getresponse()

    def next(self) -> dict[str, Any]:
        """The next event."""
        end = time.monotonic() + WAIT  # comments keep the stream alive, also without events
        while time.monotonic() < end and (line := self.answer.readline()):
            if line.startswith(b"data: "):
                return dict(json.loads(line[6:]))
        raise AssertionError("there was no event")

    def rest(self) -> bytes:
        return self.answer.read()

    def close(self) -> None:
        self._connection.close()


def _store(server: TeamServer, text: str, project: str = "api", key: str = BOB) -> str:
    body = {"text": text, "title": text, "project": project}
    answer = server.ask("POST", "/api/v1/memories", body, key=key)
    assert answer.status == 201
    return str(answer.body["data"]["id"])


def test_changes_of_readable_projects_arrive_without_text(server: TeamServer) -> None:
    _store(server, "earlier")
    stream = Stream(server, ADA)
    _store(server, "not for ada", "secret-project")
    _store(server, "Deploys go through the blue pool")
    event = stream.next()
    assert (event["action"], event["project"]) == ("created", "api")
    assert set(event) == {"seq", "action", "id", "project"}
    assert stream.answer.headers["Content-Type"].startswith("text/event-stream")
    stream.close()


def test_a_stream_goes_on_after_the_last_event(server: TeamServer) -> None:
    start = Stream(server, ADA)
    for text in ("one", "two", "three"):
        _store(server, text)
    first = start.next()["seq"]
    start.close()
    everything = Stream(server, ADA, f"/api/v2/events?since={first - 1}")
    seqs = [everything.next()["seq"] for _ in range(3)]
    later = Stream(server, ADA, **{"Last-Event-ID": str(seqs[0])})
    assert [later.next()["seq"], later.next()["seq"]] == seqs[1:]
    everything.close()
    later.close()


@pytest.mark.parametrize("since", ["-1", "x", "1" * 19, "%31%20"])
def test_a_number_that_is_none_is_refused(server: TeamServer, since: str) -> None:
    assert server.ask("GET", f"/api/v2/events?since={since}").status == 400


def test_a_key_has_a_bounded_number_of_streams(tmp_path: Path) -> None:
    """On a server of its own, which counts no stream of another test that was closed a moment ago."""
    with TeamServer(tmp_path) as server:
        streams = [Stream(server, ADA) for _ in range(64)]
        assert all(stream.answer.readline() == b"retry: 2000\n" for stream in streams)
        assert server.ask("GET", "/api/v2/events").status == 429
        other = Stream(server, BOB)
        assert other.answer.status == 200
        _store(server, "Backups go to the cold store")
        assert {stream.next()["project"] for stream in streams[:3]} == {"api"}
        for stream in [*streams, other]:
            stream.close()


def test_a_client_that_does_not_read_slows_nobody(server: TeamServer) -> None:
    idle = socket.create_connection(("127.0.0.1", server.port))
    idle.sendall(f"GET /api/v2/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {ADA}\r\n\r\n".encode())
    stream = Stream(server, BOB)
    _store(server, "Nobody restarts the queue by hand")
    assert stream.next()["action"] == "created"
    stream.close()
    idle.close()


def test_a_stop_ends_streams_with_a_time_to_come_back(server: TeamServer) -> None:
    """The last test of the shared server, which it stops. A stream that is cut off has no last chunk, and raises."""
    stream = Stream(server, ADA)
    assert server.stop() == 0
    assert stream.rest().startswith(b"retry: ")
    stream.close()
