"""The model that all requests of a server share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keepmum.embedding.background import BackgroundEmbedder
from keepmum.embedding.fake import FakeEmbedder
from keepmum.service import Place, team_model
from keepmum.service.team import ORGANISATION, Grant, Team, TeamSqliteSpec
from keepmum.stores.shared import open_shared
from keepmum.workspace.allowlist import AllowlistScanner

Opened = Callable[[BackgroundEmbedder], Team]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    teams: list[Team] = []

    def start(embedder: BackgroundEmbedder) -> Team:
        teams.append(Team(open_shared(TeamSqliteSpec(str(tmp_path / "memory.db"))), AllowlistScanner(None), embedder))
        teams[-1].start()
        return teams[-1]

    yield start
    for team in teams:
        team.close()


def _wait_for(state: str, team: Team) -> None:
    ended = threading.Event()
    for _ in range(1_200):
        if team.meaning == state:
            return
        ended.wait(0.05)
    raise AssertionError(team.meaning)


def _cosine(team: Team) -> float | None:
    with team.service(
        Grant(ORGANISATION), actor="ada", place=Place(project="api", name="api"), origin="rest"
    ) as service:
        service.remember("blue pools are deployed first")
        (match,) = service.recall("blue pools", weak=True)
    return None if match.legs is None else match.legs.cosine


def test_a_search_uses_the_model_once_it_is_open(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team_model, "_WAIT", 600.0)  # seconds; a search waits for its vector on a busy machine too
    team = opened(BackgroundEmbedder(FakeEmbedder))
    _wait_for("ready", team)
    assert team.model_ready
    assert _cosine(team) is not None


def test_until_then_it_is_lexical_and_waits_for_nothing(opened: Opened) -> None:
    may_open = threading.Event()

    def open_late() -> FakeEmbedder:
        may_open.wait(600)
        return FakeEmbedder()

    team = opened(BackgroundEmbedder(open_late))
    assert (team.meaning, team.model_ready) == ("loading", False)
    assert _cosine(team) is None
    may_open.set()


def test_a_model_that_cannot_be_opened_is_off(opened: Opened) -> None:
    def fail() -> FakeEmbedder:
        raise RuntimeError("damaged")

    team = opened(BackgroundEmbedder(fail))
    _wait_for("off", team)
    assert _cosine(team) is None
