"""Tenants of one server who try every call with each other's ids, keys, cursors, tags and projects.

What each tenant wrote is known, so every answer is searched for what is another's and was not in the request. Texts
hold words that no request ever holds; ids, keys and tags of others are known to the attackers.

    python tests/isolation.py [--calls 20000] [--engine postgres] [--without-filter] [--seed 1]
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import random
import re
import statistics
import sys
import tempfile
import time
import unittest.mock
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("tests", "plugin", "scanner", "hooks")]

# ruff: noqa: E402
from asgi_client import AsgiClient, Received
from keepmum.core import ids
from keepmum.core.memory import Filter, Memory
from keepmum.mcp.dialects import DIALECTS
from keepmum.server.app import ROUTES, build
from keepmum.server.people.administration import Administration
from keepmum.server.people.keys import KeyRing
from keepmum.server.people.roles import Principal
from keepmum.server.routes import Route
from keepmum.server.settings import ServerSettings
from keepmum.service import lookup
from keepmum.service.team import ORGANISATION, Grant, PostgresSpec, Team, TeamSqliteSpec, open_team
from keepmum_scanner import scan

__all__ = ["Attack", "a_team", "without_the_filter"]

Json = dict[str, Any]
_TENANTS = 5  # who attack; one more writes nothing after the beginning
_SEEDED = 6  # memories of each tenant at the beginning
_SHORT = 16  # characters of an id as answers show it: `mem_` and 12 more
_WORDS = ("deploy", "pool", "postgres", "tabs", "release", "branch")
_PEOPLE = "/people"
_SECRET = b"k" * 32
_STAYS = 0.05  # seconds with a stream of events, which has no end
_SETTINGS = ServerSettings(home="", reads_per_minute=0, writes_per_minute=0)


class Tenant(NamedTuple):
    """One project with a person who administers it."""

    number: int
    project: str
    person: str
    key: str

    def secret(self, number: int) -> str:
        """A word in the texts of a memory, which no request holds."""
        return f"zq{self.number}x{number}xq"


@contextlib.contextmanager
def a_team(engine: str, folder: Path) -> Iterator[Team]:
    """The memory of a team in either engine."""
    if engine == "postgres":
        import postgres_server

        team = open_team(PostgresSpec(postgres_server.server().app), scan)
    else:
        team = open_team(TeamSqliteSpec(str(folder / "memory.db")), scan)
    try:
        yield team
    finally:
        team.close()


@contextlib.contextmanager
def without_the_filter() -> Iterator[None]:
    """The service and the roles forget to limit reads and writes to projects; only the second lock is left."""

    def everything(**wanted: Any) -> Filter:
        return Filter(**{**wanted, "everywhere": True, "projects": None})

    def allowed(*_: object) -> bool:
        return True

    with (
        unittest.mock.patch.object(lookup, "Filter", everything),
        unittest.mock.patch.object(Principal, "may", allowed),
        unittest.mock.patch.object(Principal, "may_anywhere", allowed),
    ):
        yield


class Attack:
    """Random calls of all tenants, and what they found of each other."""

    def __init__(self, team: Team, seed: int = 1, name: str = "t", *, only_memories: bool = False) -> None:
        """`name` sets the projects of this attack apart from those of others in the same database.

        With `only_memories`, no call is about people, keys or the audit log, which have no second lock.
        """
        self.dice = random.Random(seed)
        self.team = team
        self.leaks: list[str] = []
        self.counts: Counter[str] = Counter()
        ring = KeyRing(team.records, _SECRET)
        self.people = people = Administration(team.records, ring.secret, scan, "test")
        self.tenants = []
        for number in range(_TENANTS + 1):
            project, person = f"{name}-project-{number}q", f"{name}-person-{number}q"
            people.add(person, {project: "admin"})
            key = people.make_key(person, "laptop").text
            self.tenants.append(Tenant(number, project, person, key))
        self.key_ids = {tenant.person: people.keys_of(tenant.person)[0].id for tenant in self.tenants}
        self.person_ids = {tenant.person: people.person(tenant.person).id for tenant in self.tenants}
        self.client = AsgiClient(build(team, ring, _SETTINGS))
        closed = {"people", "audit"} if only_memories else set()
        self.routes = [route for route in ROUTES if route.role is not None and route.tag not in closed]
        self.cursors: list[str] = []
        self._written: Counter[int] = Counter()

    def run(self, calls: int) -> None:
        """Make this number of calls."""
        with self.client:
            for tenant in self.tenants:
                for _ in range(_SEEDED):
                    self._write(tenant)
            self.held = self._held()
            victim = self._of_victim()
            for number in range(calls):
                if number % 200 == 0:
                    self.held = self._held()
                self._call(self.dice.choice(self.tenants[:_TENANTS]))
            if self._of_victim() != victim:
                self.leaks.append("the memories of a tenant who did nothing were changed")

    # -- what is there

    def _held(self) -> dict[str, list[Memory]]:
        """The memories of each project."""
        whole = self.team.shared.acting(Grant(ORGANISATION))
        held: dict[str, list[Memory]] = {tenant.project: [] for tenant in self.tenants}
        for memory in itertools.chain.from_iterable(lookup.pages(whole)):
            if memory.project in held:
                held[memory.project].append(memory)
        return held

    def _of_victim(self) -> tuple[object, ...]:
        held = self._held()[self.tenants[-1].project]
        whole = self.team.shared.acting(Grant(ORGANISATION))
        return tuple((memory, whole.history(memory.id)) for memory in sorted(held, key=lambda each: each.id))

    def _write(self, tenant: Tenant) -> None:
        """Store a memory whose texts hold a word of this tenant."""
        number = self._written[tenant.number]
        self._written[tenant.number] += 1
        word = tenant.secret(number)
        arguments = {
            "text": f"{self.dice.choice(_WORDS)} {self.dice.choice(_WORDS)} {word}", "title": f"About {word}",
            "why": f"because of {word}", "key": f"key-{number % 8}", "tags": [f"tag-{number % 5}"],
            "data": {"value": word}, "source": f"https://example.org/{word}",
        }  # fmt: skip
        answer = self._tool(tenant, "keepmum", "remember", arguments, project=tenant.project)
        assert answer.status == 200, answer

    # -- calls

    def _call(self, tenant: Tenant) -> None:
        kind = self.dice.random()
        if kind < 0.1:
            self._write(tenant)
        elif kind < 0.55:
            dialect = self.dice.choice(list(DIALECTS))
            self._mcp(tenant, dialect)
        else:
            self._rest(tenant, self.dice.choice(self.routes))

    def _mcp(self, tenant: Tenant, dialect: str) -> None:
        surface = DIALECTS[dialect][0]
        project = self.dice.choice([tenant.project, tenant.project, self._other(tenant).project, "nothing", ""])
        if surface.resources and self.dice.random() < 0.2:
            uri = self.dice.choice([each.uri for each in surface.resources] + [f"memory://{self._reference(tenant)}"])
            self._send(tenant, dialect, "resources/read", {"uri": uri}, project)
            return
        tool = self.dice.choice(surface.tools)
        self._tool(tenant, dialect, tool.name, self._object(tenant, tool.parameters), project=project)

    def _tool(self, tenant: Tenant, dialect: str, name: str, arguments: Json, *, project: str) -> Received:
        return self._send(tenant, dialect, "tools/call", {"name": name, "arguments": arguments}, project)

    def _send(self, tenant: Tenant, dialect: str, method: str, params: Json, project: str) -> Received:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        if project:
            headers["x-keepmum-project"] = project
        name = params.get("name", method)
        return self._ask(tenant, "POST", "/mcp", {"dialect": dialect}, headers, message, f"{dialect} {name}")

    def _rest(self, tenant: Tenant, route: Route) -> None:
        path = route.path
        for name in re.findall(r"\{(\w+)\}", path):
            path = path.replace(f"{{{name}}}", self._path_value(tenant, route, name))
        query = {
            name: str(value)
            for name, schema in route.query.items()
            if (name in route.required or self.dice.random() < 0.5)
            and (value := self._value(tenant, schema, name)) is not None
        }
        body = self._object(tenant, route.body) if route.body is not None else None
        if body is not None and route.path.endswith("/role"):
            body["project"] = self._other(tenant).project  # a role in one's own project would be lawful
        headers = {"content-type": "application/json"} if body is not None else {}
        for name in ("if-match", "if-none-match"):
            if self.dice.random() < 0.2:
                headers[name] = self.dice.choice(['"1"', '"2"', "*"])
        if self.dice.random() < 0.2:
            headers["idempotency-key"] = f"call-{self.dice.randrange(20)}"
        if self.dice.random() < 0.2:
            headers["x-keepmum-project"] = self.dice.choice([tenant.project, self._other(tenant).project, "*"])
        self._ask(tenant, route.method, path, query, headers, body, f"{route.method} {route.path}")

    def _ask(  # noqa: PLR0917 - a request, and what it is called in reports
        self,
        tenant: Tenant,
        method: str,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        body: object,
        label: str,
    ) -> Received:
        raw = b"" if body is None else json.dumps(body).encode()
        sent = {**headers, "authorization": f"Bearer {tenant.key}"}
        stays = _STAYS if path.endswith("/events") else None
        answer = self.client.ask(method, path, query, sent, raw, stays)
        self.counts[f"{label} {answer.status}"] += 1
        text = answer.raw.decode("utf-8", "replace") + json.dumps(dict(answer.headers))
        asked = f"{path} {json.dumps(dict(query))} {json.dumps(dict(headers))} {raw.decode()}"
        self._check(tenant, asked, text, label)
        self.cursors += re.findall(r'"(?:next_)?cursor":"([^"]{8,})"', text)[:2]
        del self.cursors[:-40]
        if answer.status >= 500:
            self.leaks.append(f"{label}: status {answer.status}: {text[:200]}")
        return answer

    def _check(self, tenant: Tenant, asked: str, text: str, label: str) -> None:
        """Note what the answer holds of another tenant."""
        for number in {int(found) for found in re.findall(r"zq(\d)x\d+xq", text)} - {tenant.number}:
            self.leaks.append(f"{label}: a text of tenant {number}: {asked[:300]}")
        for other in self.tenants:
            if other == tenant:
                continue
            for name in (other.project, other.person, self.key_ids[other.person], self.person_ids[other.person]):
                if name in text and name not in asked:
                    self.leaks.append(f"{label}: {name} of tenant {other.number}: {asked[:300]}")
            for memory in getattr(self, "held", {}).get(other.project, ()):
                for form in (memory.id[:_SHORT], ids.to_uuid(memory.id)):
                    if form in text and form not in asked and memory.id not in asked:
                        self.leaks.append(f"{label}: an id of tenant {other.number}: {asked[:300]}")

    # -- values

    def _object(self, tenant: Tenant, schema: Mapping[str, object]) -> Json:
        properties: Any = schema.get("properties") or {}
        required: Any = schema.get("required") or ()
        chosen = {}
        for name, known in properties.items():
            if name in required or self.dice.random() < 0.4:
                chosen[name] = self._value(tenant, known, name)
        return chosen

    def _value(self, tenant: Tenant, schema: Mapping[str, Any], name: str) -> Any:  # noqa: PLR0911 - one a type
        dice = self.dice
        if "enum" in schema:
            return dice.choice(list(schema["enum"]))
        kinds = schema.get("type", "string")
        kind = kinds if isinstance(kinds, str) else dice.choice([each for each in kinds if each != "null"])
        if kind in {"integer", "number"}:
            least, most = schema.get("minimum", 0), schema.get("maximum", 100)
            return dice.choice([least, most, dice.randint(int(least), max(int(most), int(least)))])
        if kind == "boolean":
            return dice.random() < 0.5
        if kind == "array":
            return [self._value(tenant, schema.get("items", {}), name) for _ in range(dice.randrange(4))]
        if kind == "object":
            return self._object(tenant, schema)
        if kind == "null":
            return None
        return self._text(tenant, name)

    def _text(self, tenant: Tenant, name: str) -> str:  # noqa: PLR0911 - one a kind of field
        dice, low = self.dice, name.lower()
        if "project" in low:
            return dice.choice([tenant.project, self._other(tenant).project, "*", "nothing", ""])
        if "cursor" in low or low == "after":
            return dice.choice([*self.cursors, "forged"])
        if low in {"id", "ids", "memoryid", "supersedes", "memory", "items", "item"}:
            return ",".join(self._reference(tenant) for _ in range(dice.choice([1, 1, 3]))) if low == "ids" else (
                self._reference(tenant)
            )  # fmt: skip
        if "tag" in low:
            return f"tag-{dice.randrange(5)}"
        if low in {"key", "pattern", "keys"}:
            return dice.choice([f"key-{dice.randrange(8)}", "key-*", "*"])  # an id as a key would be shown lawfully
        if low in {"agent", "agent_id"}:
            return dice.choice(["codex", "claude-code", "unknown"])
        if low in {"user", "userid", "confirm"}:
            return dice.choice(["u1", "u2"])
        if low == "scope":
            return dice.choice(["all", "project", "global", "session", "shared"])
        if low in {"since", "until", "date_from", "date_to", "older_than"}:
            return dice.choice(["7d", "1h", "2020-01-01"])
        return " ".join(dice.choices(_WORDS, k=2))

    def _reference(self, tenant: Tenant) -> str:
        """An id of this tenant or of another, whole, in another spelling, or the beginning of one."""
        project = self.dice.choice([tenant.project, self._other(tenant).project, self._other(tenant).project])
        held = self.held[project]
        memory = self.dice.choice(held).id if held else ids.new_id(1)
        memory = self.dice.choice([memory, memory, ids.new_id(self.dice.randrange(1 << 40))])
        return self.dice.choice([memory, ids.to_uuid(memory), memory[:_SHORT], memory[:8]])

    def _path_value(self, tenant: Tenant, route: Route, name: str) -> str:
        other = self._other(tenant)
        if _PEOPLE in route.path:
            return self.dice.choice([other.person, self.person_ids[other.person], "nobody"])
        if "/keys" in route.path:
            return self.dice.choice([self.key_ids[other.person], "aaaaaaaa"])
        if "project" in name:
            return self.dice.choice([other.project, "nothing"])
        return self._reference(tenant)

    def _other(self, tenant: Tenant) -> Tenant:
        return self.dice.choice([one for one in self.tenants if one != tenant])

    # -- what is not there, and what is not one's own

    def restarted(self) -> Attack:
        """The same tenants over a new application, since one runs only once."""
        self.client = AsgiClient(build(self.team, KeyRing(self.team.records, _SECRET), _SETTINGS))
        self.held = self._held()
        return self

    def pairs(self, rounds: int = 1) -> tuple[list[str], dict[str, float]]:
        """The calls that answer unlike for an id of another tenant and an unknown id, and ratios of median times."""
        differing: list[str] = []
        times: dict[str, tuple[list[float], list[float]]] = {}
        tenant, other = self.tenants[0], self.tenants[-1]
        with self.client:
            for _ in range(rounds):
                theirs = self.dice.choice(self.held[other.project]).id
                for label, ask in self._by_id(tenant):
                    missing = ids.new_id(self.dice.randrange(1 << 40))
                    answers = []
                    for place, memory in self.dice.sample([(0, theirs), (1, missing)], 2):
                        started = time.perf_counter()
                        answer = ask(memory)
                        times.setdefault(label, ([], []))[place].append(time.perf_counter() - started)
                        body = answer.raw.decode()
                        for form in (memory, ids.to_uuid(memory)):
                            body = body.replace(form, "ID")
                        answers.append((answer.status, body))
                    if answers[0] != answers[1]:
                        differing.append(f"{label}: {answers}")
        return differing, {
            label: statistics.median(theirs) / statistics.median(missing) for label, (theirs, missing) in times.items()
        }

    def _by_id(self, tenant: Tenant) -> Sequence[tuple[str, Any]]:
        """The calls that name a memory, each as a function of its id."""
        calls: list[tuple[str, Any]] = []

        def tool(name: str, dialect: str, field: str, more: Json) -> None:
            surface = DIALECTS[dialect][0]
            schema: Any = next(each for each in surface.tools if each.name == name).parameters["properties"]
            many = schema[field].get("type") == "array"

            def ask(memory: str) -> Received:
                given = {field: [memory] if many else memory, **more}
                return self._tool(tenant, dialect, name, given, project=tenant.project)

            calls.append((f"{dialect} {name}", ask))

        tool("load", "keepmum", "ids", {})
        tool("forget", "keepmum", "ids", {})
        tool("forget", "keepmum", "ids", {"undo": True})
        tool("remember", "keepmum", "supersedes", {"text": "Something new"})
        tool("load_memories", "shared", "ids", {})
        tool("update_memory", "shared", "id", {"text": "Something new"})
        tool("delete_memory", "shared", "id", {})
        tool("forget", "hackathon", "key", {})

        def resource(memory: str) -> Received:
            return self._send(tenant, "keepmum", "resources/read", {"uri": f"memory://{memory}"}, tenant.project)

        calls.append(("resources/read", resource))
        for route in self.routes:
            if "{id}" in route.path and _PEOPLE not in route.path and "/keys" not in route.path:
                self.dice.seed(route.path)  # the same body each time
                body = None if route.body is None else self._object(tenant, route.body)

                def ask(memory: str, route: Route = route, body: Json | None = body) -> Received:
                    path = route.path.replace("{id}", memory)
                    headers = {} if body is None else {"content-type": "application/json"}
                    return self._ask(tenant, route.method, path, {}, headers, body, f"{route.method} {route.path}")

                calls.append((f"{route.method} {route.path}", ask))
        return calls


def main() -> int:
    """Attack by hand; prints what was called and what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--engine", default="sqlite")
    parser.add_argument("--without-filter", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, a_team(options.engine, Path(folder)) as team:
        attack = Attack(team, options.seed, only_memories=options.without_filter)
        with without_the_filter() if options.without_filter else contextlib.nullcontext():
            attack.run(options.calls)
        for label, count in sorted(attack.counts.items()):
            print(f"{count:7} {label}")  # noqa: T201 - a report
        for leak, count in Counter(leak.partition(": ")[0] for leak in attack.leaks).most_common():
            print(f"LEAK {count:6} {leak}")  # noqa: T201
        for leak in attack.leaks[:30]:
            print(f"LEAK {leak}")  # noqa: T201
        print(f"{len(attack.leaks)} leaks; {team.shared.faults} faults")  # noqa: T201
        if options.pairs:
            differing, ratios = attack.restarted().pairs(options.pairs)
            for line in sorted(set(differing))[:30]:
                print(f"DIFFERS {line[:600]}")  # noqa: T201
            for label, ratio in sorted(ratios.items()):
                print(f"{ratio:6.3f} {label}")  # noqa: T201
    return bool(attack.leaks)


if __name__ == "__main__":
    raise SystemExit(main())
