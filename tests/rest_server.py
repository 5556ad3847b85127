"""A fake memory server for tests, with the first or the second API, which behaves as real ones were observed to.

`behind` connects it to pytest-httpserver; `fault` and `late_fault` make it fail.
"""

from __future__ import annotations

import atexit
import functools
import json
import re
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

__all__ = ["ALL", "KEY", "Answer", "FakeServer", "Hosts", "behind", "shared_hosts"]

KEY = "a-key-for-tests"
ALL = None  # a key for every project
_API = "/api/v1/memories"
_PATH = re.compile(r"/api/v1/memories/([^/]+)")


@dataclass(frozen=True)
class Answer:
    """A response: status, a body as JSON value or raw bytes, and additional headers."""

    status: int
    body: Any = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


Fault = Callable[[Request], Answer | None]


class FakeServer:
    """Memories in a dictionary; each key gives access to some projects or to all."""

    def __init__(self, keys: Mapping[str, Sequence[str] | None] | None = None, *, newest: int = 1) -> None:
        self.newest = newest  # the newest API version that it supports
        self.ready = True  # whether its model is loaded
        self.secret = ""  # the text that its own filter refuses
        self._tokens: dict[str, str] = {}  # id of the memory that a request with this idempotency key created
        self.keys: dict[str, Sequence[str] | None] = {KEY: ALL} if keys is None else dict(keys)
        self.memories: dict[str, dict[str, Any]] = {}
        self.requests: list[Request] = []
        self.fault: Fault = lambda _: None  # answers instead of the server, before the request has any effect
        self.late_fault: Fault = lambda _: None  # answers instead of the server, after the request has taken effect
        self.before_response: Callable[[Request], object] = lambda _: None  # called after a request has taken effect
        self.most_loaded = 1_000  # memories in one response to `load`
        self.change_list: Callable[[Request, list[Any]], list[Any]] = lambda _, listed: listed  # of `recent`
        self._lock = threading.Lock()

    def handle(self, request: Request) -> Response:
        """The response to one request."""
        with self._lock:
            request.get_data()
            self.requests.append(request)
            answer = self.fault(request)
            if answer is None:
                answer = self._answer(request)
                answer = self.late_fault(request) or answer
        self.before_response(request)
        raw = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        headers = {"Content-Type": "application/json", **answer.headers}
        if self.newest > 1:
            headers["Keepmum-API"] = str(self.newest)
        return Response(raw, status=answer.status, headers=headers)

    def put(self, text: str, title: str = "a title", project: str = "alpha", **fields: Any) -> str:
        """Add a memory that another user wrote; returns its id."""
        return str(self._create({"text": text, "title": title, "project": project, **fields}, "somebody")["id"])

    def asked(self, method: str = "", path: str = "") -> list[Request]:
        """The requests so far, optionally those with this method and this beginning of the path."""
        return [one for one in self.requests if method in {"", one.method} and one.path.startswith(path)]

    # -- routes

    def _answer(self, request: Request) -> Answer:  # noqa: PLR0911 - one for each route
        if request.path == "/health":
            status, state = (200, "ok") if self.ready else (503, "starting")
            return Answer(status, {"status": state, "modelReady": self.ready})
        authorization = request.headers.get("Authorization", "")
        key = authorization.removeprefix("Bearer ")
        if not authorization.startswith("Bearer ") or key not in self.keys:
            return Answer(401, {"error": "Unauthorized"}, {"WWW-Authenticate": "Bearer"})
        self.projects = self.keys[key]
        version, _, rest = request.path.removeprefix("/api/v").partition("/")
        if not version.isdecimal() or int(version) > self.newest:
            return _error(404, "Route not found")
        full = int(version) > 1
        path = f"/api/v1/{rest}"
        route = (request.method, path)
        if route == ("GET", "/api/v1/config"):
            return Answer(200, {"data": {"collectionName": "shared_agent_memory", "modelReady": self.ready}})
        if route == ("POST", _API):
            return self._store(request, full=full)
        for name, act in (("search", self._search), ("load", self._load), ("recent", self._recent)):
            if route == ("GET", f"{_API}/{name}"):
                return _with_memory_json(act(request), self.memories) if full else act(request)
        if one := _PATH.fullmatch(path):
            return self._one(request, one[1], full=full)
        return _error(404, "Route not found")

    def _store(self, request: Request, *, full: bool) -> Answer:  # noqa: PLR0911 - one for each check, in their order
        body = request.get_json()
        token = request.headers.get("Idempotency-Key", "")
        if full and token in self._tokens:
            return Answer(201, {"data": {"id": self._tokens[token]}})
        for name in ("text", "title", "project"):
            if not isinstance(body.get(name), str):
                return _error(400, f"body must have required property '{name}'")
        if not (body["text"] and body["title"]):
            return _error(400, "body must NOT have fewer than 1 characters")
        if not self._allows(body["project"]):
            return _error(403, "Access denied for project")
        if body["project"] == "*":
            return _error(400, "project must be a specific name, not *")
        if refusal := self._secret_in(body):
            return refusal
        created = self._create(body if full else {**body, "id": None, "memory": None}, "a key")
        self._tokens[token] = created["id"]
        return Answer(201, {"data": {"id": created["id"]}})

    def _secret_in(self, body: Mapping[str, Any]) -> Answer | None:
        named = (name for name in ("text", "title") if self.secret and self.secret in (body.get(name) or ""))
        return next((_error(400, f"Secret detected in {name}: a-rule") for name in named), None)

    def _search(self, request: Request) -> Answer:
        project = request.args.get("project") or "*"
        if "query" not in request.args:
            return _error(400, "querystring must have required property 'query'")
        if not self._allows(project):
            return _error(403, "Access denied for project")
        words = _words(request.args["query"])
        tags = [tag.strip() for tag in request.args.get("tags", "").split(",") if tag.strip()]
        found = [
            (len(words & _words(f"{memory['title']} {memory['text']}")) / (len(words) or 1), memory)
            for memory in self._seen(project)
            if set(tags) <= set(memory["tags"]) and request.args.get("agent") in {None, memory["agent"]}
        ]
        found = sorted((one for one in found if one[0] > 0), key=lambda one: -one[0])
        limit = int(request.args.get("limit", 10))
        return Answer(200, {"data": [{**_shown(one, _SEARCHED), "score": score} for score, one in found[:limit]]})

    def _load(self, request: Request) -> Answer:
        asked = [one.strip() for one in request.args["ids"].split(",") if one.strip()]
        found = [self.memories[one] for one in asked if one in self.memories]
        found = [one for one in found if self._allows(one["project"])][: self.most_loaded]
        shown = [_shown(one, _LOADED) for one in found]
        for one in found:
            one["access_count"] += 1
            one["last_accessed"] = _now()
        return Answer(200, {"data": shown})

    def _recent(self, request: Request) -> Answer:
        project = request.args.get("project") or "*"
        if not self._allows(project):
            return _error(403, "Access denied for project")
        since = (datetime.now(UTC) - timedelta(days=int(request.args.get("days", 30)))).isoformat()
        found = sorted(self._seen(project), key=lambda one: str(one["created_at"]), reverse=True)
        limit = int(request.args.get("limit", 10))
        shown = [_shown(one, _LISTED) for one in found if one["created_at"] >= since]
        return Answer(200, {"data": self.change_list(request, shown[:limit])})

    def _one(self, request: Request, name: str, *, full: bool) -> Answer:  # noqa: PLR0911 - as above
        try:
            uuid.UUID(name)
        except ValueError:
            return _error(400, 'params/id must match format "uuid"')
        memory = self.memories.get(name)
        if memory is None:
            return _error(404, "Memory not found")
        if not self._allows(memory["project"]):
            return _error(403, "Access denied for project")
        if request.method == "DELETE":
            del self.memories[name]
        elif request.method == "PUT":
            body = request.get_json()
            if refusal := self._secret_in(body):
                return refusal
            revision = (memory["memory"] or {}).get("revision", 1)
            if full and request.headers.get("If-Match", f'"{revision}"') != f'"{revision}"':
                return _error(412, "The revision does not match")
            changed = {"text": body["text"], "title": body.get("title", memory["title"]), "revision": revision + 1}
            memory["memory"] = body.get("memory") if full else memory["memory"] and {**memory["memory"], **changed}
            memory |= {"text": body["text"], "title": body.get("title", memory["title"])}
            memory |= {"updated_at": _now(), "updatedAt": _now(), "updatedBy": "a key", "last_accessed": _now()}
        else:
            return _error(404, "Route not found")
        return Answer(200, {"data": {"success": True}})

    # -- data

    def _create(self, body: Mapping[str, Any], actor: str) -> dict[str, Any]:
        now = _now()
        memory = {
            "id": body.get("id") or str(uuid.uuid4()), "memory": body.get("memory"),
            "text": body["text"], "title": body["title"], "project": body["project"],
            "agent": body.get("agent") or "unknown", "tags": list(body.get("tags") or ()), "access_count": 0,
            "created_at": now, "createdAt": now, "createdBy": actor, "updated_at": now, "updatedAt": now,
            "updatedBy": actor, "last_accessed": now,
        }  # fmt: skip
        self.memories[memory["id"]] = memory
        return memory

    def _allows(self, project: str) -> bool:
        return project == "*" or self.projects is None or project in self.projects

    def _seen(self, project: str) -> list[dict[str, Any]]:
        return [
            one for one in self.memories.values() if self._allows(one["project"]) and project in {"*", one["project"]}
        ]


class Hosts:
    """Several servers behind one address: a request goes to the server that has its key."""

    def __init__(self) -> None:
        self._servers: dict[str, FakeServer] = {}

    def server(self, key: str) -> FakeServer:
        """The server with this key; created at the first use."""
        newest = 2 if key.startswith("second-") else 1
        return self._servers.setdefault(key, FakeServer({key: ALL}, newest=newest))

    def handle(self, request: Request) -> Response:
        """The response of the server with the request's key."""
        return self.server(request.headers.get("Authorization", "").removeprefix("Bearer ")).handle(request)


@functools.cache
def shared_hosts() -> tuple[str, Hosts]:
    """An address that stays open for the whole run, and the servers behind it."""
    listening = HTTPServer(threaded=True)
    listening.start()
    atexit.register(listening.stop)
    hosts = Hosts()
    listening.expect_request(re.compile(".*")).respond_with_handler(hosts.handle)
    return listening.url_for("").rstrip("/"), hosts


def _with_memory_json(answer: Answer, memories: Mapping[str, Mapping[str, Any]]) -> Answer:
    """The response in the form of the second API: with the whole memory, where one was stored."""
    items = answer.body.get("data", ()) if answer.status == 200 else ()
    for item in items:
        if memories[item["id"]]["memory"] is not None:
            item["memory"] = memories[item["id"]]["memory"]
    return answer


def behind(httpserver: HTTPServer, server: FakeServer) -> str:
    """Connect `server` to pytest-httpserver; returns its origin."""
    httpserver.expect_request(re.compile(".*")).respond_with_handler(server.handle)
    return httpserver.url_for("").rstrip("/")


_SEARCHED = ("id", "title", "project")
_LISTED = (*_SEARCHED, "created_at", "updated_at", "createdAt", "updatedAt", "createdBy", "updatedBy")
_LOADED = (*_LISTED, "text", "agent", "tags", "last_accessed", "access_count")


def _shown(memory: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: memory[name] for name in names}


@functools.lru_cache(maxsize=50_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _error(code: int, message: str) -> Answer:
    return Answer(code, {"error": {"code": code, "message": message}})
