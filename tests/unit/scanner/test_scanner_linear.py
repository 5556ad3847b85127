"""The cost of a scan grows with the text, not with its square, whatever the text is."""

import runpy
import time
from pathlib import Path

import pytest

from keepmum_scanner import scan

RULES = runpy.run_path(str(Path(__file__).parents[3] / "scanner" / "render_providers.py"))["rules"]()
GROWTH = 8  # times the size …
ALLOWED = 24  # … times the cost at most: linear is 8, a square would be 64, the rest is a noisy machine

HOSTILE = {
    "names": "key=",
    "names with values": "key=a ",
    "told": "password is ",
    "told far": "token a b c d e f ",
    "quotes": 'secret="',
    "links": "a://b:",
    "long link": "a://" + "b" * 100 + ":",
    "signed": "eyJhbGciOiJI.",
    "signed, joined": "eyJaaaaaaaa-",
    "headers": "-----BEGIN PRIVATE " + "KEY-----\n",
    "headers and lines": "-----BEGIN PRIVATE " + "KEY-----\nabcdefghijklmnopqrstuvwxyz\n",
    "certificates": "-----BEGIN CERTIFICATE-----\nMIIBabcdefghijklmnopqrst\n-----END CERTIFICATE-----\n",
    "hashes": "$5$",
    "letter": "a",
    "letter and digit": "a1",
    "underscores": "_",
    "dots": "a.b.c.d1",
    "slashes": "a/",
    "dashes": "a-",
    "words": "Abc",
    "percent": "%41",
    "hidden": "\uff41\u200b",
    "users": "-u a:b ",
    "options": "--password a ",
    "before its name": "use aaaaaa as the ",
    "pairs": "creds aa aa aa aa:1!",
    "clients": "mysql ",
    "tags": "<key>a",
    "spaces": " ",
    "breaks": "\n",
}


def cost(piece: str, size: int) -> float:
    text = (piece * (size // len(piece) + 1))[:size]
    times = []
    for _ in range(3):
        start = time.process_time()
        scan(text)
        times.append(time.process_time() - start)
    return max(min(times), 1e-3)  # below a millisecond the clock is too coarse to divide by


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_scanned_in_linear_time(piece: str) -> None:
    assert cost(piece, 32 << 10) < ALLOWED * cost(piece, (32 << 10) // GROWTH)


@pytest.mark.parametrize("rule", RULES, ids=[rule["id"] for rule in RULES])
def test_starts_of_keys_are_scanned_in_linear_time(rule: dict[str, list[str]]) -> None:
    piece = rule["prefixes"][0] + "a1"
    assert cost(piece, 16 << 10) < ALLOWED * cost(piece, (16 << 10) // GROWTH)
