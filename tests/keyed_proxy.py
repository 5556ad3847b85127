"""A proxy that adds a key to each request, for clients that cannot be given one."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

__all__ = ["KeyedProxy"]

_WAIT = 60.0  # seconds
_PART = 1 << 16  # bytes that are passed on at once


class KeyedProxy:
    """Passes requests on to a port of this machine with more headers; ended at the end of a `with`."""

    def __init__(self, port: int, added: Mapping[str, str]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_WAIT)
                try:
                    connection.request(self.command, self.path, self.rfile.read(size), {**dict(self.headers), **added})
                    answer = connection.getresponse()
                    self.send_response_only(answer.status, answer.reason)
                    for name, value in answer.getheaders():
                        if name.lower() not in {"transfer-encoding", "connection"}:
                            self.send_header(name, value)
                    self.send_header("Connection", "close")
                    self.end_headers()
                    while part := answer.read1(_PART):
                        self.wfile.write(part)
                        self.wfile.flush()
                except OSError:
                    pass  # either side is gone
                finally:
                    connection.close()

            do_GET = do_POST = do_DELETE = do_OPTIONS = handle_any  # noqa: N815 - the names of the base class

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
