"""What a client tells about itself."""

from __future__ import annotations

import pytest

from keepmum.mcp.client import Client, root_paths, session_of_call


@pytest.mark.parametrize(
    ("info", "agent"),
    [
        pytest.param({"name": "claude-code", "version": "2"}, "claude-code", id="its name"),
        pytest.param({"name": ""}, "unknown", id="an empty name"),
        pytest.param({"name": 7}, "unknown", id="a name of a number"),
        pytest.param(None, "unknown", id="nothing"),
        pytest.param("claude", "unknown", id="not an object"),
        pytest.param({"name": " a\n\0b\u202e\ud800 "}, "ab", id="what cannot be printed is left out"),
        pytest.param({"name": "x" * 500}, "x" * 80, id="a long name is cut"),
    ],
)
def test_an_agent_is_a_short_printable_name(info: object, agent: str) -> None:
    assert Client({"clientInfo": info}).agent == agent


@pytest.mark.parametrize(("version", "batches"), [("2024-11-05", True), ("2025-03-26", True), ("2025-06-18", False)])
def test_batches_belong_to_the_first_two_versions(version: str, batches: bool) -> None:  # noqa: FBT001 - a table's column
    assert Client({"protocolVersion": version}).batches is batches


@pytest.mark.parametrize(
    ("uri", "paths"),
    [
        pytest.param("file:///home/ada/shop", ("/home/ada/shop",), id="a folder"),
        pytest.param("file://localhost/shop", ("/shop",), id="this machine by name"),
        pytest.param("file:///my%20w%C3%B6rk", ("/my wörk",), id="percent signs"),
        pytest.param("file://elsewhere/shop", (), id="another machine"),
        pytest.param("https://example.com/shop", (), id="no file"),
        pytest.param("file:///a%00b", (), id="NUL"),
        pytest.param("file://[half", (), id="half an address"),
        pytest.param("file://", (), id="nowhere"),
    ],
)
def test_roots_are_paths_of_this_machine(uri: str, paths: tuple[str, ...]) -> None:
    assert root_paths({"roots": [{"uri": uri}]}) == paths


def test_roots_keep_their_order() -> None:
    assert root_paths({"roots": [{"uri": "file:///b", "name": "B"}, {"uri": "file:///a"}]}) == ("/b", "/a")


@pytest.mark.parametrize("result", [None, {}, [], {"roots": None}, {"roots": {}}, {"roots": [None, 1, {"uri": 7}]}])
def test_a_malformed_answer_about_roots_has_none(result: object) -> None:
    assert root_paths(result) == ()


def test_a_call_may_tell_its_session_and_folders() -> None:
    turn = {"session_id": "s", "workspaces": {"/a": {"has_changes": True}, "relative": {}, "/n\0": {}, "/b": None}}
    assert session_of_call({"x-codex-turn-metadata": turn, "threadId": "t"}) == ("s", ("/a", "/b"))


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"x-codex-turn-metadata": "raw"},
        {"x-codex-turn-metadata": {"session_id": 7, "workspaces": {"/a": {}}}},
        {"x-codex-turn-metadata": {"workspaces": {"/a": {}}}},
    ],
)
def test_a_call_that_names_no_session_tells_nothing(meta: dict[str, object]) -> None:
    assert session_of_call(meta) == ("", ())


def test_a_session_outside_of_repositories_names_no_folder() -> None:
    assert session_of_call({"x-codex-turn-metadata": {"session_id": "s", "workspaces": None}}) == ("s", ())


def test_a_known_client_is_one_agent_and_its_own_word_is_kept() -> None:
    client = Client({"clientInfo": {"name": "cursor-vscode", "version": "1.0.0"}})
    assert (client.agent, client.name, client.agent_version) == ("cursor", "cursor-vscode", "1.0.0")
