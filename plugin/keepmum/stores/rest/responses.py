"""Server responses as checked values: strict JSON of limited depth, and fields of the expected types."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

from keepmum.core.errors import StoreError

__all__ = ["Fields", "parse", "records"]

_MAX_DEPTH = 64
_MAX_COUNT = 1_000_000_000


def parse(raw: bytes, origin: str) -> Any:  # JSON of a server: `Fields` and `records` check its types
    """The JSON value in `raw`; an empty body is an empty object.

    Raises: StoreError when it is not JSON in UTF-8, holds NaN or an infinity, or is nested too deep.
    """
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise StoreError(f"{origin} did not answer in UTF-8; is it a memory server?") from None
    except (ValueError, RecursionError):
        raise StoreError(f"{origin} did not answer in JSON; is it a memory server?") from None
    if _is_deeper(value, _MAX_DEPTH):
        raise StoreError(f"{origin} answered with JSON nested more than {_MAX_DEPTH} levels; is it a memory server?")
    return value


def records(response: object, origin: str) -> list[Fields]:
    """The objects in the list `data` of a response, without those that repeat an id.

    Raises: StoreError when there is no such list.
    """
    data = response.get("data") if isinstance(response, Mapping) else None
    if not isinstance(data, list):
        raise StoreError(f"{origin} answered without the list `data`; is it a memory server?")
    by_id: dict[str, Fields] = {}
    for number, item in enumerate(data):
        fields = Fields(item, f"data[{number}]", origin)
        by_id.setdefault(fields.text("id"), fields)
    return list(by_id.values())


class Fields:
    """One object of a response, read field by field.

    Raises: StoreError from the constructor and from any method, for a field of another type.
    """

    def __init__(self, value: object, path: str, origin: str) -> None:
        self._path = path
        self._origin = origin
        if not isinstance(value, Mapping):
            self._refuse("is not an object")
        self._value: Mapping[str, object] = value

    def text(self, name: str) -> str:
        """A required string."""
        value = self._value.get(name)
        if not isinstance(value, str):
            self._refuse(f"has no string `{name}`")
        return _without_surrogates(value)

    def text_or(self, name: str, default: str) -> str:
        """An optional string."""
        value = self._value.get(name)
        return _without_surrogates(value) if isinstance(value, str) else default

    def texts(self, name: str) -> tuple[str, ...]:
        """The strings in a list; other items are left out."""
        value = self._value.get(name)
        items = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
        return tuple(_without_surrogates(item) for item in items if isinstance(item, str))

    def number(self, name: str) -> float:
        """A number, 0 when it is missing."""
        value = self._value.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float, type(None))):
            self._refuse(f"has no number `{name}`")
        return 0.0 if value is None or abs(value) > 1e300 else float(value)  # an integer may be too large for a float

    def number_or_none(self, name: str) -> float | None:
        """A number, None when it is missing."""
        return None if self._value.get(name) is None else self.number(name)

    def count(self, name: str) -> int:
        """A count; 0 when it is missing or negative."""
        return max(0, min(int(self.number(name)), _MAX_COUNT))

    def time(self, *names: str) -> int | None:
        """The first of these fields that holds a time, in milliseconds since 1970."""
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
        """A nested object."""
        return Fields(self._value.get(name), f"{self._path}.{name}", self._origin)

    def mapping(self, name: str) -> Mapping[str, Any] | None:  # JSON, which `serialization.parse` checks
        """A nested object as it is, None when it is missing."""
        value = self._value.get(name)
        return value if isinstance(value, Mapping) else None

    def flag(self, name: str) -> bool:
        """Whether a field is `true`."""
        return self._value.get(name) is True

    def _refuse(self, problem: str) -> NoReturn:
        raise StoreError(f"{self._origin} answered in a form that is not its API's: {self._path} {problem}")


def _without_surrogates(text: str) -> str:
    """`text` with U+FFFD in place of lone surrogates, which no store can save."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _is_deeper(value: object, levels: int) -> bool:
    """Whether a value is nested deeper than `levels`; walks level by level, without recursion."""
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
