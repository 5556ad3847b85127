"""Stop: who is reminded, who is only counted, and who is neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepmum_hooks import places
from keepmum_hooks.event import STOP, Event
from keepmum_hooks.prompt import CAPTURE
from keepmum_hooks.stop import stop
from keepmum_hooks.switches import Switches

SESSION = "s"


def switched(*, capture: bool = True, every: int = 1, unattended: bool = False) -> Switches:
    return Switches(enabled=True, capture=capture, every=every, unattended=unattended, briefing=True)


def ended(prompt: str = "p", *, attended: bool = True, ends_turn: bool = True) -> Event:
    return Event(kind=STOP, session=SESSION, cwd="", prompt=prompt, attended=attended, ends_turn=ends_turn)


def is_counted(home: Path) -> bool:
    return Path(places.turns_file(str(home), SESSION)).exists()


def test_a_due_turn_reminds(tmp_path: Path) -> None:
    assert stop(ended(), switched(), str(tmp_path)) == CAPTURE


def test_a_turn_that_is_not_due_is_silent(tmp_path: Path) -> None:
    assert stop(ended(), switched(every=2), str(tmp_path)) is None


def test_a_turn_is_counted_on_disk(tmp_path: Path) -> None:
    stop(ended("one"), switched(every=2), str(tmp_path))
    assert stop(ended("two"), switched(every=2), str(tmp_path)) == CAPTURE


def test_sessions_are_counted_apart(tmp_path: Path) -> None:
    stop(ended("one"), switched(every=2), str(tmp_path))
    other = Event(kind=STOP, session="another", cwd="", prompt="two")
    assert stop(other, switched(every=2), str(tmp_path)) is None


def test_a_continuation_is_neither_counted_nor_reminded(tmp_path: Path) -> None:
    assert stop(ended(ends_turn=False), switched(), str(tmp_path)) is None
    assert not is_counted(tmp_path)


def test_with_capture_off_nothing_is_counted(tmp_path: Path) -> None:
    assert stop(ended(), switched(capture=False), str(tmp_path)) is None
    assert not is_counted(tmp_path)


def test_an_unattended_run_is_counted_and_not_reminded(tmp_path: Path) -> None:
    assert stop(ended(attended=False), switched(), str(tmp_path)) is None
    assert is_counted(tmp_path)


def test_an_unattended_run_is_reminded_where_the_user_asks_for_it(tmp_path: Path) -> None:
    assert stop(ended(attended=False), switched(unattended=True), str(tmp_path)) == CAPTURE


def test_who_cannot_be_counted_is_not_reminded(tmp_path: Path) -> None:
    Path(places.turns_file(str(tmp_path), SESSION)).mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        stop(ended(), switched(), str(tmp_path))


def test_the_reminder_is_one_short_line_that_names_the_skill() -> None:
    # Clients that know plugins list the skill as keepmum:memory, the others as memory.
    assert "memory skill (keepmum:memory)" in CAPTURE
    assert "\n" not in CAPTURE
    assert len(CAPTURE) < 200
