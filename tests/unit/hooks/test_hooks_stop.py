"""Stop: which turns get the capture prompt, which are only counted, and which are neither."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from keepmum_hooks import places
from keepmum_hooks.capture_prompt import SKILLS, capture_prompt
from keepmum_hooks.clients import CLIENTS
from keepmum_hooks.event import STOP, Event
from keepmum_hooks.stop import stop
from keepmum_hooks.switches import Switches
from keepmum_hooks.tool_names import TOOL_NAMES

SESSION = "s"


def settings(*, capture: bool = True, every: int = 1, unattended: bool = False) -> Switches:
    return Switches(enabled=True, capture=capture, every=every, unattended=unattended, briefing=True)


def turn_end(prompt: str = "p", *, attended: bool = True, ends_turn: bool = True) -> Event:
    return Event(kind=STOP, session=SESSION, cwd="", prompt=prompt, attended=attended, ends_turn=ends_turn)


def is_counted(home: Path) -> bool:
    return Path(places.turns_file(str(home), SESSION)).exists()


def test_a_due_turn_gets_the_prompt(tmp_path: Path) -> None:
    assert stop(turn_end(), settings(), str(tmp_path), "gemini-cli") == capture_prompt("gemini-cli")


def test_a_turn_that_is_not_due_gets_none(tmp_path: Path) -> None:
    assert stop(turn_end(), settings(every=2), str(tmp_path), "gemini-cli") is None


def test_a_turn_is_counted_on_disk(tmp_path: Path) -> None:
    stop(turn_end("one"), settings(every=2), str(tmp_path), "gemini-cli")
    assert stop(turn_end("two"), settings(every=2), str(tmp_path), "gemini-cli") == capture_prompt("gemini-cli")


def test_sessions_are_counted_separately(tmp_path: Path) -> None:
    stop(turn_end("one"), settings(every=2), str(tmp_path), "gemini-cli")
    other = Event(kind=STOP, session="another", cwd="", prompt="two")
    assert stop(other, settings(every=2), str(tmp_path), "gemini-cli") is None


def test_a_continuation_is_not_counted(tmp_path: Path) -> None:
    assert stop(turn_end(ends_turn=False), settings(), str(tmp_path), "gemini-cli") is None
    assert not is_counted(tmp_path)


def test_with_capture_off_nothing_is_counted(tmp_path: Path) -> None:
    assert stop(turn_end(), settings(capture=False), str(tmp_path), "gemini-cli") is None
    assert not is_counted(tmp_path)


def test_an_unattended_run_is_counted_without_a_prompt(tmp_path: Path) -> None:
    assert stop(turn_end(attended=False), settings(), str(tmp_path), "gemini-cli") is None
    assert is_counted(tmp_path)


def test_an_unattended_run_gets_the_prompt_when_the_setting_says_so(tmp_path: Path) -> None:
    assert stop(turn_end(attended=False), settings(unattended=True), str(tmp_path), "gemini-cli") == capture_prompt(
        "gemini-cli"
    )


def test_a_turn_that_cannot_be_recorded_raises(tmp_path: Path) -> None:
    Path(places.turns_file(str(tmp_path), SESSION)).mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        stop(turn_end(), settings(), str(tmp_path), "gemini-cli")


@pytest.mark.parametrize("dialect", ["", *TOOL_NAMES])
@pytest.mark.parametrize("client", CLIENTS)
def test_the_capture_prompt_is_one_short_line_that_names_the_skill_as_the_client_lists_it(
    client: str, dialect: str
) -> None:
    prompt = capture_prompt(client, dialect)
    assert ("keepmum:memory" in prompt) == (client in {"claude-code", "codex"})
    assert "use its memory skill" in prompt
    assert "\n" not in prompt
    assert len(prompt) < 250
    assert set(re.findall(r"`(\w+)`", prompt)) <= set(TOOL_NAMES[dialect or "keepmum"].values())


def test_every_client_has_a_name_for_the_skill() -> None:
    assert set(SKILLS) == set(CLIENTS)


def test_the_default_dialect_needs_no_tool_names_except_where_tools_are_searched_for() -> None:
    assert [client for client in CLIENTS if "`recall`" in capture_prompt(client)] == ["codex"]
    assert all("`store_memory`" in capture_prompt(client, "shared") for client in CLIENTS)
