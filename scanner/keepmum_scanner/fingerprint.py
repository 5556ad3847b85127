"""Names for secrets that say nothing about them."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Source: https://datatracker.ietf.org/doc/rfc2104/, read 2026-11-21
_BLOCK = 64  # bytes
_INNER, _OUTER = (int.from_bytes(pad * _BLOCK, "big") for pad in (b"\x36", b"\x5c"))


def fingerprint(secret: str, key: bytes | None) -> str:
    """HMAC-SHA-256 of `secret` under `key`, 32 hexadecimal digits; "" without a key.

    A digest without a key would be a guessing aid: short passwords can be tried one by one.
    """
    if not key:
        return ""
    sha256 = _sha256()
    block = int.from_bytes((key if len(key) <= _BLOCK else sha256(key).digest()).ljust(_BLOCK, b"\0"), "big")
    inner = sha256((block ^ _INNER).to_bytes(_BLOCK, "big") + secret.encode("utf-8", "surrogatepass")).digest()
    return str(sha256((block ^ _OUTER).to_bytes(_BLOCK, "big") + inner).hexdigest()[:32])


def _sha256() -> Any:
    """SHA-256 by the interpreter's own module where it can be found: `hmac` and `hashlib` cost more than a scan."""
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256  # type: ignore[import-not-found]  # private, no stub
    except ImportError:
        from hashlib import sha256
    return sha256
