"""Makes texts from the patterns of providers/*.toml, so that the repository contains no key-shaped text."""

import random
import re

_PIECE = re.compile(r"\{(?:(?P<count>\d+)\*(?P<letter>\w)|(?P<literal>[^{}]+))\}")

# The characters for each letter of a pattern.
ALPHABETS = {
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


def assembled(pattern: str, rng: random.Random) -> str:
    """`pattern` with `{ghp_}` as literal text and `{36*w}` as 36 random characters."""

    def piece(match: re.Match[str]) -> str:
        if match["literal"]:
            return match["literal"]
        return "".join(rng.choice(ALPHABETS[match["letter"]]) for _ in range(int(match["count"])))

    return _PIECE.sub(piece, pattern)
