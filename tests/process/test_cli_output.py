"""The command line with an output that is full, closed, or in another encoding."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("shared_bytecode")

LIMIT = 60  # seconds
Call = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def call(root: Path, bare_python: list[str], tmp_path: Path) -> Call:
    """Runs a command in a new folder."""

    def call(*words: str, out: int = subprocess.PIPE, **environ: str) -> subprocess.CompletedProcess[bytes]:
        command = [*bare_python, str(root / "plugin" / "launch.py"), *words]
        variables = {**os.environ, **environ}
        return subprocess.run(
            command,
            stdout=out,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            cwd=tmp_path,
            env=variables,
            timeout=LIMIT,
            check=False,
        )

    return call


def test_output_is_utf8_in_an_ascii_locale(call: Call) -> None:
    call("remember", "Der Pool heißt “grün” → blau", "--key", "pool")
    assert "heißt “grün” → blau" in call("load", "pool", LC_ALL="C", PYTHONUTF8="0").stdout.decode()


def test_closed_pipe_is_not_an_error(call: Call) -> None:
    call("remember", "The pool is blue")
    reading, writing = os.pipe()
    os.close(reading)
    done = call("export", out=writing)
    os.close(writing)
    assert (done.returncode, b"Error" in done.stderr) == (0, False)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a disk that is always full")
def test_full_disk_is_reported_in_one_message(call: Call) -> None:
    call("remember", "The pool is blue")
    full = os.open("/dev/full", os.O_WRONLY)
    done = call("recall", out=full)
    os.close(full)
    message = b"keepmum: failed: No space left on device. Fix that, then try again\n"
    assert (done.returncode, done.stderr) == (1, message)
