"""Keys that prove themselves.

A right checksum makes a finding certain; a wrong one clears nothing, since a mistyped key is one character from a
real one.
"""

from __future__ import annotations

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def crc32_in_base62(tail: str) -> bool:
    """Whether the last six characters of `tail` are the CRC-32 of those before them.

    Source: https://pkg.go.dev/github.com/xunholy/promptzero/internal/githubtoken, read 2026-11-21
    Source: https://github.com/mongodb/kingfisher/blob/main/crates/kingfisher-rules/data/rules/npm.yml, read 2026-11-21
    """
    from binascii import crc32

    body, given = tail[:-6], tail[-6:]
    return len(given) == 6 and _base62(crc32(body.encode())) == given


def _base62(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return digits.rjust(6, "0")


CHECKS = {"github": crc32_in_base62, "npm": crc32_in_base62, "vercel": crc32_in_base62}
