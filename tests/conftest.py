"""What every test gets: a home directory of its own, temporary directories in memory, and a guard of the real home.

And what every run prints: why tests were skipped, each reason once.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

import bytecode
import patient_launch

patient_launch.install()  # before anything of Keepmum is imported

# No deadline: the time one example takes depends on the machine. The same examples in every run (see `_fix_examples`);
# `sh tests/run.sh --hypothesis-profile=random` searches for new ones.
settings.register_profile("keepmum", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("keepmum")

ROOT = Path(__file__).resolve().parent.parent
REAL_HOME = str(Path.home() / ".keepmum")
DISK = "/var/tmp" if os.access("/var/tmp", os.W_OK | os.X_OK) else tempfile.gettempdir()  # /tmp may be in memory
_SHARED_MEMORY = "/dev/shm"
_ROOM = 1 << 30  # bytes; a whole run needs less than a third of it
_WRITES = frozenset({"open", "os.mkdir", "os.remove", "os.rename", "sqlite3.connect"})
_CLIENT_VARIABLES = (
    "CLAUDE", "CODEX", "CURSOR", "COPILOT", "GEMINI", "OPENCODE", "KEEPMUM", "MEMORY_", "DEFAULT_", "PLUGIN_",
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Prepare a run before its tests are collected."""
    if config.getoption("--hypothesis-profile") != "random":
        _fix_examples()
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # a line per request would hide why a test failed
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what runs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)  # tests interrupt the processes that they start
    _use_memory(config)


def _fix_examples() -> None:
    """Let Hypothesis draw no constants from our modules: which ones are imported differs from run to run.

    They would make its examples differ although the profile is derandomized.
    Source: `_get_local_constants` of hypothesis/internal/conjecture/providers.py, version 6.170.15, read 2026-11-23.
    """
    providers._get_local_constants = lambda: providers._local_constants  # which nothing adds to then


def _use_memory(config: pytest.Config) -> None:
    """Put temporary directories of tests and of their processes into memory: most of a run would wait for fsync."""
    if hasattr(config, "workerinput") or "TMPDIR" in os.environ or not _memory_is_usable():
        return  # a worker of xdist inherits TMPDIR
    folder = _new_folder(_SHARED_MEMORY)
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ["TMPDIR"] = tempfile.tempdir = folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print each reason for skipping with its number of tests, before the failures: a line per test would hide them."""
    reasons = Counter(_reason(report) for report in terminalreporter.getreports("skipped"))
    if reasons:
        terminalreporter.section(f"{reasons.total()} skipped, by reason")
    for reason, count in sorted(reasons.items(), key=lambda each: (-each[1], each[0])):
        terminalreporter.write_line(f"{count:4}  {reason}")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test, or a module, was skipped."""
    assert isinstance(report.longrepr, tuple), "where it was skipped, and why"
    return report.longrepr[2].removeprefix("Skipped: ")


def _new_folder(parent: str) -> str:
    """A new folder with a short number: random letters or long numbers make some paths look like secrets."""
    for number in itertools.count(1):
        folder = os.path.join(parent, f"keepmum-tests-{number}")
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
            return folder
    raise AssertionError


def _memory_is_usable() -> bool:
    """Whether /dev/shm is a tmpfs with enough room, where programs can be started (containers often forbid it)."""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
        state = os.statvfs(_SHARED_MEMORY)
    except OSError:  # not Linux
        return False
    is_tmpfs = any(line.split()[1:3] == [_SHARED_MEMORY, "tmpfs"] for line in mounts)
    starts_programs = not state.f_flag & os.ST_NOEXEC
    has_room = state.f_bavail * state.f_frsize >= _ROOM
    return is_tmpfs and starts_programs and has_room and os.access(_SHARED_MEMORY, os.W_OK | os.X_OK)


def _guard_real_home(event: str, arguments: tuple[Any, ...]) -> None:
    """Stop a write to the real `~/.keepmum`; child processes get the home of their test.

    An audit hook rather than a comparison afterwards: Keepmum may be in use while the tests run.
    """
    if event not in _WRITES or not isinstance(arguments[0], (str, bytes, os.PathLike)):
        return
    if event == "open" and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        return
    path = os.fsdecode(arguments[0]).removeprefix("file:")
    if path == REAL_HOME or path.startswith(REAL_HOME + os.sep):
        raise PermissionError(f"a test tried to write to the real home ({event})")


sys.addaudithook(_guard_real_home)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session", autouse=True)
def clean_repository() -> Iterator[None]:
    """Fail the run when a test left a file at the top of the repository."""
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()}
    before = set(os.listdir(ROOT))
    yield
    left = sorted(set(os.listdir(ROOT)) - before - ignored)
    assert left == [], "a test left this at the top of the repository"


@pytest.fixture(scope="session")
def disk() -> Iterator[Path]:
    """A temporary directory on a real disk, for tests that are marked `disk`."""
    folder = Path(_new_folder(DISK))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A temporary directory for this test."""
    if request.node.get_closest_marker("disk") is None:
        return tmp_path
    folder: Path = request.getfixturevalue("disk") / tmp_path.name
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def home(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A home directory for this test, set in its environment and so in that of every process it starts."""
    folder = tmp_path_factory.mktemp("home")
    if request.node.get_closest_marker("disk") is not None:
        folder = request.getfixturevalue("disk") / folder.name
        folder.mkdir()
    for name in [name for name in os.environ if name.startswith(_CLIENT_VARIABLES)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setenv("KEEPMUM_HOME", str(folder / ".keepmum"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(folder / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def share_bytecode() -> Callable[[Path], None]:
    """Lets the processes of a KEEPMUM_HOME use the bytecode that those of other tests made."""
    return bytecode.share


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder named `shop`, which is the working directory of this test."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="session")
def bare_python() -> list[str]:
    """The command of the interpreter as clients start it: no site packages, none of the user's variables."""
    return [sys.executable, "-I", "-S"]
