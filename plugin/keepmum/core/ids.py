"""Ids of memories: a UUIDv7, which agents see as `mem_` and 26 characters of Crockford's base 32.

Both spellings hold the same 128 bits and sort by creation time. Sources, read 2026-11-21:
RFC 9562 §5.7 (UUIDv7), https://github.com/ulid/spec (alphabet and length).
"""

from __future__ import annotations

import collections
import os
import time
from collections.abc import Iterable

__all__ = ["PREFIX", "complete_id", "from_uuid", "id_range", "new_id", "shortened", "to_uuid"]

PREFIX = "mem_"
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_VALUES = {letter: value for value, letter in enumerate(_ALPHABET)} | {"i": 1, "l": 1, "o": 0}
_LENGTH = 26  # base-32 digits: 130 bits for 128
_SHOWN = 12  # of them: the millisecond and 12 random bits
_DIGITS = frozenset(_ALPHABET)
_TO_PYTHON = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")
_HEX_VALUES = {digit: int(digit, 16) for digit in "0123456789abcdef"}


def new_id(now_ms: int | None = None) -> str:
    """A new id in the agents' spelling; ids of different milliseconds sort by time."""
    milliseconds = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & (1 << 48) - 1) << 80 | 0x7 << 76 | random >> 68 << 64 | 0b10 << 62 | random & (1 << 62) - 1
    return PREFIX + _encode(value)


def to_uuid(memory_id: str) -> str:
    """The UUID spelling of an id, which REST servers use.

    Raises: ValueError when `memory_id` is not a complete id.
    """
    whole = complete_id(memory_id)
    if whole is None:
        raise ValueError("not a whole memory id")
    digits = f"{_decode(whole[len(PREFIX) :]):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def from_uuid(uuid: str) -> str:
    """The agents' spelling of a UUID: 32 hexadecimal digits, with or without hyphens."""
    return PREFIX + _encode(int(uuid.replace("-", ""), 16))


def complete_id(text: str) -> str | None:
    """The agents' spelling of a complete id in either spelling; None for a prefix or another text."""
    bounds = id_range(text)
    return bounds[0] if bounds is not None and bounds[0] == bounds[1] else None


def id_range(text: str) -> tuple[str, str] | None:
    """The first and the last id that start with `text`: a complete id or a prefix, in either spelling.

    None when no id can start with it. Case and `mem_` do not matter; hyphens indicate the UUID spelling.
    """
    word = text.strip().lower()
    if word.startswith(PREFIX):
        if len(word) == len(PREFIX) + _LENGTH and word[len(PREFIX)] < "8" and _DIGITS.issuperset(word[len(PREFIX) :]):
            return word, word  # the common case
        return _bounds(word[len(PREFIX) :], _VALUES, 5, _LENGTH * 5)
    if "-" in word or len(word) == 32:
        return _bounds(word.replace("-", ""), _HEX_VALUES, 4, 128)
    return _bounds(word, _VALUES, 5, _LENGTH * 5)


def shortened(memory_ids: Iterable[str]) -> dict[str, str]:
    """The ids as a text shows them together: 12 base-32 digits, and more only where two would be the same."""
    shown: dict[str, str] = {}
    left = set(memory_ids)
    length = len(PREFIX) + _SHOWN
    while left:
        times = collections.Counter(whole[:length] for whole in left)
        alone = {whole for whole in left if times[whole[:length]] == 1}
        shown |= {whole: whole[:length] for whole in alone}
        left -= alone
        length += 1
    return shown


def _bounds(digits: str, values: dict[str, int], bits: int, width: int) -> tuple[str, str] | None:
    missing = width - bits * len(digits)
    if not digits or missing < 0 or any(digit not in values for digit in digits):
        return None
    low = 0
    for digit in digits:
        low = low << bits | values[digit]
    low <<= missing
    if low >> 128:
        return None
    return PREFIX + _encode(low), PREFIX + _encode(min(low | (1 << missing) - 1, (1 << 128) - 1))


def _decode(digits: str) -> int:
    return int(digits.translate(_TO_PYTHON), 32)


def _encode(value: int) -> str:
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(5 * (_LENGTH - 1), -1, -5))
