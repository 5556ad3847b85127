"""What every test stands on: a home of its own, and a guard that no test reaches the real one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# How long one example takes says more about the machine than about the code; and a run must be repeatable.
settings.register_profile("keepmum", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("keepmum")

ROOT = Path(__file__).resolve().parent.parent
REAL_HOME = str(Path.home() / ".keepmum")
_WRITES = frozenset({"open", "os.mkdir", "os.remove", "os.rename", "sqlite3.connect"})
_CLIENT_VARIABLES = ("CLAUDE", "CODEX", "CURSOR", "COPILOT", "GEMINI", "KEEPMUM", "MEMORY_", "DEFAULT_", "PLUGIN_")


def _guard_real_home(event: str, arguments: tuple[Any, ...]) -> None:
    """Stop what would write to the real `~/.keepmum`; child processes get the home of their test.

    An audit hook, not a look at the folder afterwards: whoever runs the tests may be using Keepmum meanwhile.
    """
    if event not in _WRITES or not isinstance(arguments[0], (str, bytes, os.PathLike)):
        return
    if event == "open" and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        return
    path = os.fsdecode(arguments[0]).removeprefix("file:")
    if path == REAL_HOME or path.startswith(REAL_HOME + os.sep):
        raise PermissionError(f"a test reached for the real home ({event})")


sys.addaudithook(_guard_real_home)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session", autouse=True)
def clean_repository() -> Iterator[None]:
    """Fails the run when a test that forgot to go elsewhere left a file at the top of the repository."""
    before = set(os.listdir(ROOT))
    yield
    left = [name for name in os.listdir(ROOT) if name not in before and not name.startswith(".")]  # of tools: caches
    assert left == [], "a test left this at the top of the repository"


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


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder called `shop`, in which the test works as a person in a terminal does."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="session")
def bare_python() -> list[str]:
    """The interpreter as clients start it: no site packages, nothing of the user's environment."""
    return [sys.executable, "-I", "-S"]
