"""Checksums of keys.

A correct checksum makes a finding certain. A wrong one proves nothing: a mistyped key differs from a real one by a
single character.
"""

from __future__ import annotations

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# The reversed polynomial of CRC-32, applied to four bits at a time.
# Source: https://www.rfc-editor.org/rfc/rfc1952#section-8, read 2026-11-21
_POLYNOMIAL = 0xEDB88320


def _remainder(rest: int) -> int:
    for _ in range(4):
        rest = rest >> 1 ^ (_POLYNOMIAL if rest & 1 else 0)
    return rest


_REMAINDERS = tuple(map(_remainder, range(16)))


def crc32_in_base62(tail: str) -> bool:
    """Whether the last six characters of `tail` are the CRC-32 of the characters before them.

    Source: https://pkg.go.dev/github.com/xunholy/promptzero/internal/githubtoken, read 2026-11-21
    Source: https://github.com/mongodb/kingfisher/blob/main/crates/kingfisher-rules/data/rules/npm.yml, read 2026-11-21
    """
    body, checksum = tail[:-6], tail[-6:]
    return len(checksum) == 6 and _base62(_crc32(body.encode())) == checksum


def _crc32(data: bytes) -> int:
    """The same as `binascii.crc32`; importing that module takes longer than checking a key."""
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= byte
        rest = rest >> 4 ^ _REMAINDERS[rest & 15]
        rest = rest >> 4 ^ _REMAINDERS[rest & 15]
    return rest ^ 0xFFFFFFFF


def _base62(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return digits.rjust(6, "0")


CHECKS = {"github": crc32_in_base62, "npm": crc32_in_base62, "vercel": crc32_in_base62}
