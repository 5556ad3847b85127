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
    return [n for n in range(1, len(records) + 1) if turns.replay(b"".join(records[:n]), every)[0]]


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


# -- checkpoints -----------------------------------------------------------------------------------------------------


def logged(count: int, every: int = EVERY) -> bytes:
    """The log of so many turns, with the checkpoints that its readers add."""
    log = b""
    for record in turns_of(count):
        log += record
        log += turns.replay(log, every)[1]
    return log


def test_a_long_log_gets_a_checkpoint_every_16_records() -> None:
    lines = logged(60).split(b"\n")
    assert [n for n, line in enumerate(lines) if line.startswith(b"C ")] == [17, 34, 51]


def test_a_checkpoint_says_where_the_counting_stood() -> None:
    before = b"".join(turns_of(64))
    assert turns.replay(before, EVERY)[1] == b"\nC %d 5 64 0 ." % len(before)


def test_what_lies_before_a_checkpoint_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    log = logged(640)
    fields = turns._fields
    read: list[bytes] = []

    def watched(line: bytes) -> list[bytes]:
        read.append(line)
        return fields(line)

    monkeypatch.setattr(turns, "_fields", watched)
    turns.replay(log + stop("p641"), EVERY)
    assert len(read) < 10


def test_a_prompt_from_before_a_checkpoint_still_counts_once() -> None:
    log = logged(64)
    assert not turns.replay(log + stop("p3"), every=5)[0]
    assert turns.replay(log + stop("p3") + stop("p65"), every=5)[0]


def test_a_prompt_that_is_part_of_an_older_ones_name_is_another() -> None:
    log = logged(64)
    assert turns.replay(log + stop("p"), every=5)[0]


def test_a_task_named_like_the_prompt_is_no_prompt() -> None:
    log = b"".join([*turns_of(63), stop("p64", (), ("x",))])
    log += turns.replay(log, 5)[1] + stop("~x", (), ("x",))
    assert turns.replay(log, every=5)[0]


def test_running_tasks_outlive_a_checkpoint() -> None:
    log = b"".join([*turns_of(63), stop("p64", ("a",))])
    log += turns.replay(log, 5)[1]
    assert b"\nC " in log
    assert not turns.replay(log + stop("note"), every=5)[0]
    assert turns.replay(log + stop("note") + stop("p65"), every=5)[0]


def test_a_reminder_that_waits_outlives_a_checkpoint() -> None:
    log = b"".join([*turns_of(64), stop("p65", ("a",))])
    log += turns.replay(log, 5)[1]
    assert turns.replay(log + stop("note"), every=5)[0]


def test_a_checkpoint_for_another_interval_is_passed_over() -> None:
    assert turns.replay(logged(65) + stop("p66"), every=3)[0]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"\nC 999999 5 4 0 .", id="of a longer log, now begun anew"),
        pytest.param(b"\nC 10 5 4 0 .", id="that ends within a record"),
        pytest.param(b"\nC 0 5 4 0 .", id="of nothing"),
        pytest.param(b"\nC 7 5 4", id="cut short"),
        pytest.param(b"\nC 7 5 x 0 .", id="with a word for a number"),
        pytest.param(b"\nC -7 5 4 0 .", id="with a negative number"),
        pytest.param(b"\nC .", id="without numbers"),
        pytest.param(b"\nC " + b"9" * 5000 + b" 5 4 0 .", id="with thousands of digits"),
    ],
)
def test_a_checkpoint_that_cannot_be_true_is_passed_over(line: bytes) -> None:
    log = b"".join(turns_of(3)) + line
    assert [turns.replay(log + b"".join(turns_of(5)[3:n]), EVERY)[0] for n in (4, 5)] == [False, True]
