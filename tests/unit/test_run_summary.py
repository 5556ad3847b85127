"""What a run of the tests prints at its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_TESTS = """
import pytest

@pytest.mark.parametrize("engine", ["a", "b"])
def test_of_some_engines(engine):
    pytest.skip("has no other processes")

@pytest.mark.skipif(True, reason="needs a terminal")
def test_of_a_terminal():
    pass

def test_that_fails():
    assert 1 == 2
"""


def test_skips_are_counted_by_reason_and_the_failures_come_last(root: Path, tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(_TESTS)
    environ = {**os.environ, "COLUMNS": "200", "PYTHONPATH": os.pathsep.join((str(root / "tests"), *sys.path))}
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-rfE"]
    done = subprocess.run(command, check=False, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    skipped = next(number for number, line in enumerate(lines) if "3 skipped, by reason" in line)
    assert lines[skipped + 1 : skipped + 3] == ["   2  has no other processes", "   1  needs a terminal"]
    assert lines[-2] == "FAILED test_some.py::test_that_fails - assert 1 == 2"
    assert "1 failed, 3 skipped" in lines[-1]
