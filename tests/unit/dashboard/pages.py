"""A tab of a browser, as far as the server sees one."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

__all__ = ["Page", "Reply", "request"]


class Reply(NamedTuple):
    """An answer of the server."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def request(port: int, method: str, path: str, headers: Mapping[str, str | None], body: bytes = b"") -> Reply:
    """Send exactly these headers, besides the right `Host` and the length unless they are given; None omits one."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        given = {"Host": f"127.0.0.1:{port}", "Content-Length": str(len(body)), **headers}
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return Reply(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()


class Page:
    """A tab with a session."""

    def __init__(self, port: int, cookie: str, tab: str) -> None:
        self.port = port
        self.origin = f"http://127.0.0.1:{port}"
        self.headers: dict[str, str | None] = {
            "Origin": self.origin, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json",
            "Cookie": cookie, "X-Keepmum-Tab": tab,
        }  # fmt: skip

    @classmethod
    def opened(cls, address: str) -> Page:
        """The tab that opens an address of the dashboard."""
        parts = urlsplit(address)
        port, token = parts.port or 0, parts.fragment.removeprefix("t=")
        headers = {"Origin": f"http://127.0.0.1:{port}", "Authorization": f"Bearer {token}"}
        reply = request(port, "POST", "/session", headers)
        assert reply.status == 200, reply
        return cls(port, reply.headers["Set-Cookie"].partition(";")[0], reply.json["tab"])

    def post(self, path: str, value: object, **headers: str | None) -> Reply:
        """Call with a session; `headers` replace those of the tab, with `_` for `-`."""
        more = {name.replace("_", "-"): header for name, header in headers.items()}
        return request(self.port, "POST", path, {**self.headers, **more}, json.dumps(value).encode())

    def ask(self, view: str, **args: Any) -> Any:
        """The data of a view."""
        reply = self.post("/api/ask", {"view": view, "args": args})
        assert reply.status == 200, reply.body
        return reply.json["data"]

    def change(self, verb: str, **args: Any) -> Any:
        """The data of a verb's answer."""
        reply = self.post("/api/change", {"do": verb, "args": args})
        assert reply.status == 200, reply.body
        return reply.json["data"]
