"""Counting: what a log of Stops says about its last one."""

from __future__ import annotations

import pytest

from keepmum_hooks import turns
from keepmum_hooks.event import STOP, Event

EVERY = 5


def stop(
    prompt: str = "",
    reporting: tuple[str, ...] = (),
    lasting: tuple[str, ...] = (),
    *,
    silent: bool = False,
) -> bytes:
    event = Event(kind=STOP, session="s", cwd="", prompt=prompt, reporting=reporting, lasting=lasting)
    return turns.record(event, silent=silent)


def reminders(*records: bytes, every: int = EVERY) -> list[int]:
    """Which of the records carry a reminder, counted from 1, when each Stop sees those before it."""
    return [n for n in range(1, len(records) + 1) if turns.is_due(b"".join(records[:n]), every)]


def turns_of(count: int) -> list[bytes]:
    return [stop(f"p{n}") for n in range(1, count + 1)]


def test_every_fifth_turn_reminds() -> None:
    assert reminders(*turns_of(16)) == [5, 10, 15]


def test_the_interval_is_the_users() -> None:
    assert reminders(*turns_of(6), every=2) == [2, 4, 6]


def test_an_interval_of_one_reminds_each_turn() -> None:
    assert reminders(*turns_of(3), every=1) == [1, 2, 3]


def test_a_stop_that_is_told_twice_counts_once() -> None:
    assert reminders(*(record for record in turns_of(5) for _ in range(2))) == [9]


def test_a_late_repetition_counts_once() -> None:
    assert reminders(*turns_of(4), stop("p1"), stop("p5")) == [6]


def test_without_prompt_ids_each_stop_is_a_turn() -> None:
    assert reminders(*(stop() for _ in range(10))) == [5, 10]


def test_a_finished_tasks_message_is_no_turn() -> None:
    assert reminders(*turns_of(3), stop("p4", ("a",)), stop("note"), stop("p5")) == [6]


def test_each_of_several_tasks_has_its_message() -> None:
    assert reminders(*turns_of(2), stop("p3", ("a", "b")), stop("n1", ("b",)), stop("n2"), stop("p4"), stop("p5")) == [
        7
    ]


def test_a_finished_shells_message_is_no_turn() -> None:
    assert reminders(*turns_of(3), stop("p4", (), ("sh",)), stop("note"), stop("p5")) == [6]


def test_a_turn_beside_a_running_task_counts() -> None:
    assert reminders(stop("p1", (), ("sh",)), *(stop(f"p{n}", (), ("sh",)) for n in range(2, 6))) == [5]


def test_a_reminder_waits_for_tasks_that_report_back() -> None:
    assert reminders(*turns_of(4), stop("p5", ("a",)), stop("p6", ("a",)), stop("note")) == [7]


def test_a_reminder_does_not_wait_for_tasks_that_may_never_end() -> None:
    assert reminders(*turns_of(4), stop("p5", (), ("sh",))) == [5]


def test_two_reminders_that_waited_are_given_as_one() -> None:
    assert reminders(*turns_of(4), *(stop(f"p{n}", ("a",)) for n in range(5, 11)), stop("note"), stop("p11")) == [11]


def test_after_a_wait_the_next_reminder_keeps_its_turn() -> None:
    records = [*turns_of(4), stop("p5", ("a",)), stop("note"), *(stop(f"p{n}") for n in range(6, 11))]
    assert reminders(*records) == [6, 11]


def test_a_silent_run_counts_and_does_not_remind() -> None:
    assert reminders(*(stop(f"p{n}", silent=True) for n in range(1, 10)), stop("p10")) == [10]


def test_what_was_due_in_a_silent_run_is_not_made_up_for() -> None:
    assert reminders(*turns_of(4), stop("p5", silent=True), stop("p6")) == []


@pytest.mark.parametrize(
    "noise",
    [
        pytest.param(b"\nT p", id="a record that was cut short"),
        pytest.param(b"\nT p5 +a", id="one cut short behind a task"),
        pytest.param(b"\n", id="an empty line"),
        pytest.param(b"\n\x00\xff\xfe", id="bytes"),
        pytest.param(b"\nX p9 .", id="a record of a later version"),
    ],
)
def test_what_cannot_be_read_is_skipped(noise: bytes) -> None:
    assert reminders(*turns_of(4), noise + stop("p5")) == [5]


def test_an_odd_prompt_id_stays_on_its_line() -> None:
    record = stop("a b\nT c .")
    assert record.count(b"\n") == 1
    assert len(record.split(b" ")) == 3


def test_a_prompt_named_like_the_unknown_one_is_a_prompt() -> None:
    assert reminders(*(stop("?") for _ in range(6))) == []


def test_a_record_fits_a_page_however_many_tasks_run() -> None:
    many = tuple(f"task-{n:04}-{'x' * 30}" for n in range(1000))
    assert len(stop("p", many, many)) < 8192
