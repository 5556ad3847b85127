"""Names for secrets that say nothing about them."""

from __future__ import annotations


def fingerprint(secret: str, key: bytes | None) -> str:
    """HMAC-SHA-256 of `secret` under `key`, 32 hexadecimal digits; "" without a key.

    A digest without a key would be a guessing aid: short passwords can be tried one by one.
    """
    if not key:
        return ""
    import hmac  # with hashlib 3 ms, and most scans find nothing

    return hmac.digest(key, secret.encode("utf-8", "surrogatepass"), "sha256").hex()[:32]
