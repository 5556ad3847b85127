"""A process that sends the queue until it is empty: `python outbox_actor.py ORIGIN FOLDER`, run by the tests."""

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
    """A running drainer; its standard error is a pipe."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(_ROOT / name) for name in _SOURCES)}
    command = [sys.executable, __file__, origin, str(folder)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


def main(origin: str, folder: str) -> int:
    """Send the queue; exit status 0 when it is empty."""
    from keepmum.stores.outbox import drainer
    from unit.stores.rest_parts import open_at

    # With the real pauses, a server that fails 30 % of the requests would take most of an hour.
    drainer._FIRST_PAUSE = 0.001
    drainer._POLL_INTERVAL = 0.05
    store = open_at(origin, Path(folder), drains=True)
    while store._outbox.count_waiting(origin):
        time.sleep(0.02)
    store.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
