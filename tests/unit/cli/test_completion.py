"""The completion scripts, in the shells themselves."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from keepmum.cli.commands import COMMANDS
from keepmum.cli.completion import SHELLS, script


def _needs(shell: str) -> str:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"no {shell} on this machine")
    return path


def _bash(*words: str) -> list[str]:
    """What bash offers for the last word of a command line."""
    code = (
        f'{script("bash")}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _keepmum; printf \'%s\\n\' "${{COMPREPLY[@]}}"'
    )
    command = [_needs("bash"), "--norc", "-c", code, "bash", "keepmum", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()


def test_bash_completes_commands() -> None:
    assert _bash("rec") == ["recall"]
    assert set(COMMANDS) <= set(_bash(""))


def test_bash_completes_options_of_a_command_after_its_arguments() -> None:
    assert _bash("recall", "pool", "--ex") == ["--explain"]


def test_bash_completes_commands_of_a_command() -> None:
    assert _bash("review", "acc") == ["accept"]
    assert "--until" in _bash("review", "do", "--")


def test_bash_completes_an_alias_as_its_command() -> None:
    assert _bash("search", "--js") == ["--json"]


def test_fish_completes_commands_and_options() -> None:
    def offered(line: str) -> list[str]:
        command = [_needs("fish"), "--no-config", "-c", f"{script('fish')}\ncomplete -C '{line}'"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
        return [line.split("\t")[0] for line in lines]

    assert offered("keepmum rec") == ["recall"]
    assert offered("keepmum recall --ex") == ["--explain"]


@pytest.mark.parametrize("shell", sorted(SHELLS))
def test_a_shell_reads_its_script(shell: str) -> None:
    done = subprocess.run(
        [_needs(shell), "-n"], input=script(shell), capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_no_description_ends_a_quotation_early() -> None:
    for line in script("zsh").splitlines():
        assert line.count("'") % 2 == 0, line
