"""The home in which a version is tried uses the bytecode of the user's home, and nothing else of it."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import pytest

from keepmum_installers import temporary_home
from keepmum_installers.machine import Machine

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and modes of POSIX")


def _made(machine: Machine, tmp_path: Path) -> Machine:
    """The same machine with a home of its own that exists."""
    home = tmp_path / "memories"
    home.mkdir(mode=0o700)
    return dataclasses.replace(machine, home=str(home))


def test_bytecode_that_is_written_there_is_in_the_home_of_the_user_and_stays(machine: Machine, tmp_path: Path) -> None:
    machine = _made(machine, tmp_path)
    with temporary_home.create("keepmum-test-", machine) as home:
        Path(home, "cache", "pycache", "one.pyc").write_bytes(b"1")
        Path(home, "memory.db").write_bytes(b"2")
    files = [str(path.relative_to(machine.home)) for path in Path(machine.home).rglob("*") if path.is_file()]
    assert (files, os.path.exists(home)) == (["cache/pycache/one.pyc"], False)


@pytest.mark.parametrize("name", ["", "cache", "cache/pycache"])
def test_bytecode_that_others_can_write_is_not_used(machine: Machine, tmp_path: Path, name: str) -> None:
    machine = _made(machine, tmp_path)
    Path(machine.home, "cache", "pycache").mkdir(parents=True, mode=0o700)
    Path(machine.home, name).chmod(0o777)
    with temporary_home.create("keepmum-test-", machine) as home:
        assert os.listdir(home) == []


def test_a_home_where_nothing_can_be_written_prevents_no_trial(machine: Machine, tmp_path: Path) -> None:
    machine = _made(machine, tmp_path)
    Path(machine.home, "cache").write_text("a file, where the folder would be")
    with temporary_home.create("keepmum-test-", machine) as home:
        assert os.listdir(home) == []
