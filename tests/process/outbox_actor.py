"""A process that sends what waits until nothing does: `python outbox_actor.py ORIGIN FOLDER`, run by the tests."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

__all__ = ["start_drainer"]

_ROOT = Path(__file__).resolve().parents[2]
_SOURCES = ("plugin", "scanner", "hooks", "tests")


def start_drainer(origin: str, folder: Path) -> subprocess.Popen[bytes]:
    """A drainer that is under way; its standard error is for who waits for it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(_ROOT / name) for name in _SOURCES)}
    command = [sys.executable, __file__, origin, str(folder)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


def main(origin: str, folder: str) -> int:
    """Exit status 0 once nothing waits."""
    from keepmum.stores.outbox import drainer
    from unit.stores.rest_parts import open_at

    # A server that fails three times in ten would otherwise be left alone for most of an hour in all.
    drainer._FIRST_PAUSE = 0.001
    drainer._LOOKING = 0.05
    store = open_at(origin, Path(folder), drains=True)
    while store._box.waiting(origin):
        time.sleep(0.02)
    store.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
