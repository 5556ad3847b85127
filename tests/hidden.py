"""What must stay hidden, asserted without showing it: a failing `assert secret not in text` prints both."""

from __future__ import annotations

import pytest


def assert_hidden(secret: str | bytes, *places: object) -> None:
    """Fail when `secret` stands in one of `places`: texts, bytes, or anything else by its `repr`.

    The failure names the place by its number and the secret by its length, and shows neither.
    """
    __tracebackhide__ = True
    wanted = secret if isinstance(secret, bytes) else secret.encode("utf-8", "surrogatepass")
    assert wanted, "an empty text stands everywhere"
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
