"""The stdio loop as a real process, with correct and incorrect clients."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from mcp_process import LIMIT, ServerProcess, code_of, request, text_of

SAMPLE = Path(__file__).resolve().parent.parent / "mcp_sample.py"
ROOT = SAMPLE.parent.parent
PLUGIN = ROOT / "plugin"
SOURCES = ("plugin", "scanner", "hooks", "installers")

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has neither signals for processes nor named FIFOs in files")

Start = Callable[..., ServerProcess]


@pytest.fixture
def start(tmp_path: Path, bare_python: list[str]) -> Iterator[Start]:
    """Starts the sample server with these settings."""
    with ExitStack() as started:

        def run(**settings: object) -> ServerProcess:
            given = {"grace": LIMIT, **settings}  # five seconds may not be enough on a busy machine
            environment = {f"SAMPLE_{name.upper()}": str(value) for name, value in given.items()}
            for name in ("PATH", "SYSTEMROOT"):
                if name in os.environ:
                    environment[name] = os.environ[name]
            environment["HOME"] = str(tmp_path)
            server: AbstractContextManager[ServerProcess] = ServerProcess([*bare_python, str(SAMPLE)], environment)
            return started.enter_context(server)

        yield run


@pytest.fixture
def server(start: Start) -> ServerProcess:
    """A sample server after the handshake."""
    running = start()
    running.greet()
    return running


class Gate:
    """A named pipe from which a server waits for a line."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._descriptor = os.open(path, os.O_RDWR)  # for reading and writing, so that opening does not block

    def open(self, line: str = "go") -> None:
        """Let one reader continue, now or when it arrives."""
        os.write(self._descriptor, f"{line}\n".encode())

    def close(self) -> None:
        os.close(self._descriptor)


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    """A closed gate."""
    closed = Gate(tmp_path / "gate")
    yield closed
    closed.close()


def test_session_runs_from_handshake_to_exit(start: Start) -> None:
    server = start()
    assert code_of(server.ask("server/discover")) == -32601
    assert "result" in server.greet()
    assert "result" in server.ask("tools/list")
    assert text_of(server.call("echo", text="ä\u2028\n")) == "ä\u2028\n"
    server.close_input()
    assert server.end() == 0
    assert server.errors() == ""


def test_start_imports_no_expensive_module(bare_python: list[str]) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(PLUGIN)!r}); import keepmum.mcp.stdio, keepmum.mcp.surface; "
        "print(*sys.modules)"
    )
    loaded = subprocess.run([*bare_python, "-c", program], capture_output=True, text=True, timeout=LIMIT, check=True)
    costly = {
        "argparse", "asyncio", "dataclasses", "difflib", "inspect", "logging", "pathlib", "queue", "socket", "sqlite3",
        "subprocess", "tempfile", "threading", "typing", "urllib.parse", "uuid",
    }  # fmt: skip
    assert costly.isdisjoint(loaded.stdout.split())


def test_a_session_imports_nothing_of_a_server(home: Path) -> None:
    program = (
        f"import os, sys; sys.path[:0] = {[str(ROOT / name) for name in SOURCES]!r}; "
        "import keepmum.mcp.serve; from keepmum.service import opening\n"
        "with opening.open_session(os.environ, 'test', upkeep=False) as memory:\n"
        "    memory.remember('a session stores and finds'); memory.recall('finds'); memory.resume()\n"
        "print(*sys.modules)"
    )
    command = [sys.executable, "-I", "-c", program]
    loaded = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True, cwd=home)
    found = {name.partition(".")[0] for name in loaded.stdout.split()}
    assert "keepmum" in found
    assert found.isdisjoint({"starlette", "uvicorn", "psycopg", "psycopg_pool", "mcp", "prometheus_client", "anyio"})


def test_stray_output_and_child_processes_stay_off_the_protocol(server: ServerProcess) -> None:
    server.send(request("tools/call", {"name": "chatter"}, "loud"))
    server.send(request("tools/call", {"name": "echo", "arguments": {"text": "heard"}}, "after"))
    answers = [server.receive(), server.receive()]
    assert [text_of(answer) for answer in answers] == ["child ended with 0", "heard"]
    server.close_input()
    assert server.end() == 0
    assert server.errors().splitlines() == ["a stray line", "stray bytes", "from a child", "0"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"{\n", -32700, id="not JSON"),
        pytest.param(b"\xff\xfe\n", -32700, id="not UTF-8"),
        pytest.param(b"[" * 2_000_000 + b"\n", -32700, id="endless nesting"),
        pytest.param(b'{"a":' * 500_000 + b"\n", -32700, id="endless nesting of objects"),
        pytest.param(b"x" * (4 * 1024 * 1024 + 1) + b"\n", -32600, id="a byte too long"),
        pytest.param(b"x" * (4 * 1024 * 1024) + b"\n", -32700, id="at the limit"),
        pytest.param(b"[1]\n", -32600, id="a batch"),
    ],
)
def test_malformed_line_gets_an_error_and_the_loop_continues(server: ServerProcess, data: bytes, code: int) -> None:
    server.send_bytes(data)
    answer = server.receive()
    assert (answer["id"], code_of(answer)) == (None, code)
    assert server.ask("ping")["result"] == {}


@pytest.mark.parametrize("depth", [100, 900, 5_000, 50_000])
def test_deeply_nested_arguments_are_refused(server: ServerProcess, depth: int) -> None:
    nested = b"[" * depth + b"]" * depth
    server.send_bytes(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":'
        + nested
        + b"}}}\n"
    )
    answer = server.receive()
    assert "error" in answer or answer["result"]["isError"]  # type: ignore[index]
    assert server.ask("ping")["result"] == {}


def test_blank_lines_and_carriage_returns_are_skipped(server: ServerProcess) -> None:
    server.send_bytes(b'\n\r\n  \n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n')
    assert server.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads the peak of memory from /proc")
def test_overlong_message_is_not_buffered(server: ServerProcess) -> None:
    before = peak_kib(server)
    for _ in range(64):
        server.send_bytes(b"x" * 1024 * 1024)
    server.send_bytes(b"\n")
    assert code_of(server.receive()) == -32600
    assert peak_kib(server) - before < 12 * 1024


def peak_kib(server: ServerProcess) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


@posix
def test_slow_opening_does_not_delay_handshake_or_lists(start: Start, gate: Gate) -> None:
    server = start(gate=gate.path)
    server.greet()
    assert "result" in server.ask("tools/list")
    assert server.ask("ping")["result"] == {}
    gate.open()
    assert text_of(server.call("echo", text="x")) == "x"


@posix
def test_ping_is_answered_while_a_tool_runs(server: ServerProcess, gate: Gate) -> None:
    server.send(request("tools/call", {"name": "wait", "arguments": {"text": str(gate.path)}}, "slow"))
    assert server.receive()["method"] == "notifications/message"
    assert server.ask("ping", None, "quick")["result"] == {}
    gate.open("done")
    assert text_of(server.receive()) == "done\n"


def test_running_tool_sees_its_cancellation(start: Start, tmp_path: Path) -> None:
    server = start(trace=tmp_path / "trace")
    server.greet()
    server.send(request("tools/call", {"name": "watch"}, "long"))
    assert server.receive()["method"] == "notifications/message"
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}})
    server.send(request("tools/call", {"name": "echo", "arguments": {"text": "next"}}, "next"))
    assert server.receive()["id"] == "next"
    server.close_input()
    assert server.end() == 0
    assert (tmp_path / "trace").read_text(encoding="utf-8").split() == ["watch", "cancelled", "echo", "close"]


def test_pending_requests_are_answered_after_end_of_input(start: Start, tmp_path: Path) -> None:
    server = start(trace=tmp_path / "trace")
    server.greet()
    for number in range(200):
        server.send(request("tools/call", {"name": "echo", "arguments": {"text": str(number)}}, number))
    server.close_input()
    assert [text_of(answer) for answer in server.rest()] == [str(number) for number in range(200)]
    assert server.end() == 0
    assert (tmp_path / "trace").read_text(encoding="utf-8").split()[-1] == "close"


def test_last_line_without_line_feed_is_answered(start: Start) -> None:
    server = start()
    server.send_bytes(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    server.close_input()
    assert server.rest() == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    assert server.end() == 0


def test_idle_server_waits_for_nothing_after_the_end_of_input(start: Start) -> None:
    """How long it takes is measured by `tests/bench/server_start.py`."""
    server = start(grace=10 * LIMIT)
    server.greet()
    server.call("echo", text="x")
    server.close_input()
    assert server.end() == 0


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_ends_an_idle_server(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    server = start(trace=tmp_path / "trace")
    server.greet()
    server.call("echo", text="x")
    server.process.send_signal(number)
    assert server.end() == 0
    assert (tmp_path / "trace").read_text(encoding="utf-8").split() == ["echo", "close"]
    assert server.errors() == ""


@posix
def test_signal_finishes_the_running_request_and_drops_pending_ones(start: Start, tmp_path: Path, gate: Gate) -> None:
    server = start(trace=tmp_path / "trace")
    server.greet()
    server.send(request("tools/call", {"name": "wait", "arguments": {"text": str(gate.path)}}, "in hand"))
    server.send(request("tools/call", {"name": "echo", "arguments": {"text": "x"}}, "waiting"))
    assert server.receive()["method"] == "notifications/message"
    server.process.send_signal(signal.SIGINT)
    server.process.send_signal(signal.SIGTERM)
    gate.open("done")
    assert [(answer["id"], text_of(answer)) for answer in server.rest()] == [("in hand", "done\n")]
    assert server.end() == 0
    assert (tmp_path / "trace").read_text(encoding="utf-8").split() == ["wait", "close"]


@posix
@pytest.mark.parametrize("end", ["input", "signal"])
def test_hanging_tool_is_ended_after_the_grace_period(start: Start, gate: Gate, end: str) -> None:
    server = start(grace=0.2)
    server.greet()
    server.send(request("tools/call", {"name": "wait", "arguments": {"text": str(gate.path)}}, "hangs"))
    assert server.receive()["method"] == "notifications/message"
    if end == "input":
        server.close_input()
    else:
        server.process.send_signal(signal.SIGTERM)
    assert server.end() == 1


def test_closed_output_ends_the_server(tmp_path: Path, bare_python: list[str]) -> None:
    ours, theirs = os.pipe()
    process = subprocess.Popen(
        [*bare_python, str(SAMPLE)],
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    os.close(theirs)
    os.close(ours)
    with process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        assert process.wait(LIMIT) == 0
        assert process.stderr.read() == b""


@posix
@pytest.mark.parametrize("missing", [0, 1, 2])
def test_missing_descriptor_does_not_crash_the_server(bare_python: list[str], missing: int) -> None:
    redirection = f"{missing}{'<' if missing == 0 else '>'}&-"
    ran = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *bare_python, str(SAMPLE)],
        input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    assert ran.stderr == b""
    assert ran.returncode == 0
