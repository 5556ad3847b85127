"""The agents and the names that clients report."""

from __future__ import annotations

import re

import pytest

from keepmum.core.agents import AGENTS, identify


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        pytest.param("claude-code", "claude-code", id="its own id"),
        pytest.param("codex-mcp-client", "codex", id="the name of a protocol library"),
        pytest.param("cursor-vscode", "cursor", id="the editor"),
        pytest.param("Cursor", "cursor", id="its agent on the command line"),
        pytest.param("Visual Studio Code", "vscode", id="with spaces"),
        pytest.param("Visual-Studio-Code", "vscode", id="an earlier spelling"),
        pytest.param("Visual Studio Code - Insiders", "vscode", id="the Insiders version"),
        pytest.param("gemini-cli-mcp-client", "gemini-cli", id="Gemini CLI"),
        pytest.param("ChatGPT", "chatgpt", id="in capitals"),
        pytest.param("Q-DEV-CLI", "amazon-q", id="all in capitals"),
    ],
)
def test_a_known_name_maps_to_its_agent(name: str, agent: str) -> None:
    assert identify(name).id == agent


@pytest.mark.parametrize("name", ["my own client", "Keeper", "", "unknown", "\ud800"])
def test_an_unknown_name_is_used_as_it_is(name: str) -> None:
    agent = identify(name)
    assert (agent.id, agent.title) == (name, name)


def test_an_unknown_name_always_has_the_same_colour() -> None:
    assert identify("Keeper").colour == identify("Keeper").colour


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_an_agent_has_a_valid_id_and_a_unique_colour(agent: object) -> None:
    assert isinstance(agent, type(identify("cursor")))
    assert identify(agent.id) is agent
    assert re.fullmatch("#[0-9a-f]{6}", agent.colour)
    assert [each.colour for each in AGENTS.values()].count(agent.colour) == 1
    assert re.fullmatch("[a-z0-9-]+", agent.id)


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_a_colour_is_visible_on_black_and_on_white(agent: object) -> None:
    """WCAG 2.2 requires a contrast of 3 to 1 for graphical objects."""
    assert isinstance(agent, type(identify("cursor")))
    parts = [int(agent.colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    assert (light + 0.05) / 0.05 >= 3
    assert 1.05 / (light + 0.05) >= 3
