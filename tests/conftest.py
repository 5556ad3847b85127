"""What every test stands on: a home of its own, and a guard that no test reaches the real one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
REAL_HOME = Path.home() / ".keepmum"
_CLIENT_VARIABLES = ("CLAUDE", "CODEX", "CURSOR", "COPILOT", "GEMINI", "KEEPMUM", "MEMORY_", "DEFAULT_", "PLUGIN_")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of this test's own, in the environment of the test and of every process it starts."""
    folder = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(_CLIENT_VARIABLES)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setenv("KEEPMUM_HOME", str(folder / ".keepmum"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(folder / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _real_home_is_left_alone() -> Iterator[None]:
    """Fail the run when any test of it wrote to the real `~/.keepmum`."""
    before = _listing(REAL_HOME)
    yield
    assert _listing(REAL_HOME) == before, f"a test wrote to {REAL_HOME}"


def _listing(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="session")
def bare_python() -> list[str]:
    """The interpreter as clients start it: no site packages, nothing of the user's environment."""
    return [sys.executable, "-I", "-S"]
