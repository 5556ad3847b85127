"""The reminder in the real Claude Code: when it reaches the model, and when it does not."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from clients.claude import Claude
from clients.mock_model import Call, MockModel, Request, Say
from clients.samples import DUE, TURNS
from clients.turns import type_turns
from keepmum_hooks import places
from keepmum_hooks.capture_prompt import CAPTURE_PROMPT

pytestmark = pytest.mark.clients

EVERY_TURN = {"KEEPMUM_CAPTURE_EVERY": "1", "KEEPMUM_CAPTURE_UNATTENDED": "1"}


@pytest.fixture
def reminded(user: Claude) -> Claude:
    """A user who also gets reminders in non-interactive runs."""
    user.environ["KEEPMUM_CAPTURE_UNATTENDED"] = "1"
    return user


def reminders(model: MockModel) -> list[Request]:
    """The requests whose new messages contain the reminder."""
    return model.asked(CAPTURE_PROMPT)


def reminded_after(model: MockModel) -> list[int]:
    """The turns, by the number in the user's "turn N", that a reminder followed."""
    turns: list[int] = []
    turn = 0
    for request in model.requests:
        if request.news.rstrip().rpartition("turn ")[2].isdigit():
            turn = int(request.news.rstrip().rpartition("turn ")[2])
        if CAPTURE_PROMPT in request.news:
            turns.append(turn)
    return turns


def test_in_one_long_session_every_fifth_turn_reminds_once(reminded: Claude, model: MockModel, project: Path) -> None:
    with reminded.conversation(project) as session:
        for turn in range(1, 17):
            session.say(f"turn {turn}")
    assert reminded_after(model) == [5, 10, 15]


def test_over_continued_processes_every_fifth_turn_reminds_once(
    reminded: Claude, model: MockModel, project: Path
) -> None:
    for turn in TURNS:
        reminded.ask(f"turn {turn}", *(["--continue"] if turn > 1 else []), folder=project)
    assert reminded_after(model) == DUE


def test_in_a_terminal_every_fifth_turn_reminds_once(user: Claude, model: MockModel, project: Path) -> None:
    with user.terminal(project) as terminal:
        terminal.wait_until_ready()
        assert type_turns(terminal, model, user.memories) == DUE


def test_the_user_of_a_terminal_sees_one_line_and_no_fault(user: Claude, model: MockModel, project: Path) -> None:
    user.environ["KEEPMUM_CAPTURE_EVERY"] = "1"
    with user.terminal(project) as terminal:
        terminal.wait_until_ready()
        model.will(Say("first answer"), Say("second answer"))
        terminal.type("hello")
        terminal.wait_for("second answer")
        assert "Stop hook says" in terminal.text
        assert "problem" not in terminal.text


def test_a_run_without_a_person_keeps_its_answer(user: Claude, model: MockModel, project: Path) -> None:
    user.environ["KEEPMUM_CAPTURE_EVERY"] = "1"
    model.will(Say("the answer"))
    assert user.ask("question", folder=project) == "the answer"
    assert not reminders(model)


def test_a_run_without_a_person_is_counted(user: Claude, model: MockModel, project: Path) -> None:
    for turn in range(1, 5):
        user.ask(f"turn {turn}", *(["--continue"] if turn > 1 else []), folder=project)
    user.environ["KEEPMUM_CAPTURE_UNATTENDED"] = "1"
    user.ask("turn 5", "--continue", folder=project)
    assert reminded_after(model) == [5]


def test_the_reminder_leads_to_the_skill(reminded: Claude, model: MockModel, project: Path) -> None:
    reminded.environ["KEEPMUM_CAPTURE_EVERY"] = "1"
    model.whenever(CAPTURE_PROMPT, Call("Skill", {"skill": "keepmum:memory"}))
    reminded.ask("hello", folder=project)
    assert "Search first" in model.requests[-1].news


def test_what_the_reminder_leads_to_reminds_no_more(reminded: Claude, model: MockModel, project: Path) -> None:
    reminded.environ["KEEPMUM_CAPTURE_EVERY"] = "1"
    keep = {"text": "Deploys go through the blue pool first."}
    model.whenever(CAPTURE_PROMPT, Call("mcp__plugin_keepmum_memory__remember", keep))
    reminded.ask("hello", folder=project)
    assert len(reminders(model)) == 1


def agent(prompt: str) -> Call:
    return Call("Agent", {"description": "look", "prompt": prompt, "subagent_type": "general-purpose"})


def test_a_background_agents_stop_is_not_a_turn(reminded: Claude, model: MockModel, project: Path) -> None:
    told = threading.Event()  # within the turn, the agent's message would start no other
    model.whenever("turn 2", agent("look at the pool"))
    model.whenever("look at the pool", Say("it is blue"), after=told)
    with reminded.conversation(project) as session:
        session.say("turn 1")
        session.say("turn 2")
        told.set()
        session.result()  # of the turn that the agent's message started
        for turn in range(3, 7):
            session.say(f"turn {turn}")
    assert model.asked("task-notification")
    assert reminded_after(model) == [5]


def test_a_background_commands_stop_is_not_a_turn(reminded: Claude, model: MockModel, project: Path) -> None:
    ended = project / "ended"
    wait = f"until [ -e '{ended}' ]; do sleep 0.1; done"
    model.whenever("turn 2", Call("Bash", {"command": wait, "description": "wait", "run_in_background": True}))
    with reminded.conversation(project) as session:
        session.say("turn 1")
        session.say("turn 2")
        ended.touch()
        session.result()
        for turn in range(3, 7):
            session.say(f"turn {turn}")
    assert model.asked("task-notification")
    assert reminded_after(model) == [5]


def test_a_reminder_waits_for_an_agent_that_runs(reminded: Claude, model: MockModel, project: Path) -> None:
    found = threading.Event()
    model.whenever("turn 4", agent("look at the pool"))
    model.whenever("look at the pool", Say("it is blue"), after=found)
    with reminded.conversation(project) as session:
        for turn in range(1, 6):
            session.say(f"turn {turn}")
        assert not reminders(model)
        found.set()
        session.result()
        session.say("turn 6")
    (request,) = reminders(model)
    assert "it is blue" in request.text


def switch_off(user: Claude, project: Path, place: str) -> None:
    if place == "environment":
        user.environ["KEEPMUM_ENABLED"] = "0"
    elif place == "project":
        (project / ".keepmum.toml").write_text("enabled = false\n", encoding="utf-8")
    else:
        (user.memories / "config.toml").write_text("enabled = false\n", encoding="utf-8")


@pytest.mark.parametrize("place", ["environment", "project", "user"])
def test_off_is_off(user: Claude, model: MockModel, project: Path, place: str) -> None:
    model.will(Call("mcp__plugin_keepmum_memory__remember", {"text": "The pool is blue.", "kind": "decision"}))
    user.ask("remember it", folder=project)
    switch_off(user, project, place)
    user.environ.update(EVERY_TURN)
    seen = len(model.requests)
    before = sorted(user.memories.glob("state/sessions/*"))
    user.ask("hello", folder=project)
    (request,) = model.requests[seen:]
    assert "pool is blue" not in request.text
    assert not [name for name in request.tools if "keepmum_memory" in name]
    assert sorted(user.memories.glob("state/sessions/*")) == before


def test_a_session_is_switched_off_alone(user: Claude, model: MockModel, project: Path) -> None:
    user.environ.update(EVERY_TURN)
    answer = json.loads(user.ask("one", "--output-format", "json", folder=project))
    marker = Path(places.off_marker(str(user.memories), answer["session_id"]))
    marker.touch()
    user.ask("two", "--continue", folder=project)
    assert len(reminders(model)) == 1
    user.ask("another session", folder=project)
    assert len(reminders(model)) == 2


def test_the_plugins_own_setting_sets_the_interval(
    newcomer: Claude, model: MockModel, product: Path, project: Path
) -> None:
    newcomer.run("plugin", "marketplace", "add", str(product), folder=project)
    newcomer.run("plugin", "install", "keepmum@keepmum", "--config", "capture_every=2", folder=project)
    newcomer.environ["KEEPMUM_CAPTURE_UNATTENDED"] = "1"
    with newcomer.conversation(project) as session:
        for turn in range(1, 5):
            session.say(f"turn {turn}")
    assert reminded_after(model) == [2, 4]
