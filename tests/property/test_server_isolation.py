"""No answer of a team's server holds a byte of a project that its key may not read."""

from __future__ import annotations

import json
import unittest.mock
from pathlib import Path

import pytest

from isolation import Attack, a_team, without_the_filter
from keepmum.stores import guarded
from keepmum.stores.sqlite import SqliteStore
from server_app import client_of, keys

ENGINES = ("sqlite", "postgres")
CALLS = 120  # `python tests/isolation.py` makes 20,000


@pytest.mark.parametrize("engine", ENGINES)
def test_tenants_find_nothing_of_each_other(engine: str, tmp_path: Path) -> None:
    with a_team(engine, tmp_path) as team:
        attack = Attack(team, name="one")
        attack.run(CALLS)
        assert attack.leaks == []
        assert team.shared.faults == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_the_second_lock_holds_alone(engine: str, tmp_path: Path) -> None:
    with a_team(engine, tmp_path) as team, without_the_filter():
        attack = Attack(team, name="two", only_memories=True)
        attack.run(CALLS)
        assert attack.leaks == []


def test_without_both_locks_the_attack_succeeds(tmp_path: Path) -> None:
    """So the tests above would find a leak."""
    lock = guarded._Lock
    with (
        a_team("sqlite", tmp_path) as team,
        without_the_filter(),
        unittest.mock.patch.object(SqliteStore, "within", lambda store, _: store),
        unittest.mock.patch.object(lock, "reads", return_value=True),
        unittest.mock.patch.object(lock, "among", lambda _, projects: projects),
    ):
        attack = Attack(team, only_memories=True)
        attack.run(100)
        assert any("a text of tenant" in leak for leak in attack.leaks)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_anothers_is_answered_as_what_is_not_there(engine: str, tmp_path: Path) -> None:
    with a_team(engine, tmp_path) as team:
        attack = Attack(team, name="three")
        attack.run(0)
        assert attack.restarted().pairs(2)[0] == []


def test_who_administers_a_project_does_not_learn_a_persons_other_roles(tmp_path: Path) -> None:
    with a_team("sqlite", tmp_path) as team:
        attack = Attack(team)
        tenant, other = attack.tenants[:2]
        body = json.dumps({"project": tenant.project, "role": "reader"}).encode()
        headers = {"authorization": f"Bearer {tenant.key}", "content-type": "application/json"}
        with attack.client as client:
            answer = client.ask("PUT", f"/api/v2/people/{other.person}/role", None, headers, body)
        assert (answer.status, other.project in answer.raw.decode()) == (200, False)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_key_in_a_session_tells_nothing_about_a_session_of_the_same_name(engine: str, tmp_path: Path) -> None:
    projects = [f"session-{engine}-{name}" for name in ("alpha", "beta")]
    with client_of(engine, tmp_path, keys(ada=[projects[0]], bob=[projects[1]])) as client:

        def write(who: str, project: str, key: str, text: str) -> tuple[int, list[str]]:
            body = {"text": text, "scope": "session", "session": "s-1", "key": key, "project": project}
            answer = client.post("/api/v2/memories", json=body, headers={"authorization": f"Bearer {who}"})
            return answer.status_code, sorted(answer.json()["data"])

        assert write("ada", projects[0], "release/branch", "main")[0] == 201
        taken, free = (write("bob", projects[1], f"release/{name}", name) for name in ("branch", "tag"))
        assert taken == free == (201, ["id", "revision"])
        assert write("bob", projects[1], "release/branch", "another")[0] == 200
