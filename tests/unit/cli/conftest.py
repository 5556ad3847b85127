"""A fixture that runs commands of the command line."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from keepmum.cli import main as cli


class Answer(NamedTuple):
    """Exit status, standard output and standard error of a command."""

    status: int
    out: str
    err: str


Command = Callable[..., Answer]


@pytest.fixture
def keepmum(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs one command; `stdin` is piped into it."""

    def run(*words: str, stdin: bytes = b"") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        try:
            status = cli.main(list(words))
        except SystemExit as end:  # argparse refuses in this way
            status = int(str(end.code))
        return Answer(status, *capsys.readouterr())

    return run
