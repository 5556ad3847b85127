"""The plugin in the real Claude Code: tools, briefings and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from clients.claude import Claude
from clients.mock_model import Call, MockModel
from clients.samples import NOTE, token
from hidden import assert_hidden
from keepmum_hooks.capture_prompt import SKILLS

pytestmark = pytest.mark.clients

TOOL = "mcp__plugin_keepmum_memory__"


def holding(text: str, *folders: Path) -> list[Path]:
    """The files below the folders that contain the text."""
    return [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    ]


def test_the_tools_that_matter_need_no_search(user: Claude, model: MockModel, project: Path) -> None:
    user.ask("hello", folder=project)
    assert {f"{TOOL}remember", f"{TOOL}recall"} <= set(model.requests[0].tools)


@pytest.mark.parametrize("tool", ["remember", "recall", "load", "forget", "resume"])
def test_each_tool_is_named_to_the_model(user: Claude, model: MockModel, project: Path, tool: str) -> None:
    user.ask("hello", folder=project)
    assert f"{TOOL}{tool}" in model.requests[0].text


def test_the_server_tells_how_it_is_used_in_the_first_request(user: Claude, model: MockModel, project: Path) -> None:
    user.ask("hello", folder=project)
    assert "## plugin:keepmum:memory" in model.requests[0].text
    assert "call `recall`" in model.requests[0].text


def test_what_one_session_keeps_the_next_one_finds(user: Claude, model: MockModel, project: Path) -> None:
    model.will(Call(f"{TOOL}remember", NOTE))
    user.ask("remember it", folder=project)
    model.will(Call(f"{TOOL}recall", {"query": "how are deploys done"}))
    user.ask("how are deploys done?", folder=project)
    assert "Kept: Deploys" in model.requests[1].news
    assert "Deploys" in model.requests[-1].news


def test_the_next_session_is_briefed_in_its_first_request(user: Claude, model: MockModel, project: Path) -> None:
    model.will(Call(f"{TOOL}remember", NOTE))
    user.ask("remember it", folder=project)
    user.ask("hello", folder=project)
    assert "SessionStart hook additional context" in model.requests[-1].text
    assert "Deploys" in model.requests[-1].text


def test_a_session_below_the_projects_top_is_briefed_too(user: Claude, model: MockModel, project: Path) -> None:
    below = project / "src" / "deep"
    below.mkdir(parents=True)
    model.will(Call(f"{TOOL}remember", NOTE))
    user.ask("remember it", folder=project)
    user.ask("hello", folder=below)
    assert "SessionStart hook additional context" in model.requests[-1].text


def test_nothing_is_sent_about_another_project(user: Claude, model: MockModel, project: Path, tmp_path: Path) -> None:
    model.will(Call(f"{TOOL}remember", NOTE))
    user.ask("remember it", folder=project)
    other = tmp_path / "other"
    other.mkdir()
    user.ask("hello", folder=other)
    assert "blue pool" not in model.requests[-1].text
    assert "SessionStart hook additional context" not in model.requests[-1].text


def test_a_resumed_session_is_briefed_once(user: Claude, model: MockModel, project: Path) -> None:
    model.will(Call(f"{TOOL}remember", NOTE))
    user.ask("remember it", folder=project)
    user.ask("hello", folder=project)
    user.ask("and again", "--continue", folder=project)
    assert model.requests[-1].text.count("SessionStart hook additional context") == 1


def test_a_secret_is_refused_with_a_reason_to_act_on(user: Claude, model: MockModel, project: Path) -> None:
    model.will(Call(f"{TOOL}remember", {"text": f"The deploy token is {token()}"}))
    user.ask("remember it", folder=project)
    (reason,) = model.requests[1].errors()
    assert "nothing" in reason
    assert "github" in reason.lower()
    assert "text" in reason
    assert_hidden(token()[:10], reason)


def test_a_refused_secret_is_nowhere_on_disk(user: Claude, model: MockModel, product: Path, project: Path) -> None:
    model.will(
        Call(f"{TOOL}remember", {"text": f"The deploy token is {token()}"}),
        Call(f"{TOOL}remember", {"text": "harmless", "title": token()}),
        Call(f"{TOOL}remember", {"text": "harmless", "data": {"deep": [token()]}}),
        Call(f"{TOOL}remember", NOTE),
    )
    user.ask("remember it", folder=project)
    assert [len(request.errors()) for request in model.requests] == [0, 1, 1, 1, 0]
    assert holding(NOTE["text"], user.memories)
    assert not holding(token(), user.memories, project, product)
    assert not holding(token()[8:28], user.memories, project, product)


def test_the_prompt_that_the_user_calls_brings_the_procedure(user: Claude, model: MockModel, project: Path) -> None:
    user.ask("/mcp__plugin_keepmum_memory__capture", folder=project)
    assert "remember" in model.requests[0].news


def test_the_skill_is_offered(user: Claude, model: MockModel, project: Path) -> None:
    user.ask("hello", folder=project)
    assert SKILLS["claude-code"] in model.requests[0].text
