"""`keepmum guard -- COMMAND` as a real process: bytes, exits, signals, and leftovers."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from guard_process import LIMIT, altered, environment, guarded, run, script
from hidden import assert_hidden
from mcp_process import conversed

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals and pipes")

CAT = script("while data := os.read(0, 65536):\n    os.write(1, data)")
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


def call(request_id: object, text: str) -> bytes:
    params = {"name": "keep", "arguments": {"text": text}}
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}).encode() + b"\n"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, share_bytecode: Callable[[Path], None]) -> None:
    """The bytecode cache in the home of these processes."""
    share_bytecode(tmp_path / ".keepmum")


Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server behind a guard, which may be an altered one; it is killed at the end of the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start_guarded(*command: str, guard: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        pipe, words = subprocess.PIPE, [*guard, "--", *command] if guard else guarded(*command)
        process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, env=environment(tmp_path), bufsize=0)
        started.append(process)
        return process

    yield start_guarded
    for process in started:
        process.kill()
        process.wait(LIMIT)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def read_line(process: subprocess.Popen[bytes]) -> bytes:
    """The next line; fails after the limit."""
    assert process.stdout is not None
    readable, _, _ = select.select([process.stdout], [], [], LIMIT)
    assert readable, "nothing came"
    return process.stdout.readline()


def write(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(data)


def is_gone(pid: int) -> bool:
    """Whether the process ends within the limit; it is not our child, so its state is polled."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":  # ended, but not reaped by its new parent
            return True
        select.select([], [], [], 0.01)
    return False


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x00\xff\r\n\n\n binary \x80", id="binary without line feed"),
        pytest.param(PING * 1000, id="many lines"),
        pytest.param(b"x" * 9_000_000 + b"\n" + PING, id="a huge line"),
        pytest.param(b'{"half":', id="an incomplete message"),
    ],
)
def test_bytes_pass_unchanged(tmp_path: Path, data: bytes) -> None:
    done = run(CAT, data, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, data, b"")


def test_call_with_a_secret_does_not_reach_the_server(tmp_path: Path, token: str) -> None:
    log = tmp_path / "log"
    server = script(f"open({str(log)!r}, 'wb').write(sys.stdin.buffer.read())")
    done = run(server, PING + call(2, f"key {token}") + call(3, "fine"), tmp_path)
    assert log.read_bytes() == PING + call(3, "fine")
    assert json.loads(done.stdout)["id"] == 2
    assert_hidden(token[8:].encode(), done.stdout + done.stderr)


def test_response_still_being_masked_when_the_server_ends_is_delivered(tmp_path: Path, token: str) -> None:
    """Scanning two megabytes takes longer than the guard waits for output of a server that has ended."""
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": f"key {token} " * 40_000}]}}
    (tmp_path / "answer").write_text(json.dumps(answer) + "\n", encoding="utf-8")
    server = script(f"sys.stdin.readline(); print(open({str(tmp_path / 'answer')!r}).read(), end='')")
    masked = run(server, PING, tmp_path, ["--results"])
    assert_hidden(token.encode(), masked.stdout)
    assert masked.stdout.count(b" removed]") == 40_000  # among that many, the scanner names later ones less precisely


def test_results_option_masks_results(tmp_path: Path, token: str) -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": f"key {token}"}]}}
    server = script(f"sys.stdin.readline(); print({json.dumps(answer)!r}); print('rest', end='')")
    plain, masked = run(server, PING, tmp_path), run(server, PING, tmp_path, ["--results"])
    assert token.encode() in plain.stdout
    assert_hidden(token.encode(), masked.stdout)
    assert masked.stdout.endswith(b"\nrest")


# Masks a line while the end of the server is awaited for the tenth time.
SLOW = """
from keepmum.guard import proxy, results
masked, acquire, awaited = results.masked, proxy._acquire, []

def mask(line):
    awaited.append(0)
    while awaited[0] < 10:
        os.sched_yield()
    return masked(line)

def count(lock, seconds):
    if not awaited or awaited[0] == 10:
        return acquire(lock, seconds)
    awaited[0] += 1
    return False

results.masked, proxy._acquire = mask, count
"""


def test_final_response_is_delivered_when_masking_is_slow(tmp_path: Path) -> None:
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "last words"}]}})
    server = script(f"sys.stdin.readline(); print({answer!r})")
    done = subprocess.run(
        [*altered(SLOW), "--results", "--", *server],
        input=PING,
        capture_output=True,
        env=environment(tmp_path),
        timeout=LIMIT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, answer.encode() + b"\n")


@pytest.mark.parametrize("status", [0, 1, 3, 255])
def test_exit_status_is_that_of_the_server(tmp_path: Path, status: int) -> None:
    assert run(script(f"sys.exit({status})"), b"", tmp_path).returncode == status


@posix
def test_exit_status_shows_the_signal_that_ended_the_server(tmp_path: Path) -> None:
    assert run(script("os.kill(os.getpid(), signal.SIGSEGV)"), b"", tmp_path).returncode == 128 + signal.SIGSEGV


@posix
@pytest.mark.parametrize(("program", "status"), [("/nonexistent", 127), ("/etc/passwd", 126)])
def test_failure_to_start_the_server_is_reported(tmp_path: Path, program: str, status: int) -> None:
    done = run([program], PING, tmp_path)
    assert done.returncode == status
    assert f"could not start {program}".encode() in done.stderr
    assert b"Traceback" not in done.stderr


@posix
def test_secret_in_place_of_the_command_is_not_repeated(tmp_path: Path, token: str) -> None:
    done = run([f"API_TOKEN={token}", "npx", "server"], PING, tmp_path)
    assert done.returncode == 127
    assert b"could not start API_TOKEN=" in done.stderr
    assert_hidden(token.encode(), done.stderr)


def test_standard_error_passes(tmp_path: Path) -> None:
    assert run(script("sys.stderr.write('a word')"), b"", tmp_path).stderr == b"a word"


def test_invalid_command_line_shows_usage(tmp_path: Path) -> None:
    done = subprocess.run(
        [*guarded()[:-1], "--loud"], capture_output=True, env=environment(tmp_path), timeout=LIMIT, check=False
    )
    assert done.returncode == 2
    assert b"usage:" in done.stderr


def test_pending_requests_are_answered_when_the_server_dies(start: Start) -> None:
    process = start(*script("sys.stdin.readline(); sys.stdin.readline(); sys.exit(3)"))
    write(process, PING + call("b", "fine"))
    answers = [json.loads(read_line(process)) for _ in range(2)]
    assert [answer["id"] for answer in answers] == [1, "b"]
    assert "status 3" in answers[0]["error"]["message"]
    assert process.wait(LIMIT) == 3


def test_output_of_a_dead_server_precedes_the_guard_errors(start: Start) -> None:
    process = start(*script("sys.stdin.readline(); os.write(1, b'half a li'); os._exit(1)"))
    write(process, PING)
    assert read_line(process) == b"half a li\n"
    assert json.loads(read_line(process))["id"] == 1


def test_requests_pending_at_end_of_input_get_no_guard_answer(tmp_path: Path) -> None:
    assert run(script("sys.stdin.read()"), PING, tmp_path).stdout == b""


def test_responses_pass_after_end_of_input(tmp_path: Path) -> None:
    server = script("data = sys.stdin.buffer.read(); os.write(1, b'late ' + data)")
    assert run(server, PING, tmp_path).stdout == b"late " + PING


@posix
def test_closed_output_of_the_server_closes_the_output(start: Start) -> None:
    process = start(*script("os.close(1); sys.stdin.read()"))
    assert read_line(process) == b""
    assert process.poll() is None


@posix
def test_closed_input_of_the_server_breaks_the_pipe(start: Start) -> None:
    process = start(*script("os.close(0); print('closed', flush=True); time.sleep(60)"))
    assert read_line(process) == b"closed\n"

    def write_until_broken() -> None:
        for _ in range(10_000):
            write(process, PING)
            select.select([], [], [], 0.001)

    with pytest.raises(BrokenPipeError):
        write_until_broken()


@posix
def test_closed_output_of_the_client_ends_the_server(start: Start) -> None:
    process = start(*script("signal.signal(signal.SIGPIPE, signal.SIG_DFL)\nwhile True: print('x', flush=True)"))
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(LIMIT) == 128 + signal.SIGPIPE


@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"])
def test_signals_are_forwarded_to_the_server(start: Start, name: str) -> None:
    number = getattr(signal, name)
    server = script(
        f"signal.signal({number}, lambda *_: (os.write(1, b'heard\\n'), os._exit(7)))\nos.write(1, b'ready\\n')\n"
        "while True: time.sleep(1)"
    )
    process = start(*server)
    assert read_line(process) == b"ready\n"
    process.send_signal(number)
    assert read_line(process) == b"heard\n"
    assert process.wait(LIMIT) == 7


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux shows the ignored signals of a process")
def test_server_inherits_default_signal_handling(tmp_path: Path) -> None:
    command = ["/bin/grep", "-E", "^Sig(Ign|Cgt|Blk)", "/proc/self/status"]
    bare = subprocess.run(command, capture_output=True, timeout=LIMIT, check=True)
    assert run(command, b"", tmp_path).stdout == bare.stdout


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux lists open descriptors")
def test_server_inherits_no_descriptors_of_the_guard(tmp_path: Path) -> None:
    listing = script("print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])")
    assert run(listing, b"", tmp_path).stdout == b"[0, 1, 2]\n"


@posix
def test_end_of_input_ends_guard_and_server_at_once(start: Start) -> None:
    endless = "from keepmum.guard import proxy\nproxy._DRAIN = proxy._HALF_CLOSED = 6000.0"
    process = start(*CAT, guard=altered(endless))
    write(process, PING)
    assert read_line(process) == PING
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(LIMIT) == 0


@posix
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_server_ends_with_the_guard(start: Start, name: str) -> None:
    process = start(*script("print(os.getpid(), flush=True)\nsys.stdin.read()"))
    pid = int(read_line(process))
    process.send_signal(getattr(signal, name))
    process.wait(LIMIT)
    assert is_gone(pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux ends a child with its parent")
def test_server_that_ignores_sigterm_ends_with_the_guard(start: Start) -> None:
    process = start(
        *script("signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(os.getpid(), flush=True)\ntime.sleep(600)")
    )
    pid = int(read_line(process))
    process.kill()
    process.wait(LIMIT)
    assert is_gone(pid)


@posix
def test_surviving_child_of_the_server_does_not_delay_exit(start: Start) -> None:
    process = start("/bin/sh", "-c", "sleep 600 & echo $!; exit 4")
    child = int(read_line(process))
    try:
        assert process.wait(LIMIT) == 4
    finally:
        os.kill(child, signal.SIGKILL)


def test_guard_works_in_front_of_the_keepmum_server(tmp_path: Path, root: Path, token: str) -> None:
    server = [*script("")[:3], str(root / "plugin" / "launch.py"), "mcp"]
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    greeting = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    text = json.dumps(greeting) + "\n" + call(1, token).decode()
    done = conversed(guarded(*server), text, env=environment(tmp_path))
    assert {json.loads(line)["id"] for line in done.stdout.splitlines()} == {0, 1}
