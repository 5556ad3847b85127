"""Server, command line, hooks and scanner open no network connection."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from embedding_models import Tiny
from mcp_process import conversed

LIMIT = 60  # seconds
# Runs one of our programs and reports each audit event about a connection.
WATCHER = """
import runpy, sys
def watch(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.", "ftplib.", "smtplib.")):
        sys.stderr.write(f"network: {event}\\n")
sys.addaudithook(watch)
sys.argv = sys.argv[1:]
sys.path.insert(0, __import__("os").path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""
ARGUMENTS = {"text": "Deploys go through the blue pool first; see https://deploys.example/pools"}


def _run_watched(bare_python: list[str], folder: Path, *words: str, stdin: str = "") -> str:
    """The program's standard error."""
    done = subprocess.run(
        [*bare_python, "-c", WATCHER, *words],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def _request(number: int, method: str, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


def test_audit_hook_detects_a_connection(bare_python: list[str], tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import socket; socket.socket().close()")
    assert "network: socket.__new__" in _run_watched(bare_python, tmp_path, str(program))


def test_server_opens_no_connection(bare_python: list[str], root: Path, tmp_path: Path) -> None:
    conversation = (
        _request(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "x"}),
        _request(2, "tools/call", name="remember", arguments=ARGUMENTS),
        _request(3, "tools/call", name="recall", arguments={"query": "pool"}),
        _request(4, "tools/call", name="resume", arguments={}),
    )
    command = [*bare_python, "-c", WATCHER, str(root / "plugin" / "launch.py"), "mcp"]
    done = conversed(command, "".join(conversation), cwd=tmp_path)
    assert (done.returncode, "network" in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("remember", ARGUMENTS["text"]), id="remember"),
        pytest.param(("export",), id="export"),
        pytest.param(("status",), id="status"),
        pytest.param(("doctor",), id="doctor"),
    ],
)
def test_command_opens_no_connection(
    bare_python: list[str], root: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert "network" not in _run_watched(bare_python, tmp_path, str(root / "plugin" / "launch.py"), *words)


@pytest.fixture(params=["", 'backend.origin = "http://127.0.0.1:9"', 'backend.routes = ["shared:rest"]'])
def configured_project(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Path:
    """A project whose memories are stored locally, on a server, or in several stores."""
    (home / ".keepmum").mkdir()
    (home / ".keepmum" / "config.toml").write_text(f"{request.param}\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("event", ["session-start", "stop", "guard"])
def test_hook_opens_no_connection_with_any_store(
    bare_python: list[str], root: Path, configured_project: Path, event: str
) -> None:
    payload = {"session_id": "5f0a", "cwd": str(configured_project), "hook_event_name": event, "prompt_id": "1"}
    hook = str(root / "hooks" / "run.py")
    errors = _run_watched(
        bare_python, configured_project, hook, event, "--client", "claude-code", stdin=json.dumps(payload)
    )
    assert "network" not in errors


def test_scanner_opens_no_connection(bare_python: list[str], root: Path, tmp_path: Path) -> None:
    scanner = os.path.join(str(root), "scanner", "__main__.py")
    assert "network" not in _run_watched(bare_python, tmp_path, scanner, stdin=ARGUMENTS["text"])


# Audit events do not cover native code; its telemetry would leave files in the home.
EMBED = """
import json, sys
from keepmum.embedding.local_model import LocalModel
from keepmum.embedding.minilm import MiniLm
folder, hashes = json.loads(sys.argv[1])
MiniLm.open(folder, LocalModel("tiny", {}, hashes, publisher="", package="", package_size=0)).embed(["blue"])
"""


def test_model_runtime_writes_no_telemetry(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    excluded = ("CI", "GITHUB_", "ORT_", "XDG_")  # with these it reports nothing, or elsewhere
    environ = {name: value for name, value in os.environ.items() if not name.startswith(excluded)}
    subprocess.run(
        [sys.executable, "-c", EMBED, json.dumps([str(tiny.installed), tiny.model.installed])],
        env={**environ, "HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=LIMIT,
        check=True,
    )
    assert list(home.rglob("*")) == []
