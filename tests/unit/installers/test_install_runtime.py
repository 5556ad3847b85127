"""The runtime is built by uv or pip, and is useful without packages."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from keepmum_installers import files, runtime
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine, Outcome, Runner, run

NAMES = ["anyio", "detect-secrets", "httpx", "httpx2", "mcp", "platformdirs", "pyyaml", "tomli-w"]


@pytest.fixture
def real(machine: Machine) -> Machine:
    """A machine that runs commands, with nothing on PATH."""
    return dataclasses.replace(machine, run=run, environ={"PATH": ""})


@pytest.fixture
def program(machine: Machine) -> Callable[[str, str], Machine]:
    """Puts a program on the PATH of a machine that runs commands."""

    def put(name: str, script: str) -> Machine:
        folder = Path(machine.user_home) / "programs"
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
        return dataclasses.replace(machine, run=run)

    return put


def _python(machine: Machine) -> str:
    return os.path.join(machine.home, "runtime", "bin", "python")


def test_home_without_a_runtime_has_none(clone: Path, machine: Machine) -> None:
    assert runtime.look(str(clone), machine) is None


def test_interpreter_is_made_where_clients_would_start_none(real: Machine) -> None:
    runtime.ensure_interpreter(real)
    done = subprocess.run([_python(real), "-I", "-S", "-c", "print(1)"], capture_output=True, timeout=60, check=True)
    assert done.stdout == b"1\n"


@pytest.mark.skipif(os.name == "nt", reason="files have no such modes there")
def test_others_cannot_write_the_runtime_whatever_the_umask_is(real: Machine) -> None:
    former = os.umask(0o002)
    try:
        runtime.ensure_interpreter(real)
    finally:
        os.umask(former)
    paths = [path for path in Path(real.home, "runtime").rglob("*") if not path.is_symlink()]
    assert paths
    assert [path for path in paths if path.stat().st_mode & 0o022] == []


def test_interpreter_is_not_made_where_the_usual_one_will_do(program: Callable[[str, str], Machine]) -> None:
    machine = program("python3", "exit 0")
    runtime.ensure_interpreter(machine)
    assert os.path.exists(_python(machine)) is (sys.platform == "darwin")


def test_runtime_without_packages_names_what_is_missing(clone: Path, real: Machine) -> None:
    runtime.ensure_interpreter(real)
    found = runtime.look(str(clone), real)
    assert found is not None
    assert (list(found.missing), found.outdated) == (NAMES, True)


def test_runtime_without_its_interpreter_is_created_again(
    clone: Path, real: Machine, program: Callable[[str, str], Machine]
) -> None:
    runtime.ensure_interpreter(real)
    os.unlink(_python(real))
    os.symlink("/nowhere/python", _python(real))
    machine = program("uv", "exit 2")
    with pytest.raises(InstallError):
        runtime.build(str(clone), machine, Console(io.StringIO(), io.StringIO()))
    assert os.access(_python(real), os.X_OK)


def test_failure_has_the_programs_last_message(clone: Path, program: Callable[[str, str], Machine]) -> None:
    machine = program("uv", "echo Resolving; echo 'error: no route to host'; echo hint; exit 1")
    with pytest.raises(InstallError, match="no route to host") as caught:
        runtime.build(str(clone), machine, Console(io.StringIO(), io.StringIO()))
    assert "again later" in caught.value.next_step


def test_packages_without_a_lock_are_named(clone: Path, program: Callable[[str, str], Machine]) -> None:
    said = clone.parent / "said"
    machine = program("uv", f'echo "$@" >"{said}"')
    with pytest.raises(InstallError, match="are missing from the runtime"):
        runtime.build(str(clone), machine, Console(io.StringIO(), io.StringIO()))
    assert said.read_text() == f"pip install --python {_python(machine)} {' '.join(NAMES)}\n"


def _answers(have: dict[str, str]) -> Runner:
    return lambda argv, seconds, *_: Outcome(
        0, out=json.dumps({"version": [3, 12, 1], "have": have}) if seconds else argv[0]
    )


def test_complete_runtime_is_not_built_again(root: Path, machine: Machine) -> None:
    machine = dataclasses.replace(machine, run=_answers(dict.fromkeys(NAMES, "1")))
    Path(_python(machine)).parent.mkdir(parents=True)
    Path(_python(machine)).touch(mode=0o755)
    lock = root / "installers" / "locks" / "runtime.txt"
    stamp = Path(machine.home) / "runtime" / "keepmum-lock.txt"
    stamp.write_text(files.digest(lock.read_bytes()) or "")
    built = runtime.build(str(root), machine, Console(io.StringIO(), io.StringIO()))
    assert (built.version, built.missing, built.outdated) == ("3.12.1", (), False)


def test_runtime_of_another_lock_is_outdated(root: Path, machine: Machine) -> None:
    machine = dataclasses.replace(machine, run=_answers(dict.fromkeys(NAMES, "1")))
    Path(_python(machine)).parent.mkdir(parents=True)
    Path(_python(machine)).touch(mode=0o755)
    found = runtime.look(str(root), machine)
    assert found is not None
    assert (found.missing, found.outdated) == ((), True)


@pytest.mark.parametrize("part", [runtime.CORE, runtime.SEMANTIC, runtime.SERVER], ids=["core", "semantic", "server"])
def test_every_dependency_of_a_part_is_locked(root: Path, part: runtime.Part) -> None:
    lock = _lock(root, part)
    assert [name for name in runtime.needed(str(root), part) if f"\n{name}==" not in f"\n{lock}"] == []


def test_every_dependency_belongs_to_one_part(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {re.split(r"[^A-Za-z0-9._-]", text)[0] for text in project["dependencies"]}
    parts = [runtime.needed(str(root), part) for part in (runtime.CORE, runtime.SEMANTIC)]
    assert sorted(named) == sorted(name for part in parts for name in part)


def test_the_later_lock_contains_the_earlier(root: Path) -> None:
    earlier, later = (set(_versions(_lock(root, part))) for part in (runtime.CORE, runtime.SEMANTIC))
    assert earlier - later == set()


@pytest.mark.parametrize("part", [runtime.CORE, runtime.SEMANTIC, runtime.SERVER], ids=["core", "semantic", "server"])
def test_lock_names_no_host(root: Path, part: runtime.Part) -> None:
    assert "://" not in _lock(root, part)


def _lock(root: Path, part: runtime.Part) -> str:
    return (root / "installers" / "locks" / part.lock).read_text(encoding="utf-8")


def _versions(lock: str) -> list[str]:
    return re.findall(r"^[A-Za-z0-9._-]+==\S+", lock, re.MULTILINE)
