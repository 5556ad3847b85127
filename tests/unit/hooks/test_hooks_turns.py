"""Counting turns: whether the last record of a log gets the capture prompt."""

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


def prompted(*records: bytes, every: int = EVERY) -> list[int]:
    """The numbers, from 1, of the records that get the prompt when each Stop sees those before it."""
    return [n for n in range(1, len(records) + 1) if turns.replay(b"".join(records[:n]), every)[0]]


def plain_turns(count: int) -> list[bytes]:
    return [stop(f"p{n}") for n in range(1, count + 1)]


def test_every_fifth_turn_gets_the_prompt() -> None:
    assert prompted(*plain_turns(16)) == [5, 10, 15]


def test_the_interval_is_a_parameter() -> None:
    assert prompted(*plain_turns(6), every=2) == [2, 4, 6]


def test_with_an_interval_of_one_each_turn_gets_the_prompt() -> None:
    assert prompted(*plain_turns(3), every=1) == [1, 2, 3]


def test_a_stop_reported_twice_counts_once() -> None:
    assert prompted(*(record for record in plain_turns(5) for _ in range(2))) == [9]


def test_a_stop_reported_again_later_counts_once() -> None:
    assert prompted(*plain_turns(4), stop("p1"), stop("p5")) == [6]


def test_without_prompt_ids_each_stop_is_a_turn() -> None:
    assert prompted(*(stop() for _ in range(10))) == [5, 10]


def test_a_finished_tasks_message_does_not_count() -> None:
    assert prompted(*plain_turns(3), stop("p4", ("a",)), stop("note"), stop("p5")) == [6]


def test_each_of_several_tasks_has_one_message() -> None:
    assert prompted(
        *plain_turns(2), stop("p3", ("a", "b")), stop("n1", ("b",)), stop("n2"), stop("p4"), stop("p5")
    ) == [7]


def test_a_finished_shells_message_does_not_count() -> None:
    assert prompted(*plain_turns(3), stop("p4", (), ("sh",)), stop("note"), stop("p5")) == [6]


def test_a_turn_during_a_running_task_counts() -> None:
    assert prompted(stop("p1", (), ("sh",)), *(stop(f"p{n}", (), ("sh",)) for n in range(2, 6))) == [5]


def test_the_prompt_is_deferred_while_a_subagent_runs() -> None:
    assert prompted(*plain_turns(4), stop("p5", ("a",)), stop("p6", ("a",)), stop("note")) == [7]


def test_the_prompt_is_not_deferred_while_a_shell_runs() -> None:
    assert prompted(*plain_turns(4), stop("p5", (), ("sh",))) == [5]


def test_two_deferred_prompts_become_one() -> None:
    assert prompted(*plain_turns(4), *(stop(f"p{n}", ("a",)) for n in range(5, 11)), stop("note"), stop("p11")) == [11]


def test_a_deferred_prompt_does_not_move_the_next_one() -> None:
    records = [*plain_turns(4), stop("p5", ("a",)), stop("note"), *(stop(f"p{n}") for n in range(6, 11))]
    assert prompted(*records) == [6, 11]


def test_a_silent_turn_counts_and_gets_no_prompt() -> None:
    assert prompted(*(stop(f"p{n}", silent=True) for n in range(1, 10)), stop("p10")) == [10]


def test_a_prompt_due_in_a_silent_turn_is_not_given_later() -> None:
    assert prompted(*plain_turns(4), stop("p5", silent=True), stop("p6")) == []


@pytest.mark.parametrize(
    "noise",
    [
        pytest.param(b"\nT p", id="a truncated record"),
        pytest.param(b"\nT p5 +a", id="a record truncated after a task"),
        pytest.param(b"\n", id="an empty line"),
        pytest.param(b"\n\x00\xff\xfe", id="bytes"),
        pytest.param(b"\nX p9 .", id="a record of a later version"),
    ],
)
def test_a_line_that_cannot_be_parsed_is_skipped(noise: bytes) -> None:
    assert prompted(*plain_turns(4), noise + stop("p5")) == [5]


def test_a_prompt_id_with_line_breaks_stays_on_one_line() -> None:
    record = stop("a b\nT c .")
    assert record.count(b"\n") == 1
    assert len(record.split(b" ")) == 3


def test_a_prompt_with_the_id_of_the_unknown_one_is_a_prompt() -> None:
    assert prompted(*(stop("?") for _ in range(6))) == []


def test_a_record_is_short_with_any_number_of_tasks() -> None:
    many = tuple(f"task-{n:04}-{'x' * 30}" for n in range(1000))
    assert len(stop("p", many, many)) < 8192


# -- checkpoints -----------------------------------------------------------------------------------------------------


def logged(count: int, every: int = EVERY) -> bytes:
    """A log of `count` turns, with the checkpoints that its readers append."""
    log = b""
    for record in plain_turns(count):
        log += record
        log += turns.replay(log, every)[1]
    return log


def test_a_long_log_gets_a_checkpoint_every_16_records() -> None:
    lines = logged(60).split(b"\n")
    assert [n for n, line in enumerate(lines) if line.startswith(b"C ")] == [17, 34, 51]


def test_a_checkpoint_contains_the_state_of_the_count() -> None:
    before = b"".join(plain_turns(64))
    assert turns.replay(before, EVERY)[1] == b"\nC %d 5 64 0 ." % len(before)


def test_records_before_a_checkpoint_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    log = logged(640)
    fields = turns._fields
    read: list[bytes] = []

    def recorded(line: bytes) -> list[bytes]:
        read.append(line)
        return fields(line)

    monkeypatch.setattr(turns, "_fields", recorded)
    turns.replay(log + stop("p641"), EVERY)
    assert len(read) < 10


def test_a_prompt_from_before_a_checkpoint_still_counts_once() -> None:
    log = logged(64)
    assert not turns.replay(log + stop("p3"), every=5)[0]
    assert turns.replay(log + stop("p3") + stop("p65"), every=5)[0]


def test_a_prompt_whose_id_is_part_of_an_older_one_counts() -> None:
    log = logged(64)
    assert turns.replay(log + stop("p"), every=5)[0]


def test_a_task_with_the_id_of_the_prompt_is_not_a_prompt() -> None:
    log = b"".join([*plain_turns(63), stop("p64", (), ("x",))])
    log += turns.replay(log, 5)[1] + stop("~x", (), ("x",))
    assert turns.replay(log, every=5)[0]


def test_a_checkpoint_keeps_running_tasks() -> None:
    log = b"".join([*plain_turns(63), stop("p64", ("a",))])
    log += turns.replay(log, 5)[1]
    assert b"\nC " in log
    assert not turns.replay(log + stop("note"), every=5)[0]
    assert turns.replay(log + stop("note") + stop("p65"), every=5)[0]


def test_a_checkpoint_keeps_a_deferred_prompt() -> None:
    log = b"".join([*plain_turns(64), stop("p65", ("a",))])
    log += turns.replay(log, 5)[1]
    assert turns.replay(log + stop("note"), every=5)[0]


def test_a_checkpoint_for_another_interval_is_ignored() -> None:
    assert turns.replay(logged(65) + stop("p66"), every=3)[0]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"\nC 999999 5 4 0 .", id="of a longer log that was replaced"),
        pytest.param(b"\nC 10 5 4 0 .", id="that ends within a record"),
        pytest.param(b"\nC 0 5 4 0 .", id="of nothing"),
        pytest.param(b"\nC 7 5 4", id="truncated"),
        pytest.param(b"\nC 7 5 x 0 .", id="with a word for a number"),
        pytest.param(b"\nC -7 5 4 0 .", id="with a negative number"),
        pytest.param(b"\nC .", id="without numbers"),
        pytest.param(b"\nC " + b"9" * 5000 + b" 5 4 0 .", id="with thousands of digits"),
    ],
)
def test_an_impossible_checkpoint_is_ignored(line: bytes) -> None:
    log = b"".join(plain_turns(3)) + line
    assert [turns.replay(log + b"".join(plain_turns(5)[3:n]), EVERY)[0] for n in (4, 5)] == [False, True]
