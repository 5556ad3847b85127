"""The seven tools of the `shared` dialect: parameters and exact answer formats, over SQLite and a server."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from keepmum.core.errors import InvalidInput, NotFound, SecretFound
from keepmum.mcp.arguments import KEYWORDS, check
from keepmum.mcp.dialects import DIALECTS
from keepmum.mcp.dialects.shared import SURFACE
from keepmum.mcp.surface import Context
from rest_server import KEY, Answer, FakeServer, behind

TOOLS = {tool.name: tool for tool in SURFACE.tools}
TOKEN = "gh" + "p_" + "4fQ9" + "zR7k" * 7 + "Xb21"
ANYONE = Context(agent="codex")
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"

Call = Callable[..., str]


@pytest.fixture
def fake() -> FakeServer:
    return FakeServer()


@pytest.fixture(params=["sqlite", "rest"])
def store(
    request: pytest.FixtureRequest, httpserver: HTTPServer, fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> str:
    """The kind of store below the tools."""
    if request.param == "rest":
        monkeypatch.setenv("MEMORY_API_URL", behind(httpserver, fake))
        monkeypatch.setenv("MEMORY_API_KEY", KEY)
    return str(request.param)


@pytest.fixture
def open_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Call]]:
    """Opens the tools in a project named `alpha`; arguments are checked as for a client."""
    work = tmp_path / "alpha"
    work.mkdir()
    monkeypatch.chdir(work)
    opened = []

    def open_once() -> Call:
        handlers = DIALECTS["shared"][1](Context(agent="codex", roots=(str(work),)))
        opened.append(handlers)
        return lambda name, **arguments: handlers.call(name, check(TOOLS[name].parameters, arguments), ANYONE)

    yield open_once
    for handlers in opened:
        handlers.close()


@pytest.fixture
def call(store: str, open_tools: Callable[[], Call]) -> Call:
    assert store
    return open_tools()


def store_memory(call: Call, **arguments: object) -> str:
    """The id of a new memory."""
    text = call("store_memory", **{"title": "Pools", "text": "Blue first", **arguments})
    found = re.fullmatch(rf"Memory stored with ID: ({UUID})", text)
    assert found, text
    return found[1]


# -- tools


def test_tools_and_parameters_match_the_original() -> None:
    offered = {}
    for name, tool in TOOLS.items():
        properties, required = tool.parameters["properties"], tool.parameters.get("required", [])
        assert isinstance(properties, dict)
        assert isinstance(required, list)
        offered[name] = (set(properties), set(required))
    assert offered == {
        "store_memory": ({"title", "text", "agent", "project", "tags"}, {"title", "text"}),
        "search_memory": ({"query", "limit", "agent", "project", "tags"}, {"query"}),
        "load_memories": ({"ids"}, {"ids"}),
        "list_recent": ({"limit", "days", "project"}, set()),
        "update_memory": ({"id", "text", "title"}, {"id", "text"}),
        "delete_memory": ({"id"}, {"id"}),
        "get_config": (set(), set()),
    }


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_tool_declares_its_effects(name: str) -> None:
    assert {"readOnlyHint", "openWorldHint"} <= set(TOOLS[name].annotations)


def test_schemas_use_only_enforced_keywords() -> None:
    for tool in SURFACE.tools:
        properties = tool.parameters["properties"]
        assert isinstance(properties, dict)
        assert all(set(field) <= KEYWORDS | {"description"} for field in properties.values())


# -- answer formats


def test_store_returns_a_uuid(call: Call) -> None:
    assert str(uuid.UUID(store_memory(call))) in call("search_memory", query="blue")


def test_search_result_has_number_score_project_id_and_title(call: Call) -> None:
    name = store_memory(call)
    text = call("search_memory", query="blue pools")
    assert re.fullmatch(rf"\[1\] \(score: \d\.\d{{3}}\) \[alpha\] {name}\nPools", text), text


def test_search_results_are_separated_by_line_feeds(call: Call) -> None:
    store_memory(call, text="Blue first"), store_memory(call, text="Blue last")
    text = call("search_memory", query="blue")
    assert [line[:4] for line in text.splitlines()] == ["[1] ", "Pool", "[2] ", "Pool"]


def test_empty_result_is_reported(call: Call) -> None:
    assert call("search_memory", query="zebra") == "No memories found."
    assert call("list_recent") == "No recent memories."
    assert call("load_memories", ids=[str(uuid.uuid4())]) == "No memories found for the given IDs."


def test_loaded_memory_has_agent_project_id_title_text_tags_and_time(call: Call) -> None:
    name = store_memory(call, tags=["deploy", "pools"])
    text = call("load_memories", ids=[name])
    assert re.fullmatch(
        rf"\[1\] \[codex/alpha\]\nID: {name}\nTitle: Pools\nBlue first\nTags: deploy, pools \| Created: {TIME}", text
    ), text


def test_loaded_memories_are_separated_by_blank_lines_without_unknown_ids(call: Call) -> None:
    one, two = store_memory(call, text="Blue first"), store_memory(call, text="Green last")
    text = call("load_memories", ids=[one, str(uuid.uuid4()), two])
    assert [part[:3] for part in text.split("\n\n")] == ["[1]", "[2]"]


def test_recent_memory_has_project_id_time_and_title(call: Call) -> None:
    name = store_memory(call)
    assert re.fullmatch(rf"\[1\] \[alpha\] {name} {TIME}\nPools", call("list_recent"))


def test_update_keeps_tags_and_title(call: Call) -> None:
    name = store_memory(call, tags=["deploy"])
    assert call("update_memory", id=name, text="Green first") == f"Memory {name} updated."
    text = call("load_memories", ids=[name])
    assert "Title: Pools\nGreen first\nTags: deploy" in text


def test_update_can_change_the_title(call: Call) -> None:
    name = store_memory(call)
    call("update_memory", id=name, text="Green first", title="Colours")
    assert "Title: Colours\nGreen first" in call("load_memories", ids=[name])


def test_deleted_memory_is_not_found(call: Call) -> None:
    name = store_memory(call)
    assert call("delete_memory", id=name) == f"Memory {name} deleted."
    assert call("search_memory", query="blue") == "No memories found."


def test_configuration_has_five_lines(call: Call, store: str, fake: FakeServer) -> None:
    text = call("get_config").splitlines()
    assert [line.partition(": ")[0] for line in text] == [
        "Memory API", "Collection", "Default Agent", "Default Project", "Model Ready",
    ]  # fmt: skip
    assert text[2:4] == ["Default Agent: codex", "Default Project: alpha"]
    if store == "rest":
        assert text[1::3] == ["Collection: shared_agent_memory", "Model Ready: true"]
        assert fake.asked("GET", "/api/v1/config")


# -- arguments


def test_list_argument_may_be_json_text(call: Call) -> None:
    name = store_memory(call, tags='["deploy", "pools"]')
    assert "Tags: deploy, pools" in call("load_memories", ids=f'["{name}"]')


def test_search_covers_every_project_unless_one_is_given(call: Call) -> None:
    store_memory(call), store_memory(call, text="Blue last", project="beta")
    assert "[alpha]" in call("search_memory", query="blue")
    assert "[beta]" in call("search_memory", query="blue")
    assert "[alpha]" not in call("search_memory", query="blue", project="beta")
    assert "[beta]" not in call("search_memory", query="blue", project="alpha")


def test_search_requires_all_tags(call: Call) -> None:
    store_memory(call, text="Blue first", title="one", tags=["a"])
    store_memory(call, text="Blue last", title="both", tags=["a", "b"])
    assert call("search_memory", query="blue", tags=["a", "b"]).endswith("both")


def test_search_filters_by_agent(call: Call) -> None:
    store_memory(call, text="Blue first", title="theirs", agent="cursor")
    store_memory(call, text="Blue last", title="mine")
    assert call("search_memory", query="blue", agent="cursor").endswith("theirs")
    assert call("search_memory", query="blue", agent="codex").endswith("mine")


def test_limit_bounds_the_results(call: Call) -> None:
    for number in range(3):
        store_memory(call, text=f"Blue {number}", title=str(number))
    assert len(call("search_memory", query="blue", limit=2).splitlines()) == 4
    assert len(call("list_recent", limit=2.0).splitlines()) == 4


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("store_memory", {"title": " ", "text": "x"}),
        ("store_memory", {"title": "x", "text": " "}),
        ("store_memory", {"title": "x", "text": "x", "project": "*"}),
        ("store_memory", {"text": "x"}),
        ("load_memories", {"ids": "not a list"}),
        ("search_memory", {"query": "x", "limit": 0}),
    ],
)
def test_invalid_arguments_are_refused(call: Call, tool: str, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        call(tool, **arguments)


def test_secret_is_refused(call: Call, fake: FakeServer) -> None:
    with pytest.raises(SecretFound):
        store_memory(call, text=f"The job signs in with {TOKEN}.")
    assert fake.memories == {}


def test_unknown_id_is_not_found(call: Call) -> None:
    for tool, more in (("update_memory", {"text": "x"}), ("delete_memory", {})):
        with pytest.raises(NotFound):
            call(tool, id=str(uuid.uuid4()), **more)


# -- unavailable server


@pytest.mark.parametrize("store", ["rest"], indirect=True)
def test_queued_write_is_not_reported_as_stored(call: Call, fake: FakeServer) -> None:
    fake.fault = lambda _: Answer(503, headers={"Retry-After": "60"})
    text = call("store_memory", title="Pools", text="Blue first")
    assert re.match(rf"Memory queued, not stored yet, with ID: {UUID} ", text)
    assert "stored with ID" not in text
    found = call("search_memory", query="blue")
    assert "Pools" in found
    assert "not the server's answer" in found
