"""Our own team server for tests of its clients: real processes, one per engine and test process."""

from __future__ import annotations

import atexit
import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import bytecode
import postgres_server
from server_process import TeamServer

__all__ = ["OwnServer", "shared"]

_ROOT = Path(__file__).resolve().parents[1]
_WAIT = 60.0  # seconds
_PAGE = 100  # memories


class OwnServer(TeamServer):
    """`keepmum serve init` and `keepmum serve run`; `key` is an administrator's."""

    def __init__(self, home: Path, environ: Mapping[str, str] | None = None, *, port: int = 0) -> None:
        given = {"PATH": os.defpath, "HOME": str(home), "KEEPMUM_HOME": str(home), **(environ or {})}
        bytecode.share(home)
        command = [sys.executable, "-I", str(_ROOT / "plugin" / "launch.py"), "serve", "init"]
        made = subprocess.run(command, env=given, capture_output=True, text=True, timeout=_WAIT, check=False)
        assert made.returncode == 0, made.stderr
        self.key = made.stdout.split()[0]
        limits = {
            "KEEPMUM_SERVER_LIMITS_READS": "0",
            "KEEPMUM_SERVER_LIMITS_WRITES": "0",
            "KEEPMUM_SERVER_MODEL": "false",
        }
        super().__init__(home, "--port", str(port), environ={**limits, **(environ or {})})

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def wipe(self) -> None:
        """Purge every memory."""
        found = [None] * _PAGE
        while len(found) == _PAGE:
            found = self.ask("POST", "/api/v2/memories:load", {"limit": _PAGE}, key=self.key).body["data"]
            if items := [{"id": one["id"]} for one in found]:
                answer = self.ask("POST", "/api/v2/memories:batch", {"items": items, "atomic": True}, key=self.key)
                assert answer.status == 200, answer.body


@functools.cache
def shared(engine: str) -> OwnServer:
    """A server that runs until this process ends, over SQLite or PostgreSQL."""
    # A database of its own: in the common one other tests may have made keys already, under another secret.
    environ = {"KEEPMUM_SERVER_DATABASE_URL": postgres_server.database("own").app} if engine == "postgres" else {}
    server = OwnServer(Path(tempfile.mkdtemp(prefix="keepmum-server-")), environ)
    atexit.register(server.__exit__)
    return server
