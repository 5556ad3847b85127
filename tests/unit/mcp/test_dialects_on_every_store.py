"""Every tool of every dialect over every kind of store: it works, or refuses in words that its caller can act on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from dialect_calls import Caller, opened
from keepmum.core.errors import KeepmumError
from keepmum.mcp.dialects import DIALECTS
from rest_server import KEY, FakeServer, behind

STORES = ("sqlite", "markdown", "rest-v1", "rest-v2", "markdown-and-server", "server-for-projects", "server-for-global")
_ROUTES = {
    "markdown-and-server": ["project:markdown", "shared:rest"],
    "server-for-projects": ["project:rest", "shared:rest"],
    "server-for-global": ["global:rest"],
}
Step = tuple[str, dict[str, Any]]


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, httpserver: HTTPServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The kind of store that the settings choose."""
    kind: str = request.param
    if kind == "markdown":
        monkeypatch.setenv("KEEPMUM_BACKEND", "markdown")
    elif kind != "sqlite":
        url = behind(httpserver, FakeServer(newest=2 if kind == "rest-v2" else 1))
        monkeypatch.setenv("MEMORY_API_URL", url)
        monkeypatch.setenv("MEMORY_API_KEY", KEY)
        if kind in _ROUTES:
            (home / ".keepmum").mkdir()
            lines = ["[backend]", 'kind = "sqlite"', f"routes = {json.dumps(_ROUTES[kind])}"]
            (home / ".keepmum" / "config.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return kind


@pytest.fixture
def on_server(store: str) -> Callable[[str], bool]:
    """Whether the store of a scope is a team server."""
    of_scopes = {
        "sqlite": set(), "markdown": set(), "markdown-and-server": {"shared"},
        "server-for-projects": {"project", "shared"}, "server-for-global": {"global"},
    }  # fmt: skip
    return lambda scope: store.startswith("rest-") or scope in of_scopes[store]


@pytest.fixture
def open_tools(project: Path, store: str) -> Iterator[Callable[[str], Caller]]:  # noqa: ARG001 - set the place
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda dialect: stack.enter_context(opened(dialect))


def steps_of(dialect: str) -> Iterator[Step]:
    """Calls of every tool of a dialect, each with everything that it takes."""
    ada = {"userId": "ada"}
    calls: dict[str, list[Step]] = {
        "keepmum": [
            ("remember", {"text": "Blue pool first", "key": "deploy", "why": "green drains", "tags": ["ops"]}),
            ("recall", {"query": "which pool?", "scope": "all"}),
            ("load", {"ids": ["deploy"]}),
            ("resume", {}),
            ("forget", {"ids": ["deploy"]}),
            ("forget", {"ids": ["deploy"], "undo": True}),
        ],
        "shared": [
            ("store_memory", {"title": "Pools", "text": "Blue pool first", "tags": ["ops"], "agent": "ada"}),
            ("search_memory", {"query": "which pool?", "tags": ["ops"]}),
            ("list_recent", {"days": 3}),
            ("load_memories", {"ids": ["00000000-0000-7000-8000-000000000000"]}),
            ("get_config", {}),
        ],
        "koi": [
            ("remember", {"content": "## Pools\n\nBlue first", "tags": ["ops"]}),
            ("recall", {"query": "pools", "since": "1d", "tags": ["ops"]}),
            ("recall", {"scope": "global"}),
        ],
        "hackathon": [
            ("remember", {"key": "db", "value": "PostgreSQL", "type": "decision", "tags": ["a"], "context": "JSONB"}),
            ("recall", {"query": "which database PostgreSQL", "type": "decision"}),
            ("list_memories", {"tags": ["a"]}),
            ("handoff", {"summary": "half", "next_steps": "rest", "context_keys": ["db"], "to_agent": "codex"}),
            ("pickup", {}),
            ("complete-handoff", {"handoff_id": 1, "result": "done"}),
            ("export-memories", {}),
            ("import-memories", {"data": [{"key": "imported", "value": "v"}]}),
            ("memory-stats", {}),
            ("cleanup", {}),
            ("forget", {"key": "db"}),
        ],
        "per-user": [
            ("MemoryStore", {**ada, "content": "Prefers tea", "category": "preference", "tier": "mid-term"}),
            ("MemoryRecall", {**ada, "query": "tea"}),
            ("MemoryReflect", ada),
            ("MemoryList", ada),
            ("MemoryForget", {**ada, "query": "tea", "mode": "decay"}),
            ("MemoryForget", {**ada, "query": "tea", "mode": "archive", "reason": "moved on"}),
            ("MemoryExport", ada),
            ("MemoryAudit", {**ada}),
            ("MemoryErase", {**ada, "confirm": "ada"}),
        ],
        "token-saver": [
            ("write_memory", {"key": "project.type", "value": {"kind": "web"}, "tags": ["a"], "ttl": 9999}),
            ("write_memory", {"key": "shared.x", "value": "y", "scope": "shared"}),
            ("read_memory", {"key": "project.type"}),
            ("read_memory", {"pattern": "project.*"}),
            ("list_memories", {"tags": ["a"]}),
            ("search_memories", {"query": "web"}),
            ("smart_resume", {}),
            ("configure_memory", {"action": "get"}),
            ("export_memories", {"output": "out.json"}),
            ("import_memories", {"file": "out.json"}),
            ("delete_memory", {"key": "project.*", "pattern": True}),
        ],
    }
    yield from calls[dialect]


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_every_tool_works(open_tools: Callable[[str], Caller], dialect: str) -> None:
    tools = open_tools(dialect)
    called = {name: tools.text(name, **arguments) for name, arguments in steps_of(dialect)}
    assert all(called.values())
    assert {"update_memory", "delete_memory"} >= {tool.name for tool in DIALECTS[dialect][0].tools} - set(called)


def test_memory_of_the_shared_dialect_is_changed_and_deleted(open_tools: Callable[[str], Caller]) -> None:
    tools = open_tools("shared")
    memory = tools.text("store_memory", title="Pools", text="Blue first").split()[-1]
    assert tools.text("update_memory", id=memory, text="Green first") == f"Memory {memory} updated."
    assert "Green first" in tools.text("load_memories", ids=[memory])
    assert tools.text("delete_memory", id=memory) == f"Memory {memory} deleted."


@pytest.mark.parametrize("scope", ["global", "session"])
def test_scope_is_stored_or_refused_by_the_parameters_own_name(
    open_tools: Callable[[str], Caller], on_server: Callable[[str], bool], scope: str
) -> None:
    writes = {
        "token-saver": ("write_memory", {"key": "editor", "value": "vim", "scope": scope}),
        "keepmum": ("remember", {"text": "Uses vim", "scope": scope}),
    }
    for dialect, (tool, arguments) in writes.items():
        tools = open_tools(dialect)
        if not on_server(scope):
            assert tools.text(tool, **arguments)
            continue
        with pytest.raises(KeepmumError, match="leave `scope` out"):
            tools.text(tool, **arguments)


def test_memories_of_hackathon_are_the_projects_on_a_server_and_it_says_so_once(
    open_tools: Callable[[str], Caller], on_server: Callable[[str], bool]
) -> None:
    tools = open_tools("hackathon")
    first = tools.text("remember", key="db", value="PostgreSQL")
    second = tools.text("remember", key="cache", value="Redis")
    assert ("belong to the project" in first) is on_server("global")
    assert "belong to the project" not in second
    assert [row["key"] for row in tools.json("list_memories")["memories"]] == ["cache", "db"]
    assert open_tools("hackathon").text("recall", query="which PostgreSQL?").startswith("Found")


def test_handoff_is_taken_over_and_completed_once(open_tools: Callable[[str], Caller]) -> None:
    first, second = open_tools("hackathon"), open_tools("hackathon")
    first.text("handoff", summary="half of it", next_steps="the rest")
    assert "half of it" in second.text("pickup")
    assert first.text("pickup") == "No pending handoffs. All caught up!"
    assert second.text("complete-handoff", handoff_id=1).startswith("Handoff #1 completed")
    assert second.json("list_memories")["total"] == 0


def test_users_are_kept_apart_on_this_machine(
    open_tools: Callable[[str], Caller], on_server: Callable[[str], bool], httpserver: HTTPServer
) -> None:
    tools = open_tools("per-user")
    answers = [
        tools.json("MemoryStore", userId=user, content=f"Secret plan of {user}", category="fact")
        for user in ("ada", "bob")
    ]
    assert ["notice" in answer for answer in answers] == [on_server("global"), False]
    assert [row["content"] for row in tools.json("MemoryRecall", userId="ada")["memories"]] == ["Secret plan of ada"]
    assert tools.json("MemoryErase", userId="ada", confirm="ada")["erasedCount"] == 1
    assert not [request for request, _ in httpserver.log if request.path != "/health"]


_NAME = re.compile(r"`([^`]+)`")
_FIELD = re.compile(r"^(\w+): ")
_PLACE = re.compile(r"[\w]+\.[\w-]+ in (\w+(?:, \w+)*(?: or \w+)?(?:\.\w+)*), line")


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_refusals_name_what_the_dialect_has(open_tools: Callable[[str], Caller], dialect: str) -> None:
    """Calls that cannot be served; the message starts with a parameter of the tool and names only what there is."""
    surface = DIALECTS[dialect][0]
    parameters = {name for tool in surface.tools for name in tool.parameters["properties"]}  # type: ignore[attr-defined]
    known = {tool.name for tool in surface.tools} | parameters
    tools = open_tools(dialect)
    token = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
    refused = 0
    for name, arguments in steps_of(dialect):
        for field, value in arguments.items():
            if not isinstance(value, str) or field in {"scope", "tier", "type", "mode", "action", "file", "output"}:
                continue
            for bad in (token, " ", "x" * 70_000, "a\u202e\u202e", "*"):
                try:
                    tools.text(name, **{**arguments, field: bad})
                except KeepmumError as error:
                    refused += 1
                    message = str(error)
                    assert token not in message
                    fields = {place.partition(".")[0] for place in _PLACE.findall(message)}
                    fields |= {*_FIELD.findall(message)}
                    assert {part for place in fields for part in re.split(r", | or ", place)} <= known, message
                    for word in _NAME.findall(message):
                        assert word.startswith("keepmum ") or word in known, message
    assert refused
