"""Cursors: signed places in a list, which hold for one principal and one set of filters.

A cursor authorises nothing, since each request carries its key. The signature keeps clients from depending on its
form, and from asking for a place that no list of theirs had.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence

from keepmum.core.errors import InvalidInput
from keepmum.core.memory import JsonValue

__all__ = ["read", "write"]

_SIZE = 16  # bytes of the signature
_LONGEST = 1_000  # characters
_WRONG = "is not one of this list; start again without it"


def write(secret: bytes, bound: Mapping[str, JsonValue], place: Sequence[JsonValue]) -> str:
    """The cursor of a place in the list that `bound` describes: its path, its principal and all of its filters."""
    text = json.dumps(place, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_signature(secret, bound, text) + text).decode().rstrip("=")


def read(secret: bytes, bound: Mapping[str, JsonValue], cursor: str) -> list[JsonValue]:
    """The place in a cursor that `write` made for the same list.

    Raises: InvalidInput for any other text.
    """
    if len(cursor) > _LONGEST:
        raise InvalidInput("cursor", _WRONG)
    try:
        raw = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise InvalidInput("cursor", _WRONG) from None
    signature, text = raw[:_SIZE], raw[_SIZE:]
    if not hmac.compare_digest(signature, _signature(secret, bound, text)):
        raise InvalidInput("cursor", _WRONG)
    place: list[JsonValue] = json.loads(text)
    return place


def _signature(secret: bytes, bound: Mapping[str, JsonValue], text: bytes) -> bytes:
    described = json.dumps(bound, sort_keys=True, separators=(",", ":")).encode()
    message = len(described).to_bytes(8, "big") + described + text
    return hashlib.blake2b(message, digest_size=_SIZE, key=secret[:64], person=b"keepmum-cursor").digest()
