"""A secret, and an assertion that it does not occur. `assert secret not in text` would print both."""

from __future__ import annotations

import pytest

# Made here, so that no file holds it. Where ids and digests are made at random, a part of it does not occur by chance:
# any three of its characters hold a U, and there are none in hexadecimal digits and in the ids of memories.
GITHUB_TOKEN = "gh" + "p_" + "".join(f"{one}{two}U" for one, two in zip("kQzWvRtYbNmP", "482917365084", strict=True))


def assert_hidden(secret: str | bytes, *places: object) -> None:
    """Fail when `secret` occurs in one of `places`: texts, bytes, or the `repr` of any other value.

    The failure gives the number of the place and the length of the secret, and shows neither.
    """
    __tracebackhide__ = True
    wanted = secret if isinstance(secret, bytes) else secret.encode("utf-8", "surrogatepass")
    assert wanted, "an empty text occurs in every text"
    shown = [str(number) for number, place in enumerate(places, 1) if wanted in _bytes(place)]
    if shown:
        pytest.fail(
            f"{len(secret)} characters that must stay hidden are shown by place {', '.join(shown)}", pytrace=False
        )


def _bytes(place: object) -> bytes:
    if isinstance(place, bytes):
        return place
    text = place if isinstance(place, str) else repr(place)
    return text.encode("utf-8", "surrogatepass")
