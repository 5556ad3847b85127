"""Stop: which turns get the capture prompt, which are only counted, and which are neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepmum_hooks import places
from keepmum_hooks.capture_prompt import CAPTURE_PROMPT
from keepmum_hooks.event import STOP, Event
from keepmum_hooks.stop import stop
from keepmum_hooks.switches import Switches

SESSION = "s"


def settings(*, capture: bool = True, every: int = 1, unattended: bool = False) -> Switches:
    return Switches(enabled=True, capture=capture, every=every, unattended=unattended, briefing=True)


def turn_end(prompt: str = "p", *, attended: bool = True, ends_turn: bool = True) -> Event:
    return Event(kind=STOP, session=SESSION, cwd="", prompt=prompt, attended=attended, ends_turn=ends_turn)


def is_counted(home: Path) -> bool:
    return Path(places.turns_file(str(home), SESSION)).exists()


def test_a_due_turn_gets_the_prompt(tmp_path: Path) -> None:
    assert stop(turn_end(), settings(), str(tmp_path)) == CAPTURE_PROMPT


def test_a_turn_that_is_not_due_gets_none(tmp_path: Path) -> None:
    assert stop(turn_end(), settings(every=2), str(tmp_path)) is None


def test_a_turn_is_counted_on_disk(tmp_path: Path) -> None:
    stop(turn_end("one"), settings(every=2), str(tmp_path))
    assert stop(turn_end("two"), settings(every=2), str(tmp_path)) == CAPTURE_PROMPT


def test_sessions_are_counted_separately(tmp_path: Path) -> None:
    stop(turn_end("one"), settings(every=2), str(tmp_path))
    other = Event(kind=STOP, session="another", cwd="", prompt="two")
    assert stop(other, settings(every=2), str(tmp_path)) is None


def test_a_continuation_is_not_counted(tmp_path: Path) -> None:
    assert stop(turn_end(ends_turn=False), settings(), str(tmp_path)) is None
    assert not is_counted(tmp_path)


def test_with_capture_off_nothing_is_counted(tmp_path: Path) -> None:
    assert stop(turn_end(), settings(capture=False), str(tmp_path)) is None
    assert not is_counted(tmp_path)


def test_an_unattended_run_is_counted_without_a_prompt(tmp_path: Path) -> None:
    assert stop(turn_end(attended=False), settings(), str(tmp_path)) is None
    assert is_counted(tmp_path)


def test_an_unattended_run_gets_the_prompt_when_the_setting_says_so(tmp_path: Path) -> None:
    assert stop(turn_end(attended=False), settings(unattended=True), str(tmp_path)) == CAPTURE_PROMPT


def test_a_turn_that_cannot_be_recorded_raises(tmp_path: Path) -> None:
    Path(places.turns_file(str(tmp_path), SESSION)).mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        stop(turn_end(), settings(), str(tmp_path))


def test_the_capture_prompt_is_one_short_line_that_names_the_skill() -> None:
    # Clients that know plugins list the skill as keepmum:memory, the others as memory.
    assert "memory skill (keepmum:memory)" in CAPTURE_PROMPT
    assert "\n" not in CAPTURE_PROMPT
    assert len(CAPTURE_PROMPT) < 200
