"""`keepmum upgrade`: what it keeps, what it refuses, and what is left when it is killed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from keepmum_installers.app import layout
from releases import Releases, copy

pytestmark = pytest.mark.heavy

LIMIT = 120  # seconds
KILLS = 200 if os.environ.get("KEEPMUM_TEST_FULL") else 3
NOTE = "Deploys go through the blue pool first"
Done = subprocess.CompletedProcess[str]
# What a user has, in layouts that no program writes.
THEIRS = {
    ".copilot/settings.json": '{"a": 1}',
    ".config/Code/User/settings.json": '{\n  // Font\n  "editor.fontSize": 14,\n}\n',
    ".cursor/mcp.json": '{"mcpServers":{}}',
    ".config/opencode/opencode.json": '{"theme":"x"}',
}


@pytest.fixture(scope="module")
def versions(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two versions of this tree."""
    folder = tmp_path_factory.mktemp("versions")
    return {version: copy(root, folder / version, version) for version in ("0.1.0", "0.2.0")}


class User:
    """A home with version 0.1.0, and some files of clients."""

    def __init__(self, home: Path, programs: Path) -> None:
        self.home = home
        self.environ = {"HOME": str(home), "PATH": os.pathsep.join([str(programs), "/usr/bin", "/bin"])}

    def run(self, *command: str, **environ: str) -> Done:
        return subprocess.run(
            command,
            env={**self.environ, **environ},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )

    @property
    def command(self) -> str:
        return str(self.home / ".keepmum" / "bin" / "keepmum")

    def keepmum(self, *arguments: str, **environ: str) -> Done:
        return self.run(self.command, *arguments, **environ)

    @property
    def current(self) -> str:
        return os.path.basename(layout.target(layout.current(str(self.home / ".keepmum"))) or "")

    @property
    def app(self) -> list[str]:
        return sorted(path.name for path in (self.home / ".keepmum" / "app").iterdir())

    def bytecode(self, version: str) -> Path:
        """The folder of the bytecode of a version."""
        home = self.home.resolve() / ".keepmum"
        return Path(f"{home}/cache/pycache{home}/app/{version}")

    def theirs(self) -> dict[str, bytes]:
        """The files outside Keepmum's home."""
        paths = (path for path in self.home.rglob("*") if path.is_file() and ".keepmum" not in path.parts)
        return {str(path.relative_to(self.home)): path.read_bytes() for path in paths}


def _user(home: Path, versions: dict[str, Path]) -> User:
    programs = home.parent / f"{home.name}-programs"
    programs.mkdir()
    (programs / "python3").symlink_to(os.path.realpath(sys.executable))
    for name, text in THEIRS.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
    user = User(home, programs)
    done = user.run("/bin/sh", str(versions["0.1.0"] / "installers" / "install.sh"), "--no-runtime", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return user


@pytest.fixture
def user(home: Path, versions: dict[str, Path]) -> User:
    return _user(home, versions)


@pytest.fixture(scope="module")
def lasting(versions: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> User:
    """A user with a memory for tests in which nothing is upgraded."""
    user = _user(tmp_path_factory.mktemp("lasting"), versions)
    user.keepmum("remember", NOTE)
    return user


@pytest.fixture(scope="module")
def upgraded(versions: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[User, Done]:
    """A user with a memory who upgraded to 0.2.0, for tests that only look; and what the upgrade printed."""
    user = _user(tmp_path_factory.mktemp("upgraded"), versions)
    user.keepmum("remember", NOTE)
    return user, user.keepmum("upgrade", "--from", str(versions["0.2.0"]))


@pytest.fixture
def upgrade(user: User, versions: dict[str, Path]) -> Callable[..., Done]:
    """Upgrades to version 0.2.0, from a folder."""
    return lambda *options, source=versions["0.2.0"]: user.keepmum("upgrade", *options, "--from", str(source))


def _broken(versions: dict[str, Path], folder: Path, name: str, text: str) -> Path:
    shutil.copytree(versions["0.2.0"], folder)
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(text)
    return folder


def test_memories_are_backed_up_and_the_new_version_has_them(upgraded: tuple[User, Done]) -> None:
    user, done = upgraded
    backups = sorted(path.name for path in (user.home / ".keepmum" / "backups").iterdir())
    assert (done.returncode, done.stderr, user.current) == (0, "", "0.2.0")
    assert done.stdout.splitlines() == [
        "Keepmum 0.1.0 → 0.2.0",
        f"Memories are backed up: ~/.keepmum/backups/{backups[-1]}",
        "Version 0.2.0 works here, with a copy of them.",
        "Version 0.2.0 is the current one. Open sessions keep theirs until you start them again.",
        "To go back: ~/.keepmum/bin/keepmum upgrade --back",
    ]
    assert user.keepmum("--version").stdout == "keepmum 0.2.0\n"
    assert NOTE in user.keepmum("recall", "pool").stdout
    assert "No problems." in user.keepmum("doctor").stdout


def test_the_trial_compiles_what_the_first_session_needs(upgraded: tuple[User, Done]) -> None:
    user, _ = upgraded
    assert list(user.bytecode("0.2.0").rglob("serve.*.pyc"))


def test_clients_that_copy_get_the_new_version(upgraded: tuple[User, Done]) -> None:
    plugin = upgraded[0].home / ".cursor" / "plugins" / "local" / "keepmum"
    assert json.loads((plugin / ".cursor-plugin" / "plugin.json").read_text())["version"] == "0.2.0"


def test_an_older_release_is_installed_only_on_request(upgraded: tuple[User, Done], versions: dict[str, Path]) -> None:
    user, _ = upgraded
    done = user.keepmum("upgrade", "--from", str(versions["0.1.0"]))
    assert (done.returncode, "older than 0.2.0" in done.stderr, user.current) == (1, True, "0.2.0")


def test_files_of_the_user_are_as_before_at_the_end(user: User, upgrade: Callable[..., Done]) -> None:
    assert upgrade().returncode == 0
    assert user.keepmum("upgrade", "--back").returncode == 0
    assert (user.current, user.app) == ("0.1.0", ["0.1.0", "0.2.0", "current", "previous"])
    assert user.keepmum("uninstall").returncode == 0
    assert user.theirs() == {name: text.encode() for name, text in THEIRS.items()}
    assert not (user.home / ".keepmum").exists()


def test_without_an_earlier_version_there_is_no_way_back(lasting: User) -> None:
    done = lasting.keepmum("upgrade", "--back")
    assert (done.returncode, "there is no version to go back to" in done.stderr) == (1, True)


@pytest.fixture
def releases(versions: dict[str, Path], tmp_path: Path) -> Iterator[Releases]:
    server = Releases(tmp_path / "server")
    for version, folder in versions.items():
        server.offer(folder, version)
    yield server
    server.close()


def test_the_newest_release_is_found_and_fetched(user: User, releases: Releases) -> None:
    source = ("--from", releases.address)
    checked = user.keepmum("upgrade", "--check", *source)
    assert checked.stdout == "Version 0.2.0 is available, this is 0.1.0: ~/.keepmum/bin/keepmum upgrade\n"
    assert user.current == "0.1.0"
    assert user.keepmum("upgrade", *source).returncode == 0
    assert user.keepmum("upgrade", "--check", *source).stdout == "Version 0.2.0 is the newest.\n"


def test_a_clone_is_not_upgraded(lasting: User, root: Path) -> None:
    done = lasting.run(sys.executable, "-I", "-S", str(root / "plugin" / "launch.py"), "upgrade")
    assert (done.returncode, f"this runs the clone {root}" in done.stderr) == (1, True)


def test_another_version_than_the_wanted_is_refused(lasting: User, versions: dict[str, Path]) -> None:
    done = lasting.keepmum("upgrade", "--to", "0.1.5", "--from", str(versions["0.2.0"]))
    assert (done.returncode, "version 0.2.0, not 0.1.5" in done.stderr, lasting.current) == (1, True, "0.1.0")


def test_a_variable_does_not_choose_what_is_run(lasting: User, releases: Releases) -> None:
    """A project's settings for a client may set variables."""
    done = lasting.keepmum("upgrade", KEEPMUM_SOURCE=releases.address, https_proxy="http://127.0.0.1:9")
    assert (done.returncode, "github.com" in done.stderr, releases.asked) == (1, True, [])


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("plugin/keepmum/mcp/serve.py", "\nraise SystemExit(3)\n", "the server exited"),
        ("installers/keepmum_installers/doctor.py", "\nraise ValueError\n", "does not start"),
        ("scanner/keepmum_scanner/scan.py", "\ndef scan(*_): return []\n", "does not tell a secret from plain text"),
    ],
)
def test_a_version_that_does_not_work_here_is_not_used(  # noqa: PLR0917 - fixtures
    lasting: User, versions: dict[str, Path], tmp_path: Path, name: str, text: str, says: str
) -> None:
    broken = _broken(versions, tmp_path / "broken", name, text)
    done = lasting.keepmum("upgrade", "--from", str(broken))
    assert (done.returncode, says in done.stderr, "Traceback" in done.stderr) == (1, True, False), done.stderr
    assert (lasting.current, lasting.app) == ("0.1.0", ["0.1.0", "current"])
    assert not lasting.bytecode("0.2.0").exists()  # the next 0.2.0 has the same path, and must not run this code
    assert lasting.bytecode("0.1.0").exists()
    assert NOTE in lasting.keepmum("recall", "pool").stdout


MIGRATION = '''

@migration
def m999_later(db: sqlite3.Connection) -> None:
    """A change."""
    db.execute("CREATE TABLE later (x INTEGER) STRICT")
'''


def test_a_store_that_was_migrated_cannot_go_back_and_loses_nothing(
    user: User, upgrade: Callable[..., Done], versions: dict[str, Path], tmp_path: Path
) -> None:
    user.keepmum("remember", NOTE)
    later = _broken(versions, tmp_path / "later", "plugin/keepmum/stores/sqlite/schema.py", MIGRATION)
    assert upgrade(source=later).returncode == 0
    assert NOTE in user.keepmum("recall", "pool").stdout  # which migrates the store
    done = user.keepmum("upgrade", "--back")
    assert (done.returncode, user.current) == (1, "0.2.0")
    assert "it was written by a newer version of Keepmum" in done.stderr
    assert "docs/upgrading.md" in done.stderr
    assert NOTE in user.keepmum("recall", "pool").stdout


def test_killed_at_any_moment_one_version_works_and_a_rerun_completes(
    user: User, upgrade: Callable[..., Done], versions: dict[str, Path]
) -> None:
    user.keepmum("remember", NOTE)
    started = time.monotonic()
    upgrade()
    whole, moments = time.monotonic() - started, random.Random(18)
    for _ in range(KILLS):
        target = "0.1.0" if user.current == "0.2.0" else "0.2.0"
        command = [user.command, "upgrade", "--to", target, "--from", str(versions[target])]
        child = subprocess.Popen(
            command, env=user.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            child.wait(whole * moments.random())
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        assert user.keepmum("--version").stdout in {"keepmum 0.1.0\n", "keepmum 0.2.0\n"}
        assert NOTE in user.keepmum("recall", "pool").stdout
    done = upgrade("--to", "0.2.0")
    assert (done.returncode, done.stderr) == (0, "")
    assert (user.current, user.app) == ("0.2.0", ["0.1.0", "0.2.0", "current", "previous"])
    assert "No problems." in user.keepmum("doctor").stdout


def test_two_versions_at_once_lose_no_memory(upgraded: tuple[User, Done]) -> None:
    user, _ = upgraded
    app = user.home / ".keepmum" / "app"
    children = []
    for version in ("0.1.0", "0.2.0"):
        command = [sys.executable, "-I", "-S", str(app / version / "plugin" / "launch.py"), "mcp", "--client", "test"]
        child = subprocess.Popen(
            command, env=user.environ, cwd=user.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        children.append((version, child))
    for version, child in children:
        _send(child, 99, "initialize", CLIENT)
        for number in range(20):
            note = {"title": f"note {number} of {version}", "text": f"The pool {number} of {version} is {number}."}
            _send(child, number, "tools/call", {"name": "remember", "arguments": note})
    for _, child in children:
        assert child.stdout is not None
        for _ in range(21):  # answers; from the end of its input a server has five seconds
            assert child.stdout.readline()
        child.communicate(timeout=LIMIT)
    user.keepmum("export", "--all", "all.jsonl")
    titles = {json.loads(line)["title"] for line in (user.home / "all.jsonl").read_text().splitlines()}
    assert {f"note {number} of {version}" for number in range(20) for version, _ in children} <= titles


CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def _send(child: subprocess.Popen[str], number: int, method: str, parameters: Mapping[str, object]) -> None:
    assert child.stdin is not None
    child.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}) + "\n")
    child.stdin.flush()


def test_a_server_keeps_its_version_until_it_ends(user: User, upgrade: Callable[..., Done]) -> None:
    command = [sys.executable, "-I", "-S", str(user.home / ".keepmum/app/current/plugin/launch.py"), "mcp"]
    with subprocess.Popen(
        command, env=user.environ, cwd=user.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        _send(child, 1, "initialize", CLIENT)
        assert json.loads(child.stdout.readline())["result"]["serverInfo"]["version"] == "0.1.0"
        upgrade()
        _send(child, 2, "tools/call", {"name": "remember", "arguments": {"title": NOTE, "text": "Then the green."}})
        assert not json.loads(child.stdout.readline())["result"].get("isError")
        child.stdin.close() if child.stdin else None
        child.wait(LIMIT)
    assert NOTE in user.keepmum("recall", "pool").stdout
