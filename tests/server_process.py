"""A running `keepmum serve` for tests: a process of its own, on a free port of this machine."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import bytecode
import patient_launch

__all__ = ["ADA", "BOB", "KEYS", "Reply", "TeamServer", "lasting_port", "without_comments"]

ADA, BOB = "key-of-ada", "key-of-bob"
KEYS = json.dumps(
    [{"key": ADA, "name": "ada", "projects": ["api", "web"]}, {"key": BOB, "name": "bob", "projects": None}]
)
_ROOT = Path(__file__).resolve().parents[1]
_WAIT = 60.0  # seconds


def lasting_port() -> int:
    """A free port for a server that is started again: no program gets one below 32768 when it asks for any port."""
    while True:
        port = random.randrange(20_000, 32_000)  # not seeded: processes that test at once need different ones
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def without_comments(stream: bytes) -> bytes:
    """Server-sent events without the comments, which the server writes when nothing happened for some seconds."""
    return re.sub(rb"^:.*\n\n", b"", stream, flags=re.MULTILINE)


@dataclass(frozen=True)
class Reply:
    """One answer of the server."""

    status: int
    headers: Mapping[str, str]  # by name in lower case
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


class TeamServer:
    """`keepmum serve run` over the state in `home`; ended at the end of a `with`."""

    def __init__(
        self,
        home: Path,
        *options: str,
        environ: Mapping[str, str] | None = None,
        root: Path = _ROOT,
        patient: bool = True,
    ) -> None:
        """Start it from the source in `root`; unless it is `patient`, with its own limits of time."""
        bytecode.share(home)
        launch, arguments = root / "plugin" / "launch.py", ("serve", "run", "--port", "0", *options)
        command = [sys.executable, "-I", str(launch), *arguments]
        if patient:
            command = patient_launch.command(launch, *arguments)
        self.environ = {"PATH": os.defpath, "HOME": str(home), "KEEPMUM_HOME": str(home), "API_KEYS": KEYS}
        self.environ |= environ or {}
        self.process = subprocess.Popen(command, env=self.environ, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        self.log: list[str] = []
        self._drain: threading.Thread | None = None
        try:
            self.port = self._listening()
        except BaseException:
            self.__exit__()
            raise
        self._drain = threading.Thread(target=self._read_log, daemon=True)
        self._drain.start()

    def _listening(self) -> int:
        """The port, once the server listens."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line.decode())
            if '"listening"' in self.log[-1]:
                return int(json.loads(self.log[-1])["url"].rpartition(":")[2])
        raise AssertionError(f"the server ended with {self.process.wait(_WAIT)}: {''.join(self.log)}")

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str | None = ADA,
        headers: Mapping[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Reply:
        """The answer to one request."""
        sent = dict(headers or {})
        if key is not None:
            sent["Authorization"] = f"Bearer {key}"
        if body is not None:
            raw = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_WAIT)
        try:
            connection.request(method, path, raw, sent)
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, names, answer.read())
        finally:
            connection.close()

    def refuses(self, key: str) -> bool:
        """Whether it refuses this key within five seconds. They are counted in requests, so a pause costs nothing."""
        for _ in range(50):
            if self.ask("GET", "/api/v2/keys", key=key).status == 401:
                return True
            time.sleep(0.1)
        return False

    def _read_log(self) -> None:
        """Read the log while the server runs: it would wait for a full pipe."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line.decode())

    def stop(self) -> int:
        """Ask the process to stop; returns its exit status. The rest of its log is then in `log`."""
        self.process.terminate()
        status = self.process.wait(_WAIT)
        if self._drain is not None:
            self._drain.join(_WAIT)
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(_WAIT)
        if self._drain is not None:
            self._drain.join(_WAIT)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
