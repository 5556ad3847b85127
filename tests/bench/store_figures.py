"""Helpers of all benchmarks: rows with a measured figure and its target."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["BARE", "ROOT", "Row", "bare_start", "environment", "is_quick", "percentile", "print_table"]

ROOT = Path(__file__).resolve().parents[2]
for folder in ("plugin", "scanner", "hooks", "installers", "tests"):
    if str(ROOT / folder) not in sys.path:
        sys.path.insert(0, str(ROOT / folder))

BARE = (sys.executable, "-I", "-S", "-c", "pass")


class Row(NamedTuple):
    """One line of the table."""

    what: str
    measured: str
    target: str
    ok: bool | None = None  # None when there is no target


def environment(home: Path) -> dict[str, str]:
    """The environment of a process that sees none of the user's files."""
    return {"PATH": os.defpath, "HOME": str(home), "KEEPMUM_HOME": str(home / ".keepmum")}


def bare_start() -> float:
    """Seconds that an empty interpreter takes now."""
    started = time.perf_counter()
    subprocess.run(BARE, check=True)
    return time.perf_counter() - started


def percentile(values: Sequence[float], share: int) -> float:
    """The value that `share` percent of the values do not exceed."""
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1]


def is_quick(description: str | None) -> bool:
    """Whether the command line asks for the short run; `--help` prints the first line of `description`."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="smaller numbers, under half a minute")
    return bool(parser.parse_args().quick)


def print_table(rows: Iterable[Row]) -> None:
    """Print each row as soon as it is measured."""
    print(f"{'what':58} {'measured':34} {'target':28} ok")  # noqa: T201 - a report
    for what, measured, target, ok in rows:
        verdict = "" if ok is None else "yes" if ok else "NO"
        print(f"{what:58} {measured:34} {target:28} {verdict}", flush=True)  # noqa: T201 - a report
