"""`plugin/launch.py` as clients start it: which interpreter runs the command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

LIMIT = 60  # seconds
Launch = Callable[..., "subprocess.CompletedProcess[str]"]
ON_POSIX = pytest.mark.skipif(os.name == "nt", reason="the runtime's interpreter is played by a shell script")


@pytest.fixture
def launch(root: Path, bare_python: list[str]) -> Launch:
    """Runs the launcher; options of the interpreter come first."""

    def launch(*words: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        command = [*bare_python, *options, str(root / "plugin" / "launch.py"), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)

    return launch


def _runtime(home: Path, content: str) -> Path:
    python = home / ".keepmum" / "runtime" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(content)
    python.chmod(0o755)
    return python


def test_without_a_runtime_the_current_interpreter_runs_the_command(launch: Launch) -> None:
    assert launch("--version").stdout.startswith("keepmum ")


@ON_POSIX
def test_an_installed_runtime_runs_the_command(launch: Launch, home: Path) -> None:
    _runtime(home, '#!/bin/sh\necho "runtime: $*"\n')
    assert launch("recall", "pools").stdout.endswith("launch.py recall pools\n")


@ON_POSIX
def test_the_runtime_does_not_start_itself_again(launch: Launch, home: Path) -> None:
    # Runs the real interpreter as the runtime would; it then finds the same runtime again.
    _runtime(home, f'#!/bin/sh\necho started >&2\nexec {sys.executable} "$@"\n')
    done = launch("--version")
    assert (done.stdout.split()[0], done.stderr) == ("keepmum", "started\n")


@ON_POSIX
def test_a_runtime_that_does_not_start_is_ignored(launch: Launch, home: Path) -> None:
    _runtime(home, "neither a script nor a program")
    assert launch("--version").stdout.startswith("keepmum ")


@ON_POSIX
def test_a_runtime_of_the_same_interpreter_is_not_started(launch: Launch, home: Path) -> None:
    python = _runtime(home, "")
    python.unlink()
    python.symlink_to(os.path.realpath(sys.executable))
    assert launch("--version", options=("-X", "importtime")).stderr.count("keepmum_hooks.home") == 1


def _truncate(cache: Path) -> None:
    """Truncate a bytecode cache, as a full disk does."""
    files = sorted(cache.rglob("*.pyc"))
    assert files
    for file in files:
        os.truncate(file, file.stat().st_size // 2)


def test_truncated_bytecode_is_written_again(launch: Launch, home: Path) -> None:
    launch("--version")
    _truncate(home / ".keepmum" / "cache" / "pycache")
    assert [launch("--version").stdout.startswith("keepmum ") for _ in range(2)] == [True, True]
