"""A chat that shows the panel: a page with the official host side, a sandbox of another origin, and a stdio server.

Source: https://github.com/modelcontextprotocol/ext-apps, specification 2026-01-26, "Host behaviour"; read 2026-11-22.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from browser.conftest import PATIENCE_MS
from browser.sample import Sample, environment

__all__ = ["Chat", "chatting"]

ROOT = Path(__file__).parents[2]
APPS = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'"
)
_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Chat</title></head><body>
<main><h1>Chat</h1><iframe id="app" title="Memory" style="width:380px;height:120px;border:0"
sandbox="allow-scripts allow-same-origin"></iframe>
</main><script src="/host.js"></script></body></html>"""
_SANDBOX = """<!doctype html><html lang="en"><head><title>Sandbox</title><style>html,body{margin:0;height:100%}
iframe{border:0;width:100%;height:100%;display:block}</style></head><body><script>
const opaque = location.search === "?opaque", inner = document.createElement("iframe");
inner.title = "Memory";
inner.setAttribute("sandbox", opaque ? "allow-scripts" : "allow-scripts allow-same-origin");
document.body.append(inner);
addEventListener("message", event => {
  const message = event.data;
  if (event.source === inner.contentWindow) return parent.postMessage(message, "*");
  if (event.source !== parent) return;
  if (!message.method?.endsWith("/sandbox-resource-ready")) return inner.contentWindow.postMessage(message, "*");
  if (opaque) inner.srcdoc = message.params.html;
  else { const page = inner.contentDocument; page.open(); page.write(message.params.html); page.close(); }
});
parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, "*");
</script></body></html>"""


class Chat(NamedTuple):
    """Where the chat is."""

    page: str
    sandbox: str  # of another origin


class _Server:
    """A stdio server of Keepmum, for a client that shows apps."""

    def __init__(self, sample: Sample) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "plugin" / "launch.py"), "mcp", "--client", "claude"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=sample.root,
            env=environment(sample),
        )
        self._lock = threading.Lock()
        self._last = 0
        client = {
            "protocolVersion": "2025-11-25",
            "capabilities": APPS,
            "clientInfo": {"name": "claude-ai", "version": "1"},
        }
        self.call("initialize", client)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, method: str, params: object) -> Any:
        """The answer to one request."""
        with self._lock:
            self._last += 1
            self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
            assert self.process.stdout is not None
            for line in self.process.stdout:
                answer = json.loads(line)
                if answer.get("id") == self._last and "method" not in answer:
                    return answer
        raise AssertionError(method)

    def _send(self, message: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


def _handler(server: _Server, host: bytes) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Be quiet."""

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path == "/host.js":
                self._answer(host, "text/javascript")
            elif path == "/sandbox":
                self._answer(_SANDBOX.encode(), "text/html; charset=utf-8", policy=_POLICY)
            else:
                self._answer(_PAGE.encode(), "text/html; charset=utf-8")

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self._answer(json.dumps(server.call(asked["method"], asked["params"])).encode(), "application/json")

        def _answer(self, body: bytes, kind: str, policy: str = "") -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if policy:
                self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(body)

    return Handler


@contextlib.contextmanager
def chatting(sample: Sample, host: bytes) -> Iterator[Chat]:
    """Run the chat; `host` is the bundled script of `host/host.js`."""
    server = _Server(sample)
    sites = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(server, host)) for _ in range(2)]
    try:
        for site in sites:
            threading.Thread(target=site.serve_forever, args=(0.05,), daemon=True).start()
        page, sandbox = (site.server_port for site in sites)
        yield Chat(f"http://127.0.0.1:{page}/", f"http://localhost:{sandbox}/sandbox")
    finally:
        for site in sites:
            site.shutdown()
            site.server_close()
        assert server.process.stdin is not None
        server.process.stdin.close()
        server.process.wait(PATIENCE_MS / 1000)
        assert server.process.stdout is not None
        server.process.stdout.close()
