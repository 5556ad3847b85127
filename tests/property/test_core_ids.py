"""An id is the same in both spellings, and sorts by time in both."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepmum.core import ids

# The first call may take longer than the default deadline on a shared machine.
unhurried = settings(deadline=None)
milliseconds = st.integers(0, 2**48 - 2)


@unhurried
@given(milliseconds)
def test_an_id_is_a_uuid_of_version_seven_with_its_time(now: int) -> None:
    parsed = uuid.UUID(ids.to_uuid(ids.new_id(now)))
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert parsed.int >> 80 == now


@unhurried
@given(milliseconds, milliseconds)
def test_ids_sort_by_time(one: int, other: int) -> None:
    first, second = ids.new_id(min(one, other)), ids.new_id(max(one, other) + (one == other))
    assert first < second
    assert ids.to_uuid(first) < ids.to_uuid(second)


@unhurried
@given(milliseconds)
def test_every_spelling_is_the_same_id(now: int) -> None:
    memory = ids.new_id(now)
    digits = memory.removeprefix(ids.PREFIX)
    spelled = ids.to_uuid(memory)
    for text in (memory, digits, digits.upper(), spelled, spelled.upper(), spelled.replace("-", ""), f" {memory} "):
        assert ids.id_range(text) == (memory, memory)


@unhurried
@given(st.integers(0, 2**128 - 1))
def test_a_uuid_is_converted_and_back(number: int) -> None:
    text = str(uuid.UUID(int=number))
    assert ids.to_uuid(ids.from_uuid(text)) == text


@unhurried
@given(milliseconds, st.integers(1, 26))
def test_a_prefix_is_the_range_of_its_ids(now: int, length: int) -> None:
    memory = ids.new_id(now)
    digits = memory.removeprefix(ids.PREFIX)[:length]
    bounds = ids.id_range(digits)
    assert bounds is not None
    first, last = bounds
    assert first <= memory <= last
    assert first.removeprefix(ids.PREFIX).startswith(digits)
    assert last.removeprefix(ids.PREFIX).startswith(digits)


@unhurried
@given(st.text())
def test_any_text_is_a_range_or_none(text: str) -> None:
    bounds = ids.id_range(text)
    assert bounds is None or bounds[0] <= bounds[1]


@unhurried
@given(st.text("0123456789abcdefghjkmnpqrstvwxyz", min_size=26, max_size=26))
def test_an_id_of_more_than_128_bits_is_invalid(digits: str) -> None:
    assert (ids.id_range(digits) is None) == (digits[0] > "7")


@pytest.mark.parametrize("text", ["", "mem_", "mem_0", "not an id"])
def test_an_incomplete_id_has_no_uuid(text: str) -> None:
    with pytest.raises(ValueError, match="not a whole memory id"):
        ids.to_uuid(text)


def test_ids_of_one_millisecond_differ() -> None:
    assert len({ids.new_id(1) for _ in range(1000)}) == 1000
