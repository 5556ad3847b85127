"""Malformed input at every entry point gives a message without a traceback and without a part of a secret."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from guard_process import environment, run, script
from hidden import GITHUB_TOKEN, assert_hidden
from mcp_process import ServerProcess

pytestmark = pytest.mark.heavy
LIMIT = 60  # seconds
TOKEN = GITHUB_TOKEN.encode()
PIECES = [TOKEN[at : at + 5] for at in range(4, len(TOKEN) - 4)]

BAD: dict[str, bytes] = {
    "not UTF-8": b"\xff\xfe caf\xe9 " + TOKEN,
    "lone surrogates": b"\xed\xa0\x80 " + TOKEN + b" \xed\xbf\xbf",
    "a line of a megabyte": b"some words " * 100_000 + TOKEN,
    "nulls": b"a\x00b " + TOKEN + b"\x00",
    "nulls inside the secret": b"key " + b"\x00".join(TOKEN[at : at + 1] for at in range(len(TOKEN))),
    "nested too deep": b'{"a":' * 3000 + b'"' + TOKEN + b'"' + b"}" * 3000,
    "nested and unclosed": b"[" * 200_000 + TOKEN,
}
Completed = subprocess.CompletedProcess[bytes]


@pytest.fixture
def home(tmp_path: Path, share_bytecode: Callable[[Path], None]) -> Path:
    share_bytecode(tmp_path / "home" / ".keepmum")
    return tmp_path / "home"


def run_python(command: Sequence[str], data: bytes, home: Path, cwd: Path) -> Completed:
    return subprocess.run(
        [sys.executable, "-I", "-S", *command],
        input=data,
        cwd=cwd,
        env=environment(home),
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )


def as_json_string(bad: bytes) -> bytes:
    """`bad` in a JSON string, with its invalid bytes unchanged."""
    escaped = bad.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\x00", b"\\u0000")
    return b'"' + escaped + b'"'


def assert_withheld(output: bytes, home: Path) -> None:
    """Assert that no part of the secret is shown or stored, and that there is no traceback."""
    assert b"Traceback" not in output
    files = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    for piece in PIECES:
        assert_hidden(piece, output, *files)


EntryPoint = Callable[[Path, Path, Path, bytes], Completed]


def scanner(root: Path, home: Path, cwd: Path, bad: bytes) -> Completed:
    return run_python([str(root / "scanner"), "--json"], bad, home, cwd)


def scan_file(root: Path, home: Path, cwd: Path, bad: bytes) -> Completed:
    (cwd / "note.md").write_bytes(bad)
    return run_python([str(root / "plugin" / "launch.py"), "scan", str(cwd / "note.md")], b"", home, cwd)


def remember(root: Path, home: Path, cwd: Path, bad: bytes) -> Completed:
    return run_python([str(root / "plugin" / "launch.py"), "remember"], bad, home, cwd)


def import_jsonl(root: Path, home: Path, cwd: Path, bad: bytes) -> Completed:
    (cwd / "in.jsonl").write_bytes(b'{"text": ' + as_json_string(bad) + b', "title": "x"}\n' + bad + b"\n")
    return run_python([str(root / "plugin" / "launch.py"), "import", "--yes", str(cwd / "in.jsonl")], b"", home, cwd)


def import_markdown(root: Path, home: Path, cwd: Path, bad: bytes) -> Completed:
    folder = cwd / "in" / "2026-11-21"
    folder.mkdir(parents=True)
    (folder / "a.md").write_bytes(b"---\nid: mem_e42ff8549525\ntimestamp: 1795273720\nagent: cli\n---\n\n" + bad)
    words = ["import", "--yes", "--from", "memories", str(cwd / "in")]
    return run_python([str(root / "plugin" / "launch.py"), *words], b"", home, cwd)


def audit_folder(root: Path, home: Path, cwd: Path, bad: bytes) -> Completed:
    (cwd / "notes").mkdir()
    (cwd / "notes" / "a.md").write_bytes(bad)
    return run_python([str(root / "plugin" / "launch.py"), "audit", str(cwd / "notes")], b"", home, cwd)


ENTRY_POINTS: dict[str, EntryPoint] = {
    "the scanner": scanner,
    "keepmum scan": scan_file,
    "keepmum remember": remember,
    "keepmum import": import_jsonl,
    "keepmum import of Markdown": import_markdown,
    "keepmum audit": audit_folder,
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("entry_point", ENTRY_POINTS.values(), ids=ENTRY_POINTS)
def test_command_reports_malformed_input_without_showing_it(
    entry_point: EntryPoint, bad: bytes, root: Path, home: Path, tmp_path: Path
) -> None:
    cwd = tmp_path / "work"
    (cwd / ".git").mkdir(parents=True)
    done = entry_point(root, home, cwd, bad)
    assert done.returncode in {1, 2}
    assert done.stdout + done.stderr != b""
    assert_withheld(done.stdout + done.stderr, home)


def call(bad: bytes, tool: bytes = b"remember") -> bytes:
    params = b'{"name":"' + tool + b'","arguments":{"text":' + as_json_string(bad) + b"}}"
    return b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + params + b"}\n"


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_malformed_call_does_not_reach_a_guarded_server(bad: bytes, home: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    server = script(f"open({os.fspath(log)!r}, 'wb').write(sys.stdin.buffer.read())")
    done = run(server, call(bad), home)
    assert json.loads(done.stdout)["id"] == 1
    assert log.read_bytes() == b""
    assert_withheld(done.stdout + done.stderr, home)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_guard_hook_denies_malformed_input(bad: bytes, patient_plugin: Path, home: Path, tmp_path: Path) -> None:
    payload = (
        b'{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"mcp__memory__add","tool_input":{"text":'
        + as_json_string(bad)
        + b"}}"
    )
    command = [str(patient_plugin / "hooks" / "run.py"), "guard", "--client", "claude-code"]
    done = run_python(command, payload, home, tmp_path)
    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert (done.returncode, answer["permissionDecision"]) == (0, "deny")
    assert_withheld(done.stdout + done.stderr, home)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_tool_refuses_malformed_input_and_the_server_continues(
    bad: bytes, root: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-I", "-S", str(root / "plugin" / "launch.py"), "mcp"]
    with ServerProcess(command, environment(home)) as server:
        server.greet()
        server.send_bytes(call(bad) + b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
        answers: dict[object, Any] = {}
        while len(answers) < 2:
            message = server.receive()
            answers[message["id"]] = message
        server.close_input()
        assert (server.rest(), server.end()) == ([], 0)
        output = json.dumps(list(answers.values())).encode() + server.errors().encode()
    assert answers[2]["result"] == {}
    refused = answers.get(1) or answers[None]  # an invalid line has no id
    assert "error" in refused or refused["result"]["isError"] is True
    assert_withheld(output, home)
