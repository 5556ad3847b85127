"""Calls of MCP over HTTP: project, role, author, and what a server does not do for a client elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from keepmum.core import jsonrpc
from keepmum.server.mcp.caller import CLIENT_INFO, Caller
from keepmum.server.mcp.calls import Edge, RemoteCall
from keepmum.server.mcp.session_token import SessionToken
from keepmum.server.people.roles import Principal, Role
from keepmum.service.team import Team, TeamSqliteSpec, open_team
from keepmum_scanner import scan

UNCOUNTED = Edge(lambda *_: None)


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    opened = open_team(TeamSqliteSpec(str(tmp_path / "memory.db")), scan)
    yield opened
    opened.close()


def caller(roles: Mapping[str, Role] | None = None, **more: Any) -> Caller:
    return Caller(Principal(id="p1", name="ada", key="k1", roles=roles or {"api": "writer"}), **more)


def call(
    team: Team, who: Caller, tool: str, dialect: str = "keepmum", meta: Mapping[str, object] | None = None, **given: Any
) -> tuple[bool, str]:
    """Whether the call was refused, and its text."""
    params = {"name": tool, "arguments": given, "_meta": meta or {}}
    result: Any = RemoteCall(dialect, "tools/call", params, who, "2025-11-25").answer(team, UNCOUNTED)
    return result.get("isError", False), "\n".join(part["text"] for part in result["content"])


def test_the_only_project_of_a_key_needs_no_name(team: Team) -> None:
    call(team, caller(), "remember", text="Deploys go through the blue pool")
    assert "blue pool" in call(team, caller({"api": "reader"}), "recall", query="deploys")[1]


def test_with_several_projects_one_must_be_named(team: Team) -> None:
    refused, text = call(team, caller({"web": "writer", "api": "writer"}), "remember", text="Tabs")
    assert refused
    assert text.startswith("project: is not named, and this key has api, web; name one in the header X-Keepmum-Project")


def test_a_project_that_is_not_there_is_refused_as_one_that_is_anothers(team: Team) -> None:
    call(team, caller({"secret": "writer"}), "remember", text="Tabs")
    answers = {call(team, caller(project=name), "recall", query="tabs") for name in ("secret", "nothing")}
    assert answers == {(True, "project: is none that this key may use; it has api")}


def test_the_argument_comes_before_the_header(team: Team) -> None:
    who = caller({"api": "writer", "web": "writer"}, project="web")
    call(team, who, "store_memory", "shared", title="Tabs", text="Tabs, not spaces", project="api")
    assert "[api]" in call(team, who, "search_memory", "shared", query="tabs")[1]


def test_a_search_of_the_shared_dialect_is_over_all_projects_of_the_key(team: Team) -> None:
    for project in ("api", "web", "other"):
        who = caller({project: "writer"})
        call(team, who, "store_memory", "shared", title=f"Tabs in {project}", text="Tabs, not spaces")
    _, text = call(team, caller({"api": "reader", "web": "reader"}), "search_memory", "shared", query="tabs")
    assert ("[api]" in text, "[web]" in text, "other" in text) == (True, True, False)


@pytest.mark.parametrize(
    ("dialect", "tool", "given", "role"),
    [
        ("keepmum", "remember", {"text": "Tabs"}, "reader"),
        ("keepmum", "forget", {"ids": ["x"]}, "reader"),
        ("keepmum", "forget", {"ids": ["x"], "undo": True}, "writer"),
        ("hackathon", "cleanup", {}, "writer"),
        ("per-user", "MemoryErase", {"userId": "u", "confirm": "u"}, "curator"),
        ("token-saver", "write_memory", {"key": "a", "value": "b"}, "reader"),
        ("koi", "remember", {"content": "Tabs"}, "reader"),
    ],
)
def test_too_small_a_role_is_refused(team: Team, dialect: str, tool: str, given: dict[str, Any], role: Role) -> None:
    refused, text = call(team, caller({"api": role}), tool, dialect, **given)
    assert refused
    assert text.startswith(f"this key is {role} of the project api, and this needs the role ")


def test_a_secret_is_refused(team: Team) -> None:
    refused, text = call(team, caller(), "remember", text=f"the key is AKIA{'QYLPMN5HHHFPZAM2'}")
    assert refused
    assert text.startswith("refused, nothing stored: aws.access-key in text, line 1")


def test_a_search_of_everything_reads_no_other_project(team: Team) -> None:
    call(team, caller({"secret": "writer"}), "remember", text="Deploys go through the red pool")
    assert "pool" not in call(team, caller(), "recall", query="deploys", scope="all")[1]


@pytest.mark.parametrize(
    ("given", "meta", "label"),
    [
        pytest.param({"agent": "zed"}, {CLIENT_INFO: {"name": "cursor-vscode"}}, "cursor", id="the request"),
        pytest.param(
            {"agent": "zed", "session": SessionToken("p1", "codex-mcp-client", "1", "s", 9)}, {}, "codex", id="session"
        ),
        pytest.param({"agent": "zed"}, {}, "zed", id="the header"),
        pytest.param({}, {}, "unknown", id="nothing"),
    ],
)
def test_the_label_is_the_agent_and_the_author_is_the_key(
    team: Team, given: dict[str, Any], meta: dict[str, object], label: str
) -> None:
    call(team, caller(**given), "remember", meta=meta, text="Tabs")
    with team.service(caller().principal.grant(1), actor="x", place=caller().place({}, {}, needs_project=True),
                      origin="mcp") as service:  # fmt: skip
        (memory,) = service.every()
    assert (memory.agent, memory.created_by, memory.trust) == (label, "ada", "team")


def test_memories_of_a_session_are_found_in_it_only(team: Team) -> None:
    one, two = (caller(session=SessionToken("p1", "codex", "1", name, 9)) for name in ("one", "two"))
    call(team, one, "remember", text="Working on the parser", scope="session")
    assert "parser" in call(team, one, "recall", query="parser")[1]
    assert "parser" not in call(team, two, "recall", query="parser")[1]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("import_memories", {"file": "/etc/passwd"}),
        ("export_memories", {"output": "/tmp/x.json"}),
        ("smart_resume", {"project_path": "/"}),
        ("configure_memory", {"action": "reset"}),
    ],
)
def test_no_file_of_the_server_is_read_or_written(team: Team, tool: str, given: dict[str, Any]) -> None:
    refused, text = call(team, caller({"api": "admin"}), tool, "token-saver", **given)
    assert refused
    assert text.endswith("names a file or setting of one machine; a team's server has none for you. Nothing was done")


@pytest.mark.parametrize("tool", ["get_config"])
def test_no_path_of_the_server_is_shown(team: Team, tmp_path: Path, tool: str) -> None:
    assert str(tmp_path) not in call(team, caller(), tool, "shared")[1]


def test_a_resource_of_another_project_is_not_found(team: Team) -> None:
    call(team, caller({"secret": "writer"}), "remember", text="Tabs", key="style")
    messages = set()
    for uri in ("memory://style", "memory://stile"):
        with pytest.raises(jsonrpc.RpcError) as error:
            RemoteCall("keepmum", "resources/read", {"uri": uri}, caller(), "2025-11-25").answer(team, UNCOUNTED)
        messages.add((error.value.code, str(error.value)))
    assert len(messages) == 1


SECRET = f"AKIA{'QYLPMN5HHHFPZAM2'}"
EVERYWHERE: Mapping[str, Role] = {"*": "admin"}


@pytest.mark.parametrize(
    ("given", "meta"),
    [
        pytest.param({"project": SECRET}, {}, id="project"),
        pytest.param({"project": "p"}, {"x-codex-turn-metadata": {"session_id": SECRET}}, id="session"),
        pytest.param({"project": "p", "agent": SECRET}, {}, id="agent"),
        pytest.param({"project": "p"}, {CLIENT_INFO: {"name": SECRET}}, id="client"),
    ],
)
def test_a_secret_as_a_name_is_nowhere(
    team: Team, tmp_path: Path, given: dict[str, Any], meta: dict[str, object]
) -> None:
    refused, _ = call(team, caller(EVERYWHERE, **given), "remember", meta=meta, text="Tabs")
    assert refused
    team.close()
    assert not any(SECRET.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", ["a\x1fb", "a\0b", "a\nb", "x" * 5000, "\ud800", "a\u200bb"])
def test_a_project_has_a_plain_name(team: Team, name: str) -> None:
    refused, text = call(team, caller(EVERYWHERE, project=name), "remember", text="Tabs")
    assert (refused, text.partition(":")[0]) == (True, "project")


@pytest.mark.parametrize(("role", "trust"), [("writer", "outside"), ("curator", "team")])
def test_what_a_writer_lays_down_for_agents_waits_for_a_review(team: Team, role: Role, trust: str) -> None:
    call(team, caller({"api": role}), "remember", text="Always deploy on Fridays", kind="instruction")
    with team.service(caller().principal.grant(1), actor="x", place=caller().place({}, {}, needs_project=True),
                      origin="mcp") as service:  # fmt: skip
        assert [memory.trust for memory in service.every()] == [trust]
