"""The seven tools of Shared Agent Memory: their parameters and the very forms of their answers, over every store."""

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
    """The kind of store that the tools stand on."""
    if request.param == "rest":
        monkeypatch.setenv("MEMORY_API_URL", behind(httpserver, fake))
        monkeypatch.setenv("MEMORY_API_KEY", KEY)
    return str(request.param)


@pytest.fixture
def open_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Call]]:
    """Opens the tools in a project called `alpha`, as a client's call reaches them."""
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


def stored(call: Call, **arguments: object) -> str:
    """The id of a new memory."""
    said = call("store_memory", **{"title": "Pools", "text": "Blue first", **arguments})
    found = re.fullmatch(rf"Memory stored with ID: ({UUID})", said)
    assert found, said
    return found[1]


# -- what is offered


def test_the_tools_and_their_parameters_are_those_of_the_original() -> None:
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
def test_every_tool_says_what_it_may_change(name: str) -> None:
    assert {"readOnlyHint", "openWorldHint"} <= set(TOOLS[name].annotations)


def test_every_constraint_is_one_that_is_checked() -> None:
    for tool in SURFACE.tools:
        properties = tool.parameters["properties"]
        assert isinstance(properties, dict)
        assert all(set(field) <= KEYWORDS | {"description"} for field in properties.values())


# -- the forms


def test_a_stored_memory_is_answered_with_its_uuid(call: Call) -> None:
    assert str(uuid.UUID(stored(call))) in call("search_memory", query="blue")


def test_a_search_gives_number_score_project_id_and_title(call: Call) -> None:
    name = stored(call)
    said = call("search_memory", query="blue pools")
    assert re.fullmatch(rf"\[1\] \(score: \d\.\d{{3}}\) \[alpha\] {name}\nPools", said), said


def test_results_stand_one_below_the_other(call: Call) -> None:
    stored(call, text="Blue first"), stored(call, text="Blue last")
    said = call("search_memory", query="blue")
    assert [line[:4] for line in said.splitlines()] == ["[1] ", "Pool", "[2] ", "Pool"]


def test_nothing_found_is_said(call: Call) -> None:
    assert call("search_memory", query="zebra") == "No memories found."
    assert call("list_recent") == "No recent memories."
    assert call("load_memories", ids=[str(uuid.uuid4())]) == "No memories found for the given IDs."


def test_a_loaded_memory_has_agent_project_id_title_text_tags_and_time(call: Call) -> None:
    name = stored(call, tags=["deploy", "pools"])
    said = call("load_memories", ids=[name])
    assert re.fullmatch(
        rf"\[1\] \[codex/alpha\]\nID: {name}\nTitle: Pools\nBlue first\nTags: deploy, pools \| Created: {TIME}", said
    ), said


def test_loaded_memories_have_a_blank_line_between_and_unknown_ids_are_left_out(call: Call) -> None:
    one, two = stored(call, text="Blue first"), stored(call, text="Green last")
    said = call("load_memories", ids=[one, str(uuid.uuid4()), two])
    assert [part[:3] for part in said.split("\n\n")] == ["[1]", "[2]"]


def test_the_latest_have_project_id_time_and_title(call: Call) -> None:
    name = stored(call)
    assert re.fullmatch(rf"\[1\] \[alpha\] {name} {TIME}\nPools", call("list_recent"))


def test_an_updated_memory_keeps_its_tags_and_its_title(call: Call) -> None:
    name = stored(call, tags=["deploy"])
    assert call("update_memory", id=name, text="Green first") == f"Memory {name} updated."
    said = call("load_memories", ids=[name])
    assert "Title: Pools\nGreen first\nTags: deploy" in said


def test_an_updated_memory_may_get_a_title(call: Call) -> None:
    name = stored(call)
    call("update_memory", id=name, text="Green first", title="Colours")
    assert "Title: Colours\nGreen first" in call("load_memories", ids=[name])


def test_a_deleted_memory_is_gone(call: Call) -> None:
    name = stored(call)
    assert call("delete_memory", id=name) == f"Memory {name} deleted."
    assert call("search_memory", query="blue") == "No memories found."


def test_the_configuration_has_five_lines(call: Call, store: str, fake: FakeServer) -> None:
    said = call("get_config").splitlines()
    assert [line.partition(": ")[0] for line in said] == [
        "Memory API", "Collection", "Default Agent", "Default Project", "Model Ready",
    ]  # fmt: skip
    assert said[2:4] == ["Default Agent: codex", "Default Project: alpha"]
    if store == "rest":
        assert said[1::3] == ["Collection: shared_agent_memory", "Model Ready: true"]
        assert fake.asked("GET", "/api/v1/config")


# -- the arguments


def test_a_list_may_come_as_json_in_a_string(call: Call) -> None:
    name = stored(call, tags='["deploy", "pools"]')
    assert "Tags: deploy, pools" in call("load_memories", ids=f'["{name}"]')


def test_a_search_reaches_every_project_unless_one_is_named(call: Call) -> None:
    stored(call), stored(call, text="Blue last", project="beta")
    assert "[alpha]" in call("search_memory", query="blue")
    assert "[beta]" in call("search_memory", query="blue")
    assert "[alpha]" not in call("search_memory", query="blue", project="beta")
    assert "[beta]" not in call("search_memory", query="blue", project="alpha")


def test_a_search_finds_what_has_all_tags(call: Call) -> None:
    stored(call, text="Blue first", title="one", tags=["a"])
    stored(call, text="Blue last", title="both", tags=["a", "b"])
    assert call("search_memory", query="blue", tags=["a", "b"]).endswith("both")


def test_an_agent_may_be_named_and_filtered_by(call: Call) -> None:
    stored(call, text="Blue first", title="theirs", agent="cursor")
    stored(call, text="Blue last", title="mine")
    assert call("search_memory", query="blue", agent="cursor").endswith("theirs")
    assert call("search_memory", query="blue", agent="codex").endswith("mine")


def test_the_limit_holds(call: Call) -> None:
    for number in range(3):
        stored(call, text=f"Blue {number}", title=str(number))
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
def test_nonsense_is_one_sentence(call: Call, tool: str, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        call(tool, **arguments)


def test_a_secret_is_refused(call: Call, fake: FakeServer) -> None:
    with pytest.raises(SecretFound):
        stored(call, text=f"The job signs in with {TOKEN}.")
    assert fake.memories == {}


def test_an_unknown_id_cannot_be_changed(call: Call) -> None:
    for tool, more in (("update_memory", {"text": "x"}), ("delete_memory", {})):
        with pytest.raises(NotFound):
            call(tool, id=str(uuid.uuid4()), **more)


# -- without the server


@pytest.mark.parametrize("store", ["rest"], indirect=True)
def test_a_write_that_waits_is_not_told_to_be_stored(call: Call, fake: FakeServer) -> None:
    fake.fault = lambda _: Answer(503, headers={"Retry-After": "60"})
    said = call("store_memory", title="Pools", text="Blue first")
    assert re.match(rf"Memory queued, not stored yet, with ID: {UUID} ", said)
    assert "stored with ID" not in said
    found = call("search_memory", query="blue")
    assert "Pools" in found
    assert "not the server's answer" in found
