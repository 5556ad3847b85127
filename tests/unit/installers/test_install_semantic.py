"""Vector search is installed last, reports what is missing, and stops nothing else."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from keepmum.embedding.local_model import MINILM
from keepmum_installers import files, leftovers, runtime, semantic
from keepmum_installers.console import Console
from keepmum_installers.errors import InstallError
from keepmum_installers.machine import Machine, run

Prepared = Callable[[str], Machine]


@pytest.fixture
def complete(clone: Path, machine: Machine) -> Prepared:
    """A machine whose runtime has every package; its interpreter runs the script for all other commands."""

    def make(script: str) -> Machine:
        folder = Path(machine.home) / "runtime"
        (folder / "bin").mkdir(parents=True)
        names = [*runtime.needed(str(clone)), *runtime.needed(str(clone), runtime.SEMANTIC)]
        answer = json.dumps({"version": [3, 12, 1], "have": dict.fromkeys(names, "1")})
        python = folder / "bin" / "python"
        python.write_text(f"#!/bin/sh\ncase $2 in -c) echo '{answer}'; exit 0;; esac\n{script}\n", encoding="utf-8")
        python.chmod(0o755)
        (folder / "keepmum-semantic-lock.txt").write_text(files.digest(b"") or "", encoding="utf-8")
        return dataclasses.replace(machine, run=run)

    return make


def put_model(machine: Machine) -> Path:
    """The folder of a model with all of its files."""
    folder = Path(MINILM.folder(machine.home))
    folder.mkdir(parents=True)
    for name in MINILM.installed:
        (folder / name).touch()
    return folder


def about(clone: Path, machine: Machine) -> list[tuple[str, str]]:
    return [(finding.level, finding.says) for finding in semantic.check(str(clone), machine)]


def test_the_plan_has_a_line_when_it_is_missing(clone: Path, machine: Machine) -> None:
    assert "a model of 84 MB (--no-semantic:" in semantic.plan(str(clone), machine)


def test_a_complete_machine_needs_nothing(clone: Path, complete: Prepared, capfd: pytest.CaptureFixture[str]) -> None:
    machine = complete("echo it was run; exit 1")
    put_model(machine)
    semantic.prepare(str(clone), machine, Console())
    assert semantic.plan(str(clone), machine) == ""
    assert capfd.readouterr().out == "Vector search: ready.\n"


def test_the_runtime_downloads_the_model_into_this_home(
    clone: Path, complete: Prepared, capfd: pytest.CaptureFixture[str]
) -> None:
    machine = complete('echo "$* for $KEEPMUM_HOME"')
    semantic.prepare(str(clone), machine, Console())
    launch = os.path.join(clone, "plugin", "launch.py")
    assert f"-I {launch} model install for {machine.home}\n" in capfd.readouterr().out


def test_a_failed_download_is_an_error_with_the_command(clone: Path, complete: Prepared) -> None:
    with pytest.raises(InstallError, match="the model could not be downloaded") as caught:
        semantic.prepare(str(clone), complete("exit 1"), Console())
    assert "`keepmum model install`" in caught.value.next_step


def test_the_doctor_says_nothing_without_a_runtime(clone: Path, machine: Machine) -> None:
    assert about(clone, machine) == []


def test_the_doctor_reports_a_missing_model(clone: Path, complete: Prepared) -> None:
    assert about(clone, complete("")) == [("note", "is lexical only: the model is not installed")]


def test_the_doctor_reports_missing_packages(clone: Path, complete: Prepared) -> None:
    machine = complete("")
    (Path(machine.home) / "runtime" / "keepmum-semantic-lock.txt").unlink()
    put_model(machine)
    assert about(clone, machine) == [("note", "is lexical only: packages are missing")]


def test_the_doctor_reports_a_complete_installation(clone: Path, complete: Prepared) -> None:
    machine = complete("")
    put_model(machine)
    assert about(clone, machine) == [("ok", "lexical and by vectors, with all-MiniLM-L6-v2")]


def test_uninstalling_removes_the_model_and_keeps_other_files(machine: Machine) -> None:
    folder = put_model(machine)
    (folder.parent / "lock").touch()
    Path(f"{folder}.part").mkdir()
    (folder.parent / "of-somebody-else").touch()
    leftovers.clear(machine)
    assert os.listdir(folder.parent) == ["of-somebody-else"]


def test_lexical_search_by_choice_is_not_a_finding_to_act_on(clone: Path, complete: Prepared) -> None:
    machine = complete("exit 0")
    assert [level for level, _ in about(clone, machine)] == ["note"]
    semantic.decline(machine)
    ((level, says),) = about(clone, machine)
    assert (level, says.partition(";")[0]) == ("ok", "is lexical only, as chosen")
    put_model(machine)
    assert [level for level, _ in about(clone, machine)] == ["ok"]


def test_an_install_with_vector_search_revokes_the_choice(clone: Path, complete: Prepared) -> None:
    machine = complete("exit 0")
    semantic.decline(machine)
    semantic.prepare(str(clone), machine, Console())
    assert [level for level, _ in about(clone, machine)] == ["note"]
