"""Parses points in time as people and agents write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from keepmum.core.errors import InvalidInput

__all__ = ["parse_when"]

_AGO = re.compile(r"(\d{1,5})\s*([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_when(name: str, text: str, now_ms: int) -> int:
    """Milliseconds since 1970 for a point in time.

    `30m`, `12h`, `7d` and `2w` mean "ago"; `today` and `yesterday` start at local midnight; otherwise an ISO 8601 date
    or time.

    Raises: InvalidInput for the field `name`, with examples.
    """
    word = text.strip().lower()
    now = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone()
    try:
        if ago := _AGO.fullmatch(word):
            moment = now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        elif word in {"today", "yesterday"}:
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
            moment = midnight - timedelta(days=word == "yesterday")
        else:
            moment = datetime.fromisoformat(text.strip())
            moment = moment if moment.tzinfo else moment.astimezone()
        return int(moment.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(name, "is not a time; write 12h, 7d, 2w, today, yesterday or 2026-01-31") from None
