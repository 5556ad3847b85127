"""Runs tests while random processes of theirs are stopped for seconds, as on a busy machine or a laptop that sleeps.

    python tests/with_pauses.py [--longest 3] [--every 0.5] -- tests/process/test_launch.py -n 2

A test that fails here but not alone depends on time. With `-n`, pytest's workers are stopped too. Needs `/proc`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path


def main() -> int:
    """Run pytest; returns its exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--longest", type=float, default=3.0, metavar="SECONDS", help="the longest stop")
    parser.add_argument("--every", type=float, default=0.5, metavar="SECONDS", help="mean time between two stops")
    parser.add_argument("tests", nargs="+", help="arguments of pytest")
    chosen = parser.parse_args()
    tests = subprocess.Popen([sys.executable, "-m", "pytest", "-q", *chosen.tests])
    while tests.poll() is None:
        if processes := _below(tests.pid):
            stop = (random.choice(processes), random.uniform(0, chosen.longest))
            threading.Thread(target=_stopped, args=stop).start()
        time.sleep(random.expovariate(1 / chosen.every))
    return tests.returncode


def _stopped(process: int, seconds: float) -> None:
    """Stop a process for some seconds, if it is still there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(process, signal.SIGCONT)


def _below(root: int) -> list[int]:
    """The children of a process, their children, and so on."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found = list(children.get(root, ()))
    for process in found:
        found += children.get(process, ())
    return found


if __name__ == "__main__":
    sys.exit(main())
