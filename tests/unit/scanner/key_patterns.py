"""Texts from the patterns of providers/*.toml: no key-shaped text lies in the repository, tests make it."""

import random
import re

_PIECE = re.compile(r"\{(?:(?P<count>\d+)\*(?P<letter>\w)|(?P<literal>[^{}]+))\}")

# What the letters of a pattern stand for.
SPELLINGS = {
    "w": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "h": "0123456789abcdef",
    "b": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-",
    "B": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/",
    "D": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-",
    "T": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "u": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "U": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "x": "x",
}


def assembled(pattern: str, chance: random.Random) -> str:
    """`pattern` with `{ghp_}` as it stands and `{36*w}` as 36 random characters."""

    def piece(match: re.Match[str]) -> str:
        if match["literal"]:
            return match["literal"]
        return "".join(chance.choice(SPELLINGS[match["letter"]]) for _ in range(int(match["count"])))

    return _PIECE.sub(piece, pattern)
