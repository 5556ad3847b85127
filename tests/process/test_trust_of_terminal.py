"""A command is a person's only at a terminal, on input and output, and not when an agent runs it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from keepmum.workspace.entry import AGENT_MARKERS

pty = pytest.importorskip("pty")

REMEMBER = [sys.executable, "-c", "import sys; from keepmum.cli.main import main; sys.exit(main(['remember', 'blue']))"]
RECALL = [sys.executable, "-c", "import sys; from keepmum.cli.main import main; sys.exit(main(['recall', '--json']))"]


def run_at_terminal(cwd: Path, environ: dict[str, str], *, piped: str = "") -> None:
    """Store a memory at a new terminal; `piped` is input or output that is a pipe instead."""
    leader, follower = pty.openpty()
    streams = {"stdin": follower, "stdout": follower, "stderr": follower}
    if piped:
        streams[piped] = subprocess.DEVNULL if piped == "stdin" else subprocess.PIPE
    try:
        process = subprocess.Popen(REMEMBER, cwd=cwd, env=environ, **streams)
        os.close(follower)
        with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error
            while os.read(leader, 4096):
                pass
        process.communicate(timeout=60)
        assert process.returncode == 0
    finally:
        os.close(leader)


@pytest.mark.usefixtures("shared_bytecode")
@pytest.mark.parametrize(
    ("variables", "piped", "expected"),
    [
        pytest.param({}, "", "person", id="a person"),
        pytest.param({}, "stdin", "agent", id="piped input"),
        pytest.param({}, "stdout", "agent", id="piped output"),
        pytest.param({"CLAUDECODE": "1"}, "", "agent", id="Claude Code"),
        pytest.param({"CODEX_SANDBOX": "seatbelt"}, "", "agent", id="Codex"),
    ],
)
def test_a_command_at_a_terminal_is_a_persons(
    project: Path, variables: dict[str, str], piped: str, expected: str
) -> None:
    plain = {name: value for name, value in os.environ.items() if name not in AGENT_MARKERS}
    environ = {**plain, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}
    run_at_terminal(project, environ, piped=piped)
    shown = subprocess.run(RECALL, cwd=project, env=environ, capture_output=True, check=True, timeout=60).stdout
    assert [memory["trust"] for memory in json.loads(shown)] == [expected]
