"""The panel in a chat: offered to those who can show it, and able to do no more than a model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dialect_calls import opened
from keepmum.core.errors import KeepmumError
from keepmum.dashboard.desk import Desk
from keepmum.mcp.client import Client
from keepmum.mcp.dialects import DIALECTS
from keepmum.mcp.panel import MIME_TYPE, TOOLS, URI, with_panel
from keepmum.mcp.session import Session, lists_of
from keepmum.mcp.surface import Context, Surface
from keepmum.service import MemoryService
from unit.core.service_parts import OpenService

APPS = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
PANEL_TOOLS = {tool.name for tool in TOOLS}


def _lists(surface: Surface, capabilities: object) -> dict[str, Any]:
    """The lists that a client with these capabilities gets."""
    sent: list[Any] = []
    session = Session(
        surface,
        lambda _: pytest.fail("nothing was called"),
        name="x",
        version="1",
        send=sent.append,
        submit=lambda _: None,
    )
    hello = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "x"}}
    for number, (method, params) in enumerate(
        [("initialize", hello), ("tools/list", {}), ("resources/list", {}), ("resources/templates/list", {})]
    ):
        session.receive(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())
    return {method: sent[number].get("result") for number, method in enumerate(["hello", "tools", "resources"])}


@pytest.mark.parametrize("dialect", [*DIALECTS])
@pytest.mark.parametrize(
    "capabilities",
    [
        pytest.param({}, id="nothing said"),
        pytest.param({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}}}, id="other pages"),
        pytest.param({"extensions": {"io.modelcontextprotocol/ui": "text/html;profile=mcp-app"}}, id="not in a list"),
        pytest.param({"extensions": []}, id="no object"),
        pytest.param({"experimental": APPS["extensions"]}, id="elsewhere"),
    ],
)
def test_a_client_that_cannot_show_it_gets_the_same_bytes_as_before(dialect: str, capabilities: object) -> None:
    surface = DIALECTS[dialect][0]
    lists, before = _lists(surface, capabilities), lists_of(surface)
    assert json.dumps(lists["tools"]) == json.dumps(before["tools/list"])
    assert json.dumps(lists["resources"]) == json.dumps(before.get("resources/list"))


@pytest.mark.parametrize("dialect", [*DIALECTS])
def test_a_client_that_can_show_it_is_offered_the_panel(dialect: str) -> None:
    lists = _lists(DIALECTS[dialect][0], APPS)
    tools = {tool["name"]: tool for tool in lists["tools"]["tools"]}
    assert tools.keys() >= PANEL_TOOLS
    assert tools["memory_dashboard"]["_meta"]["ui/resourceUri"] == URI
    assert [tools[name]["_meta"]["ui"].get("visibility") for name in ("memory_view", "memory_change")] == [["app"]] * 2
    assert all("annotations" in tool for tool in tools.values())
    (page,) = (each for each in lists["resources"]["resources"] if each["uri"] == URI)
    assert page["mimeType"] == MIME_TYPE
    assert "resources" in lists["hello"]["capabilities"]


def test_the_tools_of_agent_memory_show_the_panel_with_their_results() -> None:
    tools = {tool.name: tool for tool in with_panel(DIALECTS["hackathon"][0]).tools}
    for name in ("remember", "recall", "list_memories"):
        assert (tools[name].meta or {})["ui"] == {"resourceUri": URI}
    assert (tools["remember"].meta or {})["anthropic/alwaysLoad"] is True
    assert "ui" not in (tools["forget"].meta or {})


def test_a_server_that_is_switched_off_offers_no_panel() -> None:
    assert not with_panel(Surface("")).tools


def test_a_client_without_the_extension_does_not_show_apps() -> None:
    assert not Client({}).apps
    assert Client({"capabilities": APPS}).apps


def test_the_page_has_no_policy_of_the_host_and_no_data() -> None:
    with opened("keepmum") as caller:
        kind, text = caller.handlers.read(URI, caller.context)
    assert kind == MIME_TYPE
    assert text.startswith("<!doctype html>")


@pytest.mark.parametrize("dialect", [*DIALECTS])
def test_the_text_of_an_answer_is_all_of_it(dialect: str) -> None:
    with opened(dialect) as caller:
        caller.service.remember("deploys go through the blue pool")
        answer = caller.handlers.show("memory_view", {"view": "memories", "args": {}}, caller.context)
    assert json.loads(answer.text) == answer.data
    assert [row["title"] for row in json.loads(answer.text)["data"]["rows"]] == ["deploys go through the blue pool"]


def test_what_opens_the_panel_says_enough_where_none_is_shown() -> None:
    with opened("keepmum") as caller:
        caller.service.remember("deploys go through the blue pool")
        text = caller.handlers.show("memory_dashboard", {"query": "which pool"}, caller.context).text
    assert "1 memory" in text
    assert "deploys go through the blue pool" in text
    assert "keepmum dashboard" in text


def test_a_person_in_a_chat_is_named_and_counts_as_an_agent() -> None:
    with opened("keepmum", "claude-desktop") as caller:
        memory = caller.service.remember("deploys go through the blue pool").memory
        edit: dict[str, object] = {"do": "edit", "args": {"id": memory.id, "text": "deploys go through the green pool"}}
        assert not caller.handlers.show("memory_change", edit, caller.context).failed
        found = caller.service.find(memory.id)
    assert (found.updated_by, found.trust, found.confirmed_at) == ("you, in Claude", "agent", None)


@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("pin", {"ids": ["ID"]}),
        ("wrong", {"ids": ["ID"]}),
        ("confirm", {"ids": ["ID"]}),
        ("undo_agent", {"agent": "codex", "since": 0, "confirmation": "x"}),
        ("take_out", {"confirmation": "x"}),
        ("withdraw", {"handoff": 1}),
        ("purge", {"ids": ["ID"]}),
        ("erase", {"ids": ["ID"]}),
        ("allow", {"fingerprint": "0" * 32, "why": "x"}),
        ("forget", {"ids": ["ID"], "mode": "purge", "count": 1}),
    ],
)
def test_the_panel_does_what_a_model_may_do_and_no_more(
    panel: Desk, agent: MemoryService, verb: str, args: dict[str, Any]
) -> None:
    memory = agent.remember("deploys go through the blue pool").memory
    given = {name: [memory.id] if value == ["ID"] else value for name, value in args.items()}
    if verb == "forget":
        panel.change(verb, given)
        assert agent.store.get([memory.id])[0].status == "trashed", "it can be brought back"
        return
    with pytest.raises(KeepmumError):
        panel.change(verb, given)
    assert agent.store.get([memory.id]) == [memory]


@pytest.mark.parametrize("view", ["health", "audit", "undo_agent"])
def test_the_panel_shows_nothing_of_the_machine(panel: Desk, view: str) -> None:
    with pytest.raises(KeepmumError):
        panel.ask(view, {})
    with pytest.raises(KeepmumError):
        panel.export("jsonl", {})


def test_the_panel_replaces_nothing_that_a_person_wrote(panel: Desk, person: MemoryService) -> None:
    memory = person.remember("deploys go through the blue pool").memory
    for verb, args in (("edit", {"id": memory.id, "text": "other"}), ("put_back", {"id": memory.id, "version": 1})):
        with pytest.raises(KeepmumError):
            panel.change(verb, args)
    assert person.find(memory.id).text == memory.text


def test_no_call_reads_another_users_memories(open_memory: OpenService, panel: Desk, desk: Desk) -> None:
    ada = open_memory(place={"user": "ada"}).remember("ada likes tea").memory
    for calls in (panel, desk):
        shown = json.dumps(
            [
                calls.ask("memories", {"scope": "all"}),
                calls.ask("memories", {"query": "tea"}),
                calls.ask("home", {}),
                calls.ask("review", {}),
                calls.ask("activity", {}),
            ]
        )
        assert "ada likes tea" not in shown.replace(json.dumps(ada.title), "") or "ada likes tea" not in shown
        for view in ("memory", "code"):
            with pytest.raises(KeepmumError):
                calls.ask(view, {"id": ada.id, "path": "x"})
        for verb in ("edit", "put_back"):
            with pytest.raises(KeepmumError) as refused:
                calls.change(verb, {"id": ada.id, "text": "x", "version": 1, "revision": 0})
            assert "likes tea" not in str(refused.value)
        for verb in ("archive", "forget", "restore", "still_true", "tag"):
            with pytest.raises(KeepmumError) as refused:
                calls.change(verb, {"ids": [ada.id], "revisions": {ada.id: 7}, "add": ["x"]})
            assert not hasattr(refused.value, "present")
        with pytest.raises(KeepmumError):
            calls.change("undo", {"undo": f"{ada.id}:1:1"})
    assert open_memory(place={"user": "ada"}).find(ada.id) == ada


def test_a_memory_that_names_anothers_as_its_forerunner_does_not_show_it(open_memory: OpenService, desk: Desk) -> None:
    ada = open_memory(place={"user": "ada"}).remember("ada likes tea").memory
    own: dict[str, Any] = {
        "id": ada.id[:-1] + ("0" if ada.id[-1] != "0" else "1"),
        "title": "x",
        "text": "x",
        "created_at": 1,
        "updated_at": 1,
    }
    claim = open_memory().import_memory({**own, "project": "alpha", "supersedes": ada.id}).memory
    assert "likes tea" not in json.dumps(desk.ask("memory", {"id": claim.id}))


def test_the_agent_of_the_client_is_known_as_its_title() -> None:
    with opened("keepmum", "an agent nobody knows") as caller:
        memory = caller.service.remember("deploys go through the blue pool").memory
        args: dict[str, object] = {"do": "archive", "args": {"ids": [memory.id]}}
        caller.handlers.show("memory_change", args, Context(agent="an agent nobody knows"))
        assert caller.service.activity(1)[0].agent == "you, in an agent nobody knows"
