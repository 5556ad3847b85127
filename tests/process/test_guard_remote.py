"""`keepmum guard --url` in front of a real server of the SDK on loopback."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

import patient_launch
from guard_process import ROOT, environment
from hidden import assert_hidden
from mcp_process import ServerProcess, text_of

pytestmark = pytest.mark.heavy

# A server of the SDK that appends what it receives to a file, with the headers that identify the client.
SERVER = """
import sys
import uvicorn
from mcp.server import MCPServer

log = open(sys.argv[1], "a", encoding="utf-8", buffering=1)
server = MCPServer("kept")

@server.tool()
def keep(text: str) -> str:
    log.write(text + "\\n")
    return "kept " + text

@server.tool()
def old() -> str:
    return "key " + "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"

app = server.streamable_http_app(json_response=sys.argv[2] == "json")

async def front(scope, receive, send):
    for name, value in scope.get("headers", ()):
        if name in (b"x-key", b"mcp-protocol-version"):
            log.write(name.decode() + "=" + value.decode() + "\\n")
    await app(scope, receive, send)

config = uvicorn.Config(front, host="127.0.0.1", port=0, log_level="critical")
listener = config.bind_socket()
listener.listen()  # a connection that comes before the server runs waits
print(listener.getsockname()[1], flush=True)
uvicorn.Server(config).run([listener])
"""

GUARD = [sys.executable, str(ROOT / "plugin" / "launch.py"), "guard"]
Start = Callable[..., ServerProcess]


class Remote:
    """A running server."""

    def __init__(self, port: int, log: Path) -> None:
        self.url = f"http://127.0.0.1:{port}/mcp"
        self.log = log

    def logged(self) -> list[str]:
        """The lines that the server has recorded."""
        return self.log.read_text(encoding="utf-8").splitlines()


@contextmanager
def listening(kind: str, folder: Path) -> Iterator[Remote]:
    """A listening server; it answers with plain JSON or with event streams."""
    log = folder / "log"
    log.touch()
    command = [sys.executable, "-c", SERVER, str(log), kind]
    with subprocess.Popen(command, env=environment(folder), stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline()
            assert port, "the server could not be started"
            yield Remote(int(port), log)
        finally:
            process.kill()


@pytest.fixture(scope="module", params=["json", "stream"])
def remote_of_each_kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """A server for each kind of answer."""
    with listening(request.param, tmp_path_factory.mktemp("each")) as remote:
        yield remote


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """A server for the tests that do not depend on the kind of answer."""
    with listening("stream", tmp_path_factory.mktemp("remote")) as remote:
        yield remote


@pytest.fixture
def start(tmp_path: Path, share_bytecode: Callable[[Path], None]) -> Iterator[Start]:
    """Starts the guard in front of an address, with its packages."""
    running: list[ServerProcess] = []
    share_bytecode(tmp_path / ".keepmum")

    def start_guard(*options: str, guard: Sequence[str] = GUARD, **variables: str) -> ServerProcess:
        running.append(ServerProcess([*guard, *options], {**environment(tmp_path), **variables}))
        return running[-1]

    yield start_guard
    for process in running:
        process.__exit__()


def test_conversation_passes(remote_of_each_kind: Remote, start: Start) -> None:
    guard = start("--url", remote_of_each_kind.url)
    assert "kept" in json.dumps(guard.greet()["result"])
    assert text_of(guard.call("keep", 2, text="blue pool")) == "kept blue pool"
    guard.close_input()
    assert guard.end() == 0


def test_secret_does_not_reach_the_server(remote: Remote, start: Start, token: str) -> None:
    guard = start("--url", remote.url)
    guard.greet()
    refused = guard.call("keep", 2, text=f"key {token}")
    assert "github.token in text, line 1" in text_of(refused)
    guard.call("keep", 3, text="fine")
    assert "fine" in remote.logged()
    assert not [line for line in remote.logged() if token[8:28] in line]


def test_results_option_masks_results(remote_of_each_kind: Remote, start: Start, token: str) -> None:
    guard = start("--url", remote_of_each_kind.url, "--results")
    guard.greet()
    answer = guard.call("old", 2)
    assert text_of(answer) == "key [github.token removed]"
    assert_hidden(token, json.dumps(answer))


def test_headers_come_from_the_environment(remote: Remote, start: Start) -> None:
    guard = start("--url", remote.url, "--header-env", "X-Key=OUR_KEY", OUR_KEY="from the environment")
    guard.greet()
    assert "x-key=from the environment" in remote.logged()


def test_negotiated_version_is_sent_with_each_request(remote: Remote, start: Start) -> None:
    guard = start("--url", remote.url)
    guard.greet("2025-06-18")
    guard.call("keep", 2, text="x")
    assert "mcp-protocol-version=2025-06-18" in remote.logged()


def test_pending_requests_are_answered_after_end_of_input(remote: Remote, start: Start) -> None:
    guard = start("--url", remote.url, guard=patient_launch.command(ROOT / "plugin" / "launch.py", "guard"))
    guard.greet()
    guard.send(
        {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "keep", "arguments": {"text": "late"}}}
    )
    guard.close_input()
    assert [message["id"] for message in guard.rest() if "id" in message] == [5]
    assert guard.end() == 0


def test_malformed_lines_do_not_end_the_conversation(remote: Remote, start: Start) -> None:
    guard = start("--url", remote.url)
    guard.greet()
    guard.send_bytes(b'not JSON\n[]\n7\n\n{"jsonrpc":"2.0","id":4,"method":5}\n')
    assert text_of(guard.call("keep", 9, text="on")) == "kept on"


def test_lost_server_is_an_error(start: Start, tmp_path: Path) -> None:
    with listening("stream", tmp_path) as remote:
        guard = start("--url", remote.url)
        guard.greet()
    assert "error" in guard.call("keep", 7, text="x")
    assert guard.end() == 1
    assert "Traceback" not in guard.errors()


def test_unreachable_server_is_an_error(start: Start) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        guard = start("--url", f"http://127.0.0.1:{unused.getsockname()[1]}/mcp")
        assert "error" in guard.greet()
    assert guard.end() == 1


@pytest.mark.parametrize(
    ("options", "word"),
    [
        pytest.param(["--url", "http://memory.example/mcp"], "https", id="plain http to another host"),
        pytest.param(["--url", "http://localhost.evil.example/mcp"], "https", id="a host that begins with localhost"),
        pytest.param(["--url", "ftp://memory.example/"], "http or https", id="another scheme"),
        pytest.param(["--url", "https://"], "http or https", id="no host"),
        pytest.param(["--url", "https://[::1"], "http or https", id="malformed address"),
        pytest.param(["--url", "https://user:" + "pw@memory.example/"], "--header-env", id="password in the address"),
        pytest.param(["--url", "https://x.example/", "--header-env", "A=UNSET_VARIABLE"], "UNSET_VARIABLE", id="unset"),
    ],
)
def test_invalid_address_is_refused(start: Start, options: list[str], word: str) -> None:
    guard = start(*options)
    assert guard.end() == 2
    assert word in guard.errors()
    assert "user:" not in guard.errors()


def test_missing_package_is_reported_with_advice(tmp_path: Path, bare_python: list[str]) -> None:
    command = [*bare_python, str(ROOT / "plugin" / "launch.py"), "guard", "--url", "http://127.0.0.1:9/mcp"]
    with ServerProcess(command, environment(tmp_path)) as guard:
        assert guard.end() == 1
        assert "keepmum install" in guard.errors()
