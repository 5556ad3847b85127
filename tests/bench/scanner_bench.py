"""Prints the cost of a scan.

    python tests/bench/scanner_bench.py [--notes FILE] [--python PATH]

Three tables: the start-up time of the package and of an empty interpreter; scans of notes (paragraphs of the given
Markdown file, and long parts of prose, code and tables); and 16 and 64 KiB of each hostile text, where a ratio near 4
means linear time.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scanner"), str(ROOT / "tests")]

from keepmum_scanner import scan  # noqa: E402 - same
from unit.scanner import hostile_texts  # noqa: E402 - the path must come first

SMALL, LARGE = 16 << 10, 64 << 10
NOTE = 5000  # characters of a long note
SLOW = 30.0  # milliseconds; no text of 64 KiB should take longer


def milliseconds(text: str, rounds: int = 3) -> float:
    """CPU time of the fastest of `rounds` scans."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        scan(text)
        times.append(time.process_time() - start)
    return min(times) * 1e3


def process(python: str, code: str) -> float:
    """Milliseconds of wall time of one interpreter that runs `code`."""
    start = time.perf_counter()
    subprocess.run([python, "-I", "-S", "-c", code], check=True)
    return (time.perf_counter() - start) * 1e3


def start_up(python: str) -> None:
    """Print the cost of an import and of a first scan, interleaved with an empty interpreter."""
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
    """Print microseconds per note, for the paragraphs of `file`."""
    paragraphs = [part for part in file.read_text(encoding="utf-8").split("\n\n") if len(part) > 80]
    times = sorted(milliseconds(part) * 1e3 for part in paragraphs)
    size = statistics.mean(map(len, paragraphs))
    sys.stdout.write(f"\nnotes: {len(paragraphs)} paragraphs of {file.name}, {size:.0f} characters on average\n")
    worst = times[int(len(times) * 0.99)]
    sys.stdout.write(f"  median {statistics.median(times):.0f} us, 99 in 100 within {worst:.0f} us\n")


def long_notes(file: Path) -> None:
    """Print milliseconds per 5,000 characters of `file`."""
    text = file.read_text(encoding="utf-8")
    parts = [text[start : start + NOTE] for start in range(0, len(text) - NOTE + 1, NOTE)] or [text]
    times = sorted(milliseconds(part) for part in parts)
    middle, worst = statistics.median(times), times[-1]
    sys.stdout.write(f"  {NOTE} characters of {file.name}: median {middle:.2f} ms, slowest {worst:.2f} ms\n")


def hostile() -> None:
    """Print milliseconds for hostile texts of two sizes, the slowest first."""
    sys.stdout.write("\nhostile text, CPU ms          16 KiB   64 KiB   ratio\n")
    rows = []
    for name in hostile_texts.NAMES:
        small, large = (milliseconds(hostile_texts.text(name, size)) for size in (SMALL, LARGE))
        rows.append((large, f"  {name:32} {small:6.1f} {large:8.1f} {large / small:7.1f}\n"))
    sys.stdout.write("".join(row for _, row in sorted(rows, reverse=True)))
    slow = sum(large > SLOW for large, _ in rows)
    sys.stdout.write(f"  {slow} of {len(rows)} take more than {SLOW:.0f} ms\n")


def main() -> int:
    """Print all tables; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=Path, default=ROOT / "README.md")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    start_up(options.python)
    notes(options.notes)
    for file in (options.notes, ROOT / "scanner" / "keepmum_scanner" / "shapes.py", ROOT / "docs" / "reference.md"):
        long_notes(file)
    hostile()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
