"""Points in time are parsed, or refused with the field's name."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepmum.core.errors import InvalidInput
from keepmum.core.when import parse_when

# The first call may take longer than the default deadline on a shared machine.
unhurried = settings(deadline=None)
NOW = int(datetime(2026, 11, 21, 12, 30, tzinfo=UTC).timestamp() * 1000)
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


@pytest.mark.parametrize(
    ("text", "ago"), [("30m", 30 * MINUTE), ("12h", 12 * HOUR), ("7d", 7 * DAY), ("2w", 14 * DAY), (" 2 W ", 14 * DAY)]
)
def test_an_age_counts_back_from_now(text: str, ago: int) -> None:
    assert parse_when("since", text, NOW) == NOW - ago


def test_days_begin_at_local_midnight() -> None:
    midnight = datetime.fromtimestamp(NOW / 1000).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    assert parse_when("since", "today", NOW) == midnight.timestamp() * 1000
    assert parse_when("since", "Yesterday", NOW) == midnight.timestamp() * 1000 - DAY


def test_a_date_is_its_local_midnight() -> None:
    assert parse_when("since", "2026-01-31", NOW) == datetime(2026, 1, 31).astimezone().timestamp() * 1000


@pytest.mark.parametrize("text", ["2026-01-31T10:00:00Z", "2026-01-31T11:00:00+01:00", "2026-01-31 10:00:00+00:00"])
def test_a_time_keeps_its_zone(text: str) -> None:
    assert parse_when("since", text, NOW) == datetime(2026, 1, 31, 10, tzinfo=UTC).timestamp() * 1000


@pytest.mark.parametrize("text", ["", "soon", "7", "7y", "-7d", "2026-13-01", "0001-01-01", "1" * 40 + "d"])
def test_other_texts_are_refused_with_examples(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^older_than: is not a time; write 12h, 7d, 2w, today, yesterday or 2026"):
        parse_when("older_than", text, NOW)


@unhurried
@given(st.text())
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        field = "since" if isinstance(parse_when("since", text, NOW), int) else ""
    except InvalidInput as refusal:
        field = refusal.field
    assert field == "since"


@unhurried
@given(st.integers(0, 4_102_444_800).map(lambda seconds: datetime.fromtimestamp(seconds, UTC)))
def test_an_iso_time_is_read_back(moment: datetime) -> None:
    assert parse_when("since", moment.isoformat(), NOW) == int(moment.timestamp() * 1000)
