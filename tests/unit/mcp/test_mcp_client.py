"""The client's name, version, roots and session, from its messages."""

from __future__ import annotations

import pytest

from keepmum.mcp.client import Client, root_paths, session_of_call


@pytest.mark.parametrize(
    ("info", "agent"),
    [
        pytest.param({"name": "claude-code", "version": "2"}, "claude-code", id="its name"),
        pytest.param({"name": ""}, "unknown", id="an empty name"),
        pytest.param({"name": 7}, "unknown", id="a number as the name"),
        pytest.param(None, "unknown", id="nothing"),
        pytest.param("claude", "unknown", id="not an object"),
        pytest.param({"name": " a\n\0b\u202e\ud800 "}, "ab", id="unprintable characters are dropped"),
        pytest.param({"name": "x" * 500}, "x" * 80, id="a long name is truncated"),
    ],
)
def test_agent_name_is_short_and_printable(info: object, agent: str) -> None:
    assert Client({"clientInfo": info}).agent == agent


@pytest.mark.parametrize(("version", "batches"), [("2024-11-05", True), ("2025-03-26", True), ("2025-06-18", False)])
def test_batches_are_accepted_in_the_first_two_versions(version: str, batches: bool) -> None:  # noqa: FBT001 - a parametrised column
    assert Client({"protocolVersion": version}).batches is batches


@pytest.mark.parametrize(
    ("uri", "paths"),
    [
        pytest.param("file:///home/ada/shop", ("/home/ada/shop",), id="a folder"),
        pytest.param("file://localhost/shop", ("/shop",), id="localhost"),
        pytest.param("file:///my%20w%C3%B6rk", ("/my wörk",), id="percent encoding"),
        pytest.param("file://elsewhere/shop", (), id="another machine"),
        pytest.param("https://example.com/shop", (), id="not a file URI"),
        pytest.param("file:///a%00b", (), id="NUL"),
        pytest.param("file://[half", (), id="malformed URI"),
        pytest.param("file://", (), id="no path"),
    ],
)
def test_only_local_file_uris_become_roots(uri: str, paths: tuple[str, ...]) -> None:
    assert root_paths({"roots": [{"uri": uri}]}) == paths


def test_roots_keep_their_order() -> None:
    assert root_paths({"roots": [{"uri": "file:///b", "name": "B"}, {"uri": "file:///a"}]}) == ("/b", "/a")


@pytest.mark.parametrize("result", [None, {}, [], {"roots": None}, {"roots": {}}, {"roots": [None, 1, {"uri": 7}]}])
def test_malformed_roots_response_has_no_roots(result: object) -> None:
    assert root_paths(result) == ()


def test_call_metadata_gives_session_and_folders() -> None:
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
def test_call_metadata_without_a_session_is_ignored(meta: dict[str, object]) -> None:
    assert session_of_call(meta) == ("", ())


def test_session_without_workspaces_has_no_folders() -> None:
    assert session_of_call({"x-codex-turn-metadata": {"session_id": "s", "workspaces": None}}) == ("s", ())


def test_known_client_maps_to_its_agent_and_keeps_its_own_name() -> None:
    client = Client({"clientInfo": {"name": "cursor-vscode", "version": "1.0.0"}})
    assert (client.agent, client.name, client.agent_version) == ("cursor", "cursor-vscode", "1.0.0")
