"""The arguments of one call, read with their types and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from keepmum.core import validation
from keepmum.core.errors import InvalidInput
from keepmum.core.memory import LIMITS

__all__ = ["Arguments", "JsonObject"]

JsonObject = dict[str, Any]  # Any: values of JSON
_Choice = TypeVar("_Choice", bound=str)
_LARGEST = 1 << 53  # integers up to here are exact in JavaScript


class Arguments:
    """The members of a JSON object. A member that is missing or null has its default.

    Raises: InvalidInput, from each method, for a member of another type or beyond its limits.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def has(self, name: str) -> bool:
        """Whether the member is there and not null."""
        return self._values.get(name) is not None

    def text(self, name: str, limit: int = LIMITS.query, *, required: bool = False) -> str:
        """A string of at most `limit` characters, unchanged; empty when it is missing."""
        value: str | None = self._of_type(name, str, "text")
        if value is None:
            if required:
                raise InvalidInput(name, "is missing")
            return ""
        if len(value) > limit:
            raise InvalidInput(name, f"has {len(value):,} characters, the limit is {limit:,}")
        return value

    def optional_text(self, name: str, limit: int) -> str | None:
        """A string of at most `limit` characters; None when it is missing."""
        return self.text(name, limit) if self.has(name) else None

    def number(self, name: str, default: int = 0, *, least: int = 0, most: int = _LARGEST) -> int:
        """A whole number from `least` to `most`."""
        value = self._values.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InvalidInput(name, f"must be a whole number from {least} to {most}")
        return value

    def optional_number(self, name: str) -> int | None:
        """A whole number from 0; None when it is missing."""
        return self.number(name) if self.has(name) else None

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A boolean."""
        value: bool | None = self._of_type(name, bool, "true or false")
        return default if value is None else value

    def texts(self, name: str, most: int = LIMITS.tags, limit: int = LIMITS.key) -> tuple[str, ...]:
        """A list of up to `most` strings; empty when it is missing."""
        values = self._of_type(name, list, "a list of texts") or []
        if len(values) > most:
            raise InvalidInput(name, f"has {len(values):,} items, the limit is {most:,}")
        if not all(isinstance(value, str) and len(value) <= limit for value in values):
            raise InvalidInput(name, f"must be a list of texts of at most {limit:,} characters")
        return tuple(values)

    def choice(self, name: str, allowed: Sequence[_Choice], default: _Choice) -> _Choice:
        """One of the allowed strings."""
        return validation.one_of(name, self.text(name), tuple(allowed)) if self.has(name) else default

    def members(self, name: str) -> JsonObject:
        """The members of an object, unchecked; none when it is missing."""
        return dict(self._of_type(name, dict, "an object") or {})

    def numbers(self, name: str) -> dict[str, int]:
        """An object of whole numbers by name; empty when it is missing."""
        values = self.members(name)
        return {key: Arguments(values).number(key) for key in values}

    def _of_type(self, name: str, wanted: type[Any], what: str) -> Any:  # Any: as `wanted`
        value = self._values.get(name)
        if value is not None and not isinstance(value, wanted):
            raise InvalidInput(name, f"must be {what}")
        return value
