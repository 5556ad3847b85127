"""Records the requests of the client of Shared Agent Memory to our server, with the answers.

    PYTHONPATH=plugin:scanner:tests .venv/bin/python tests/clients/record_shared_client.py FOLDER > \\
        tests/unit/server/shared_client.json

FOLDER has a clone of that client, built with `npm ci --ignore-scripts && npx tsc`. Keys, ids, times and scores become
names in angle brackets (see `tests/unit/server/test_shared_client.py`).

Source: https://github.com/rbrcurtis/shared-agent-memory, built at 651bde2 on 2026-11-23 with Node 20.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from server_process import TeamServer

ONE, TWO, OTHER = "project-one", "project-two", "project-three"
KEYS = [
    {"key": "<ada>", "name": "ada", "projects": [ONE, TWO]},
    {"key": "<bob>", "name": "bob", "projects": [OTHER]},
]
SECRET = f"AKIA{'QYLPMN5HHHFPZAM2'}"
UNKNOWN = "00000000-0000-7000-8000-000000000000"
_OF_THE_CONNECTION = {"host", "connection", "content-length", "authorization"}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


class Recorder:
    """A proxy in front of the server that keeps what passes."""

    def __init__(self, port: int) -> None:
        self.exchanges: list[dict[str, Any]] = []
        self.tool = ""  # that sends the requests
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline(65537)
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                status, headers, body = recorder.forward(self, port)
                self.send_response(status)
                for name in ("content-type", "www-authenticate"):
                    if name in headers:
                        self.send_header(name, headers[name])
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def forward(self, request: BaseHTTPRequestHandler, port: int) -> tuple[int, Mapping[str, str], bytes]:
        """Send a request on; returns status, headers and body of the answer."""
        sent = {name.lower(): value for name, value in request.headers.items()}
        body = request.rfile.read(int(sent.get("content-length", 0)))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        kept = {name: value for name, value in sent.items() if name not in {"host", "connection"}}
        connection.request(request.command, request.path, body or None, kept)
        answer = connection.getresponse()
        raw = answer.read()
        self.exchanges.append(
            {
                "tool": self.tool,
                "key": sent["authorization"].removeprefix("Bearer "),
                "method": request.command,
                "path": request.path,
                "headers": {name: value for name, value in sent.items() if name not in _OF_THE_CONNECTION},
                "body": body.decode(),
                "status": answer.status,
                "answer": json.loads(raw),
            }
        )
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, raw


class Client:
    """The client's MCP server on standard input, with one key."""

    def __init__(self, folder: Path, recorder: Recorder, key: str) -> None:
        port = recorder.server.server_address[1]
        environ = {
            "PATH": os.environ["PATH"], "HOME": tempfile.mkdtemp(), "MEMORY_API_URL": f"http://127.0.0.1:{port}",
            "MEMORY_API_KEY": key, "DEFAULT_AGENT": "claude-code",
        }  # fmt: skip
        command = ["node", str(folder / "dist" / "index.js"), "--project", ONE]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ, text=True
        )
        self._recorder = recorder
        hello = {
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": {"name": "recorder", "version": "1"},
        }
        self._ask("initialize", hello)

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool; returns what it says."""
        self._recorder.tool = tool
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        said = answer["result"]["content"][0]["text"] if "result" in answer else answer["error"]["message"]
        sys.stderr.write(f"{tool}: {said.splitlines()[0]}\n")
        return str(said)

    def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
        self._process.stdin.flush()
        return dict(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.communicate()


def converse(folder: Path, recorder: Recorder) -> None:
    """Call every tool, and cause every error that a server answers."""
    ada, bob, wrong = (Client(folder, recorder, key) for key in ("<ada>", "<bob>", "<wrong>"))
    first = ada.call(
        "store_memory", text="Deploys go through the blue pool first", title="Deploys go blue", tags=["deploy", "pool"]
    ).rpartition(" ")[2]
    ada.call("store_memory", text="Grüße: nightly", title="Backups", agent="codex", project=TWO, tags='["backup"]')
    for wronged in (
        {"text": f"The key is {SECRET}", "title": "A key"}, {"text": "Fine", "title": f"A key {SECRET}"},
        {"text": "x", "title": "y", "project": OTHER}, {"text": "x", "title": "y", "project": "*"}, {"text": "x"},
    ):  # fmt: skip
        ada.call("store_memory", **wronged)
    ada.call("search_memory", query="blue pool deploys")
    ada.call("search_memory", query="deploys", tags='["deploy", "pool"]', project=ONE, limit=3)
    ada.call("search_memory", query="nightly", agent="codex", project="*")
    ada.call("search_memory", query="zebra xylophone")
    ada.call("search_memory", query="deploys", project=OTHER)
    for wanted in ([first], json.dumps([first]), [UNKNOWN], ["not-an-id"], []):
        ada.call("load_memories", ids=wanted)
    ada.call("list_recent")
    ada.call("list_recent", limit=1, days=1, project=ONE)
    ada.call("list_recent", project=OTHER)
    ada.call("update_memory", id=first, text="Deploys go through the green pool first")
    ada.call("update_memory", id=first, text="Deploys go green, always", title="Deploys go green")
    ada.call("update_memory", id=first, text=f"The key is {SECRET}")
    for unknown in (UNKNOWN, "not-an-id"):
        ada.call("update_memory", id=unknown, text="x")
        ada.call("delete_memory", id=unknown)
    ada.call("load_memories", ids=[first])
    ada.call("get_config")
    foreign = bob.call("store_memory", text="The vault", title="Vault", project=OTHER).rpartition(" ")[2]
    ada.call("load_memories", ids=[foreign, first])
    ada.call("update_memory", id=foreign, text="x")
    ada.call("delete_memory", id=foreign)
    for _ in range(2):
        ada.call("delete_memory", id=first)
    ada.call("load_memories", ids=[first])
    wrong.call("get_config")
    wrong.call("store_memory", text="x", title="y")
    for client in (ada, bob, wrong):
        client.close()


def as_text(exchanges: list[dict[str, Any]]) -> str:
    """The exchanges as JSON, with names for what is another in each conversation."""
    made = [each["answer"]["data"]["id"] for each in exchanges if each["status"] == 201]
    names = {**{one: f"<id-{number}>" for number, one in enumerate(made, 1)}, SECRET: "<secret>"}
    common = exchanges[0]["headers"].items() & exchanges[-2]["headers"].items()
    for each in exchanges:
        each["headers"] = dict(sorted(each["headers"].items() - common))
    text = json.dumps({"headers": dict(sorted(common)), "exchanges": exchanges}, ensure_ascii=False, indent=1)
    for value, name in names.items():
        text = text.replace(value, name)
    return re.sub(r'"score": [\d.]+', '"score": "<score>"', _TIME.sub("<time>", text))


def main(folder: Path) -> None:
    """Print the conversation."""
    environ = {"API_KEYS": json.dumps(KEYS)}
    with TeamServer(Path(tempfile.mkdtemp()), environ=environ) as server:
        recorder = Recorder(server.port)
        converse(folder, recorder)
        sys.stdout.write(as_text(recorder.exchanges) + "\n")
        recorder.server.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
