"""`keepmum doctor --live` with the real clients: tools, briefing and reminder reach the model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.clients


def doctor(product: Path, home: Path, path: str, *words: str) -> tuple[int, list[dict[str, Any]]]:
    """Exit code and findings of the command, for a user with the client on PATH."""
    environ = {"HOME": str(home), "KEEPMUM_HOME": str(home / ".keepmum"), "PATH": path, "LANG": "C.UTF-8"}
    environ["TMPDIR"] = tempfile.gettempdir()  # Codex makes a folder in each home that is not below it
    command = [sys.executable, "-I", "-S", str(product / "plugin" / "launch.py"), "doctor", "--json", *words]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, json.loads(done.stdout)["findings"]


@pytest.mark.parametrize(
    ("client", "command"),
    [
        ("claude-code", "claude"),
        ("codex", "codex"),
        ("copilot-cli", "copilot"),
        ("gemini-cli", "gemini"),
        ("opencode", "opencode"),
    ],
)
def test_everything_reaches_the_model(
    request: pytest.FixtureRequest, product: Path, tmp_path: Path, client: str, command: str
) -> None:
    home, tools = tmp_path / "home", tmp_path / "bin"
    home.mkdir()
    tools.mkdir()
    (tools / command).symlink_to(request.getfixturevalue(f"{command}_program"))
    (tools / "python3").symlink_to(os.path.realpath(sys.executable))
    path = os.pathsep.join([str(tools), "/usr/bin", "/bin"])
    status, (finding,) = doctor(product, home, path, "--live", client)
    assert (status, finding["level"]) == (0, "ok"), finding
    assert sorted(os.listdir(home)) == [".keepmum"]  # the client wrote nothing there
    _, later = doctor(product, home, path)
    assert finding in later
