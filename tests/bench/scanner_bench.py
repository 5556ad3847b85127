"""What a scan costs; prints tables and judges nothing.

    python tests/bench/scanner_bench.py [--notes FILE] [--python PATH]

Three tables: the start of the package beside an empty interpreter, scans of notes (paragraphs of the given Markdown
file), and 64 KiB of hostile text beside 16 KiB of the same, where a ratio near 4 means linear time.
"""

from __future__ import annotations

import argparse
import random
import statistics
import string
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scanner"))

from keepmum_scanner import scan  # noqa: E402 - the path must come first

SMALL, LARGE = 16 << 10, 64 << 10

# Text that is repeated to the size wanted; each would be slow in a scanner that looks back or starts again.
HOSTILE = {
    "prose": "The server keeps the briefing current and the hook prints it. ",
    "names without values": "key=",
    "names and short values": "key=a ",
    "passwords in prose": "password is ",
    "unclosed quotes": 'secret="',
    "links with users": "a://b:",
    "token starts": " ghp_abcdefgh",
    "token starts, joined": "xoxb-1",
    "signed tokens": "eyJhbGciOiJI.",
    "key headers": "-----BEGIN PRIVATE " + "KEY-----\n",
    "key headers and lines": "-----BEGIN PRIVATE " + "KEY-----\nabcdefghijklmnopqrstuvwxyz\n",
    "one letter": "a",
    "letter and digit": "a1",
    "dots": "a.b.c.d1",
    "percent signs": "%41",
    "full width and zero width": "\uff41\u200b",
    "emoji": "\U0001f44d\U0001f3fd ",
}


def milliseconds(text: str, rounds: int = 3) -> float:
    """CPU time of the fastest of `rounds` scans."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        scan(text)
        times.append(time.process_time() - start)
    return min(times) * 1e3


def process(python: str, code: str) -> float:
    """Milliseconds of one interpreter that runs `code`."""
    start = time.perf_counter()
    subprocess.run([python, "-I", "-S", "-c", code], check=True)
    return (time.perf_counter() - start) * 1e3


def start_up(python: str) -> None:
    """Print the cost of importing the package and of a first scan, interleaved with an empty interpreter."""
    path = f"import sys; sys.path.insert(0, {str(ROOT / 'scanner')!r})"
    cases = {
        "empty interpreter": "pass",
        "import re": "import re",
        "import keepmum_scanner": f"{path}; import keepmum_scanner",
        "import and first scan": f"{path}; import keepmum_scanner; keepmum_scanner.scan('token: a1B2c3D4e5F6g7H8')",
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(15):
        for name, code in cases.items():
            times[name].append(process(python, code))
    sys.stdout.write("\nstart, ms (median of 15)\n")
    for name, values in times.items():
        sys.stdout.write(f"  {name:26} {statistics.median(values):7.1f}\n")


def notes(file: Path) -> None:
    """Print microseconds a note, over the paragraphs of `file`."""
    paragraphs = [part for part in file.read_text(encoding="utf-8").split("\n\n") if len(part) > 80]
    times = sorted(milliseconds(part) * 1e3 for part in paragraphs)
    size = statistics.mean(map(len, paragraphs))
    sys.stdout.write(f"\nnotes: {len(paragraphs)} paragraphs of {file.name}, {size:.0f} characters on average\n")
    worst = times[int(len(times) * 0.99)]
    sys.stdout.write(f"  median {statistics.median(times):.0f} us, 99 in 100 within {worst:.0f} us\n")


def hostile() -> None:
    """Print milliseconds for hostile texts of two sizes."""
    chance = random.Random(1)
    letters = string.ascii_letters + string.digits
    keys = " ".join("".join(chance.choices(letters, k=24)) for _ in range(LARGE // 25))
    digests = " ".join(f"{chance.getrandbits(160):040x}" for _ in range(LARGE // 41))
    sys.stdout.write("\nhostile text, CPU ms     16 KiB   64 KiB   ratio\n")
    for name, piece in {**HOSTILE, "keys": keys, "digests": digests}.items():
        text = piece * (LARGE // len(piece) + 1)
        small, large = milliseconds(text[:SMALL]), milliseconds(text[:LARGE])
        sys.stdout.write(f"  {name:24} {small:6.1f} {large:8.1f} {large / small:7.1f}\n")


def main() -> int:
    """Print every table; 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=Path, default=ROOT / "README.md")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    start_up(options.python)
    notes(options.notes)
    hostile()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
