"""A server's answer as values: strict JSON of bounded depth, and fields that have their types."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

from keepmum.core.errors import StoreError

__all__ = ["Fields", "parse", "records"]

_MAX_DEPTH = 64


def parse(raw: bytes, origin: str) -> Any:
    """The JSON value in `raw`; nothing at all is an empty object.

    Raises: StoreError when it is not JSON in UTF-8, holds NaN or an infinity, or is nested too deep.
    """
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise StoreError(f"{origin} answered in another encoding than UTF-8; is it a memory server?") from None
    except (ValueError, RecursionError):
        raise StoreError(f"{origin} did not answer in JSON; is it a memory server?") from None
    if _is_deeper(value, _MAX_DEPTH):
        raise StoreError(f"{origin} answered with more than {_MAX_DEPTH} levels, which no answer has")
    return value


def records(answer: Any, origin: str) -> list[Fields]:
    """The objects under `data` of an answer that lists, each with an id of its own.

    Raises: StoreError when it holds no such list.
    """
    data = answer.get("data") if isinstance(answer, Mapping) else None
    if not isinstance(data, list):
        raise StoreError(f"{origin} answered without the list `data`; is it a memory server?")
    found: dict[str, Fields] = {}
    for number, item in enumerate(data):
        fields = Fields(item, f"data[{number}]", origin)
        found.setdefault(fields.text("id"), fields)  # an id that comes twice counts once
    return list(found.values())


class Fields:
    """One object of an answer, read field by field."""

    def __init__(self, value: Any, place: str, origin: str) -> None:
        self._place = place
        self._origin = origin
        if not isinstance(value, Mapping):
            self._refuse("is no object")
        self._value: Mapping[str, Any] = value

    def text(self, name: str) -> str:
        """A text that must be there."""
        value = self._value.get(name)
        if not isinstance(value, str):
            self._refuse(f"has no text `{name}`")
        return _whole(value)

    def text_or(self, name: str, default: str) -> str:
        """A text that may be missing."""
        value = self._value.get(name)
        return _whole(value) if isinstance(value, str) else default

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; anything else in it is left out."""
        value = self._value.get(name)
        items = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
        return tuple(_whole(item) for item in items if isinstance(item, str))

    def number(self, name: str) -> float:
        """A number, 0 when it is missing."""
        value = self._value.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float, type(None))):
            self._refuse(f"has no number `{name}`")
        return 0.0 if value is None or abs(value) > 1e300 else float(value)  # an integer may be too large for a float

    def count(self, name: str) -> int:
        """A number of things, 0 when it is missing or below that."""
        return max(0, min(int(self.number(name)), 1_000_000_000))

    def time(self, *names: str) -> int | None:
        """The first of these fields that is a point in time, in milliseconds since 1970."""
        for name in names:
            value = self._value.get(name)
            if isinstance(value, str):
                try:
                    moment = datetime.fromisoformat(value)
                    stamp = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
                except (ValueError, OverflowError, OSError):
                    continue
                return max(0, int(stamp * 1000))
        return None

    def inner(self, name: str) -> Fields:
        """An object in this one."""
        return Fields(self._value.get(name), f"{self._place}.{name}", self._origin)

    def mapping(self, name: str) -> Mapping[str, Any] | None:
        """An object as it is, None when it is missing."""
        value = self._value.get(name)
        return value if isinstance(value, Mapping) else None

    def flag(self, name: str) -> bool:
        """Whether a field is true."""
        return self._value.get(name) is True

    def _refuse(self, problem: str) -> NoReturn:
        raise StoreError(f"{self._origin} answered in a form that is not its API's: {self._place} {problem}")


def _whole(text: str) -> str:
    """`text` with a mark in place of halves of surrogate pairs, which no store could keep."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether a value is nested deeper than `levels`, walked level by level."""
    layer = [value]
    for _ in range(levels):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not layer:
            return False
    return any(isinstance(value, (dict, list)) for value in layer)
