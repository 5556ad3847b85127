"""The cost of a scan grows with the text, not with its square, whatever the text is.

Counted twice: as calls, which are the same on every machine, and as time, which also knows what an expression does.
"""

import runpy
import sys
import time
from pathlib import Path
from types import FrameType

import pytest

from keepmum_scanner import scan
from unit.scanner import hostile_texts

pytestmark = pytest.mark.heavy

RULES = runpy.run_path(str(Path(__file__).parents[3] / "scanner" / "render_providers.py"))["rules"]()
GROWTH = 8  # times the size …
ALLOWED = 24  # … times the time at most: linear is 8, a square would be 64, the rest is a noisy machine
CALLS_ALLOWED = 16  # … times the calls at most: where a text turns bad late, the first eighth has little of it
CALLS = 5.0  # of functions, a character of any text at most
LARGE = 32 << 10


def calls(text: str) -> int:
    """How many functions a scan of `text` calls, those written in C among them."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        scan(text)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("name", hostile_texts.NAMES)
def test_hostile_text_is_scanned_in_linear_work(name: str) -> None:
    scan(hostile_texts.text(name, LARGE))  # what is done once a process does not count
    small, large = (calls(hostile_texts.text(name, size)) for size in (LARGE // GROWTH, LARGE))
    assert large < CALLS_ALLOWED * small
    assert large < CALLS * LARGE


def cost(text: str) -> float:
    """Seconds of the fastest of three scans of `text`."""
    times = []
    for _ in range(3):
        start = time.process_time()
        scan(text)
        times.append(time.process_time() - start)
    return max(min(times), 1e-3)  # below a millisecond the clock is too coarse to divide by


@pytest.mark.parametrize("name", hostile_texts.NAMES)
def test_hostile_text_is_scanned_in_linear_time(name: str) -> None:
    small, large = (cost(hostile_texts.text(name, size)) for size in (LARGE // GROWTH, LARGE))
    assert large < ALLOWED * small


@pytest.mark.parametrize("rule", RULES, ids=[rule["id"] for rule in RULES])
def test_starts_of_keys_are_scanned_in_linear_time(rule: dict[str, list[str]]) -> None:
    piece = rule["prefixes"][0] + "a1"
    small, large = (cost(piece * (size // len(piece))) for size in (LARGE // 2 // GROWTH, LARGE // 2))
    assert large < ALLOWED * small
