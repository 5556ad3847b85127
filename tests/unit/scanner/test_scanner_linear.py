"""The cost of a scan is linear in the length of any text.

Measured in function calls, which are the same on every machine, and in time, which includes regular expressions.
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
GROWTH = 8  # factor between the sizes of the two texts
MAX_TIME_RATIO = 24  # linear is 8 and quadratic 64; the rest allows for a noisy machine
MAX_CALL_RATIO = 16  # the bad part of a text may begin after its first eighth
MAX_CALLS = 5.0  # per character
LARGE = 32 << 10


def calls(text: str) -> int:
    """The number of function calls in a scan of `text`, including functions in C."""
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
    scan(hostile_texts.text(name, LARGE))  # excludes the work that is done once per process
    small, large = (calls(hostile_texts.text(name, size)) for size in (LARGE // GROWTH, LARGE))
    assert large < MAX_CALL_RATIO * small
    assert large < MAX_CALLS * LARGE


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
    assert large < MAX_TIME_RATIO * small


@pytest.mark.parametrize("rule", RULES, ids=[rule["id"] for rule in RULES])
def test_prefixes_of_keys_are_scanned_in_linear_time(rule: dict[str, list[str]]) -> None:
    piece = rule["prefixes"][0] + "a1"
    small, large = (cost(piece * (size // len(piece))) for size in (LARGE // 2 // GROWTH, LARGE // 2))
    assert large < MAX_TIME_RATIO * small
