"""Freed memory is returned to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from keepmum.system import heap

_PROGRAM = """
from keepmum.system import heap
def held():
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Anonymous:"))
many = [bytearray(100_000) for _ in range(300)]
last = bytearray(100_000)
most = held()
del many
{call}
print(most - held() > 20_000)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such function")
def test_free_memory_is_returned_to_the_system() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.replace("{call}", "heap.release_free_memory()")],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "True\n"


def test_both_calls_succeed() -> None:
    heap.limit_free_memory()
    heap.release_free_memory()
