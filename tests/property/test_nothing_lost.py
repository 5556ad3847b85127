"""What a team's server shows is the same after a move to another engine, and after backup, loss and restore."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import isolation
import postgres_server
from keepmum.service import team_backup
from keepmum.service.team import (
    ORGANISATION,
    Grant,
    PostgresSpec,
    Team,
    TeamSqliteSpec,
    open_shared,
    open_team,
)
from keepmum.stores.shared import SharedSpec
from keepmum.stores.team_traces import TRACES
from keepmum_scanner import scan
from visible import visible

CALLS = 60
ENGINES = ("sqlite", "postgres")


def _spec(engine: str, folder: Path, name: str) -> SharedSpec:
    if engine == "postgres":
        return PostgresSpec(postgres_server.database(f"lost_{name}").app)
    return TeamSqliteSpec(str(folder / name / "memory.db"))


@contextlib.contextmanager
def _opened(spec: SharedSpec) -> Iterator[Team]:
    with contextlib.closing(open_team(spec, scan)) as team:
        yield team


def _used(team: Team, seed: int) -> isolation.Attack:
    """Five people who use every route and tool of the server at random, and decide reviews."""
    attack = isolation.Attack(team, seed)
    attack.run(CALLS)
    attack.restarted()
    dice = random.Random(seed)
    with attack.client as client:
        for tenant in attack.tenants[:2]:
            headers = {"authorization": f"Bearer {tenant.key}", "content-type": "application/json"}

            def post(path: str, body: Any, headers: dict[str, str] = headers) -> int:
                raw = json.dumps(body).encode()
                return client.ask("POST", path, None, headers, raw).status

            held = attack.held[tenant.project]
            once = {"idempotency-key": f"a-{tenant.number}"}
            new = {"text": "The pool is drained by hand", "project": tenant.project}
            assert post("/api/v2/memories", new, {**headers, **once}) == 201
            for memory, action in itertools.product(dice.sample(held, 2), ("pin", "wrong", "restore")):
                post(f"/api/v2/memories/{memory.id}/{action}", {"reason": "not so"} if action == "wrong" else {})
    reviews = team.shared.acting(Grant(ORGANISATION)).features.review_state
    assert reviews is not None
    reviews.postpone("an-item", time.time_ns() // 1_000_000, None)
    return attack


def _all(team: Team, attack: isolation.Attack, key: str) -> dict[str, Any]:
    """What an administrator is shown, and what is kept without being shown."""
    team.records.seal()
    kept: dict[str, Any] = {trace: list(team.records.traces.rows(trace)) for trace in TRACES}
    return {**kept, **visible(team, isolation._SECRET, key, [tenant.project for tenant in attack.tenants[:2]])}


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands still, so that ages are the same."""
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now)


@pytest.mark.usefixtures("stopped")
@pytest.mark.parametrize("engine", ENGINES)
def test_after_backup_and_restore(engine: str, tmp_path: Path) -> None:
    backup = str(tmp_path / "one.backup")
    with _opened(_spec(engine, tmp_path, "before")) as team:
        attack = _used(team, seed=1)
        key = _administrator(attack)
        team_backup.back_up(team.shared, backup)
        before = _all(team, attack, key)
    with team_backup.opened(backup, str(tmp_path / "work")) as (_, database, _):
        spec: SharedSpec = TeamSqliteSpec(database)
        if engine == "postgres":
            spec = _spec(engine, tmp_path, "after")
            with (
                contextlib.closing(open_shared(TeamSqliteSpec(database))) as source,
                contextlib.closing(open_shared(spec)) as target,
            ):
                team_backup.copy(source, target)
        with _opened(spec) as team:
            _compare(before, _all(team, attack, key))


@pytest.mark.usefixtures("stopped")
def test_after_a_move(tmp_path: Path) -> None:
    target = _spec("postgres", tmp_path, "moved")
    with _opened(_spec("sqlite", tmp_path, "before")) as team:
        attack = _used(team, seed=2)
        key = _administrator(attack)
        with contextlib.closing(open_shared(target)) as shared:
            team_backup.copy(team.shared, shared)
        before = _all(team, attack, key)
    with _opened(target) as team:
        _compare(before, _all(team, attack, key))


def _administrator(attack: isolation.Attack) -> str:
    """A key of somebody who may see everything."""
    attack.people.add("root", {"*": "admin"})
    return attack.people.make_key("root", "laptop").text


def _compare(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert all(before[trace] for trace in TRACES)
    assert set(before) == set(after)
    assert [request for request in before if before[request] != after[request]] == []
