"""A git repository over HTTP on loopback; supports cloning only.

Source: https://git.github.io/htmldocs/gitprotocol-http.html, read 2026-11-21.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

__all__ = ["served"]

_LIMIT = 60  # seconds
_SERVICE = "git-upload-pack"


@contextmanager
def served(repository: Path) -> Iterator[str]:
    """The address from which the repository can be cloned while the context is open."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(repository))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/keepmum.git"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _upload_pack(repository: Path, protocol: str, *options: str, request: bytes = b"") -> bytes:
    return subprocess.run(
        ["git", "upload-pack", "--stateless-rpc", *options, str(repository)],
        input=request,
        env={**os.environ, "GIT_PROTOCOL": protocol},
        capture_output=True,
        timeout=_LIMIT,
        check=True,
    ).stdout


def _handler(repository: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """Log nothing."""

        def do_GET(self) -> None:
            if not self.path.endswith(f"/info/refs?service={_SERVICE}"):
                self.send_error(404)
                return
            head = f"# service={_SERVICE}\n"
            packet = f"{len(head) + 4:04x}{head}0000".encode()
            self._send("advertisement", packet + self._ask("--advertise-refs"))

        def do_POST(self) -> None:
            request = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                request = gzip.decompress(request)
            self._send("result", self._ask(request=request))

        def _ask(self, *options: str, request: bytes = b"") -> bytes:
            return _upload_pack(repository, self.headers.get("git-protocol", ""), *options, request=request)

        def _send(self, kind: str, data: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", f"application/x-{_SERVICE}-{kind}")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler
