"""A running server resolves the code that memories mention, and its answers and the next briefing say what changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import patient_launch
from keepmum_hooks import places
from mcp_process import LIMIT, ServerProcess, text_of

pytestmark = pytest.mark.usefixtures("shared_bytecode")

CODE = "def login(user):\n    check(user)\n    return make(user)\n"
NOTE = "Tokens are made by `login()` in auth.py"


def _commit(folder: Path, code: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    (folder / "auth.py").write_text(code)
    for words in (("add", "-A"), ("commit", "-q", "-m", "a change")):
        subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True, capture_output=True)
    _commit(folder, CODE)
    return folder


@pytest.fixture
def server(root: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerProcess]:
    monkeypatch.chdir(repository)
    with ServerProcess(patient_launch.command(root / "plugin" / "launch.py", "mcp"), dict(os.environ)) as process:
        process.greet()
        yield process


def _until(wanted: str, answer: Callable[[], str]) -> str:
    """The first answer that has the wanted text."""
    deadline = time.monotonic() + LIMIT
    while wanted not in (text := answer()):
        assert time.monotonic() < deadline, text
    return text


def test_changed_code_is_remarked_on_in_answers_and_in_the_briefing_of_its_commit(
    server: ServerProcess, repository: Path, root: Path, home: Path
) -> None:
    def call(tool: str, **arguments: object) -> str:
        return text_of(server.ask("tools/call", {"name": tool, "arguments": arguments}))

    def briefing_of_the_next_session() -> str:
        payload = {"session_id": "s", "cwd": str(repository), "hook_event_name": "SessionStart", "source": "startup"}
        command = [
            sys.executable,
            "-I",
            "-S",
            str(root / "hooks" / "run.py"),
            "session-start",
            "--client",
            "claude-code",
        ]
        done = subprocess.run(
            command, input=json.dumps(payload).encode(), capture_output=True, timeout=LIMIT, check=True
        )
        return done.stdout.decode()

    first = _commit(repository, CODE + "\n\nx = 1\n")
    call("remember", text=NOTE, kind="decision")
    assert "changed since" not in call("recall", query="tokens")
    second = _commit(repository, CODE.replace("make", "make_new"))
    remark = f"may be outdated: auth.py::login changed since {first[:7]}"
    _until(remark, lambda: call("recall", query="tokens"))
    assert remark in call("resume")
    file = Path(places.briefing_file(str(home / ".keepmum"), str(repository)))
    _until(remark, lambda: file.read_text(encoding="utf-8"))
    shown = briefing_of_the_next_session()
    assert remark in shown
    assert f"as of commit {second[:7]}" in shown
    _commit(repository, CODE.replace("make", "make_newer"))
    shown = briefing_of_the_next_session()
    assert NOTE in shown
    assert remark not in shown
    assert "as of commit" not in shown
