"""A process that writes to a store, for tests and benchmarks with several of them.

python -I -S tests/process/store_actors.py write PATH NAME COUNT     writes and prints each id once it is stored
"""

from __future__ import annotations

import os
import subprocess
import sys

if __name__ == "__main__":  # with `-I -S` our packages are not on the path
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.extend(os.path.join(root, name) for name in ("plugin", "scanner", "hooks"))

from keepmum.core.errors import KeepmumError
from keepmum.service import MemoryService, Place, ServiceOptions, open_service
from keepmum.stores import SqliteSpec
from keepmum.stores.sqlite import lock
from keepmum_scanner import scan

__all__ = ["open_at", "start_writer", "write"]

_EVERY_KEY = 5  # every fifth write is to a key that all writers share


def open_at(path: str, name: str) -> MemoryService:
    """The memory at `path` for the agent `name`."""
    place = Place(project="alpha", name="Alpha")
    return open_service(SqliteSpec(path), scan, ServiceOptions(place=place, agent=name, briefing_tokens=0))


def write(path: str, name: str, count: int) -> int:
    """Store `count` memories and print each id once it is acknowledged; returns the number of errors."""
    service = open_at(path, name)
    errors = 0
    for number in range(count):
        try:
            key = f"shared.{number}" if number % _EVERY_KEY == 0 else None
            answer = service.remember(f"{name} wrote number {number} of {count} words about locking", key=key)
            os.write(1, f"{answer.memory.id} {answer.memory.revision}\n".encode())
        except KeepmumError as error:
            os.write(2, f"{type(error).__name__}\n".encode())
            errors += 1
    service.close()
    return errors


def start_writer(path: str, name: str, count: int) -> subprocess.Popen[bytes]:
    """Start a process that runs `write`; it prints acknowledged ids to stdout."""
    command = [sys.executable, "-I", "-S", os.path.abspath(__file__), "write", path, name, str(count)]
    # Unbuffered, because `communicate` would miss lines that a buffered reader had read ahead.
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)


if __name__ == "__main__":
    lock.PATIENCE = 600.0  # the machine may stop the writer that holds the lock
    _, _, where, who, how_many = sys.argv
    sys.exit(1 if write(where, who, int(how_many)) else 0)
