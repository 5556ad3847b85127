"""Keys of a running server: made on its machine, used over HTTP, withdrawn; and the audit log of all that."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from git import Repo

import bytecode
from server_process import TeamServer, without_comments

LAUNCH = Path(__file__).resolve().parents[2] / "plugin" / "launch.py"
MEMORY = {"text": "Deploys go through the blue pool", "title": "Deploys", "project": "api"}


def _command(
    home: Path, *arguments: str, status: int = 0, python: tuple[str, ...] = ("-I",), given: str = "", at: str = "."
) -> str:
    """What a command says that is run in the folder `at` and reads what is `given`."""
    bytecode.share(home)
    environ = {"PATH": os.defpath, "HOME": str(home), "KEEPMUM_HOME": str(home)}
    command = [sys.executable, *python, str(LAUNCH), *arguments]
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=60, check=False, input=given, cwd=at
    )
    assert done.returncode == status, done.stderr
    return done.stdout + (done.stderr if status else "")


class Site:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.root = _command(home, "serve", "init").strip()
        _command(home, "people", "add", "ada", "--role", "writer", "--project", "api")
        self.ada = _command(home, "keys", "make", "ada", "--name", "laptop").strip()
        self.server = TeamServer(home, environ={"API_KEYS": ""})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("server"))
    with site.server:
        yield site


def test_a_key_writes_in_its_persons_name(site: Site) -> None:
    assert site.server.ask("POST", "/api/v1/memories", MEMORY, key=site.ada).status == 201
    rows = site.server.ask("GET", "/api/v2/audit?project=api", key=site.root).body["data"]
    assert ("ada", "created", "api") in {(row["actor"], row["action"], row["project"]) for row in rows}


def test_a_laptop_learns_for_which_project_its_key_has_no_role(site: Site, tmp_path: Path) -> None:
    origin = f"http://127.0.0.1:{site.server.port}"
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir(mode=0o700)
    Repo.init(other).create_remote("origin", "https://github.com/acme/other.git").repo.close()
    _command(home, "login", origin, given=f"{site.ada}\n")
    _command(home, "backend", "use", origin)
    for command in (("remember", "Blue first"), ("backend", "test"), ("doctor",)):
        said = _command(home, *command, status=1, at=str(other))
        assert "no role in the project github.com/acme/other" in said
    assert "no memories" in _command(home, "recall", "blue", status=1, at=str(other))
    (other / ".keepmum.toml").write_text('project = "api"\n', encoding="utf-8")
    for command in (("remember", "Blue first"), ("backend", "test"), ("recall", "blue")):
        _command(home, *command, at=str(other))
    _command(home, "doctor", at=str(other))


def test_a_second_start_makes_no_second_key(site: Site) -> None:
    assert _command(site.home, "serve", "init") == ""


def test_a_command_without_the_servers_packages_says_how_to_install_them(tmp_path: Path) -> None:
    without = ("-I", "-S")  # no packages
    _command(tmp_path, "serve", "init", python=without)
    _command(tmp_path, "serve", "backup", str(tmp_path / "one.backup"), python=without)
    database = ("--database", "postgresql://127.0.0.1:1/x")
    for action in (("init", *database), ("move", *database), ("restore", f"{tmp_path}/one.backup", "--yes", *database)):
        said = _command(tmp_path, "serve", *action, status=1, python=without)
        assert "psycopg is missing; install the server's packages with `keepmum install --server`" in said


def test_a_writer_administers_nothing(site: Site) -> None:
    for method, path, body in (
        ("GET", "/api/v2/people", None),
        ("GET", "/api/v2/people?removed=true", None),
        ("POST", "/api/v2/people", {"name": "eve"}),
        ("POST", "/api/v2/people/eve/restore", None),
        ("POST", "/api/v2/keys", {"person": "ada"}),
        ("GET", "/api/v2/audit", None),
        ("GET", "/api/v2/audit/verification", None),
    ):
        assert site.server.ask(method, path, body, key=site.ada).status == 403
    other = site.root[4:12]
    assert site.server.ask("DELETE", f"/api/v2/keys/{other}", key=site.ada).status == 404
    assert site.server.ask("POST", f"/api/v2/keys/{other}/rotate", {}, key=site.ada).status == 404


def test_an_administrator_of_a_project_sees_and_changes_only_that(site: Site) -> None:
    ask = site.server.ask
    bob = ask("POST", "/api/v2/people", {"name": "bob", "roles": [{"project": "web", "role": "admin"}]}, key=site.root)
    key = ask("POST", "/api/v2/keys", {"person": "bob"}, key=site.root).body["data"]["key"]
    assert [person["name"] for person in ask("GET", "/api/v2/people", key=key).body["data"]] == ["bob"]
    path = f"/api/v2/people/{bob.body['data']['id']}/role"
    assert ask("PUT", path, {"project": "api", "role": "reader"}, key=key).status == 403
    assert ask("PUT", path, {"project": "*", "role": "reader"}, key=key).status == 403
    ada = next(each["id"] for each in ask("GET", "/api/v2/people", key=site.root).body["data"] if each["name"] == "ada")
    given = ask("PUT", f"/api/v2/people/{ada}/role", {"project": "web", "role": "reader"}, key=key)
    assert given.status == 200
    assert ask("POST", "/api/v2/people", {"name": "eve"}, key=key).status == 403
    audit = ask("GET", "/api/v2/audit", key=key).body["data"]
    assert {row["project"] for row in audit} == {"web"}
    assert ask("GET", "/api/v2/audit?project=api", key=key).status == 403
    assert ask("GET", "/api/v2/people?removed=true", key=key).status == 403


def test_a_key_may_rotate_and_withdraw_itself(site: Site) -> None:
    ask = site.server.ask
    ask("POST", "/api/v2/people", {"name": "carol", "roles": [{"project": "api", "role": "reader"}]}, key=site.root)
    made = ask("POST", "/api/v2/keys", {"person": "carol", "name": "one"}, key=site.root).body["data"]
    rotate = f"/api/v2/keys/{made['id']}/rotate"
    assert ask("POST", rotate, {"days": 3_650}, key=made["key"]).status == 400
    new = ask("POST", rotate, {"overlap": 1}, key=made["key"]).body["data"]["key"]
    assert ask("DELETE", f"/api/v2/keys/{made['id']}", key=made["key"]).status == 204
    assert ask("GET", "/api/v2/keys", key=made["key"]).status == 401
    listed = ask("GET", "/api/v2/keys", key=new)
    assert [(key["name"], key["withdrawn_at"] is None) for key in listed.body["data"]] == [
        ("one", False),
        ("one", True),
    ]
    assert new.encode() not in listed.raw


def test_a_key_that_is_withdrawn_on_the_machine_counts_no_more_within_five_seconds(site: Site) -> None:
    _command(site.home, "people", "add", "dan", "--role", "reader", "--all")
    key = _command(site.home, "keys", "make", "dan").strip()
    assert site.server.ask("GET", "/api/v2/keys", key=key).status == 200
    stream = http.client.HTTPConnection("127.0.0.1", site.server.port, timeout=60)
    stream.request("GET", "/api/v2/events", headers={"Authorization": f"Bearer {key}"})
    events = stream.getresponse()
    _command(site.home, "keys", "withdraw", key[4:12], "--yes")
    assert site.server.refuses(key)
    assert without_comments(events.read()) == b"retry: 2000\n\n"  # the stream ends too
    stream.close()


def test_a_removed_person_is_restored_by_the_api_and_on_the_machine(site: Site) -> None:
    _command(site.home, "people", "add", "fay", "--role", "reader", "--all")
    key = _command(site.home, "keys", "make", "fay").strip()
    ask, path = site.server.ask, "/api/v2/people/fay"
    assert ask("DELETE", path, key=site.root).status == 204
    assert "fay  " in _command(site.home, "people", "list", "--removed")
    assert [each["name"] for each in ask("GET", "/api/v2/people?removed=true", key=site.root).body["data"]] == ["fay"]
    assert "fay" not in {each["name"] for each in ask("GET", "/api/v2/people", key=site.root).body["data"]}
    restored = ask("POST", f"{path}/restore", key=site.root)
    assert (restored.status, restored.body["data"]["name"]) == (200, "fay")
    assert ask("POST", f"{path}/restore", key=site.root).status == 404
    assert ask("GET", "/api/v2/keys", key=key).status == 401
    _command(site.home, "people", "remove", "fay", "--yes")
    assert "reader of every project" in _command(site.home, "people", "restore", "fay")
    assert ask("GET", "/api/v2/keys", key=_command(site.home, "keys", "make", "fay").strip()).status == 200


def test_good_keys_are_served_during_a_storm_of_wrong_ones(site: Site) -> None:
    def ask(number: int) -> int:
        key = site.ada if number % 4 == 0 else f"{site.ada[:-6]}{number:06}"
        return site.server.ask("GET", "/api/v2/keys", key=key).status

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(80)))
    assert set(answers[::4]) == {200}
    wrong = [status for number, status in enumerate(answers) if number % 4]
    assert set(wrong) <= {401, 429}
    assert wrong.count(429) >= 40


def test_a_key_stays_out_of_logs_and_files(tmp_path: Path) -> None:
    site = Site(tmp_path)
    with site.server as server:
        keys = [site.root, site.ada]
        server.ask("POST", "/api/v1/memories", {**MEMORY, "text": f"the key is {site.ada}"}, key=site.ada)
        server.ask("POST", "/api/v1/memories", {**MEMORY, "title": site.ada}, key=site.ada)
        server.ask("GET", f"/api/v2/keys?key={site.ada}", key=site.ada)
        server.ask("GET", f"/api/v2/{site.ada}", key=site.ada + "x")
        keys.append(server.ask("POST", "/api/v2/keys", {"person": "ada"}, key=site.root).body["data"]["key"])
        assert server.stop() == 0
    log = "".join(server.log)
    assert "audit" in [json.loads(line)["event"] for line in log.splitlines()]
    written = [log.encode(), *(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())]
    for key in keys:
        for content in written:
            assert key.encode() not in content
            assert key[13:50].encode() not in content


def test_a_lost_secret_is_not_replaced(tmp_path: Path) -> None:
    _command(tmp_path, "serve", "init")
    (tmp_path / "server" / "server.key").unlink()
    assert "secret is missing" in _command(tmp_path, "serve", "run", "--port", "0", status=1)


def test_an_agents_session_makes_no_keys(tmp_path: Path) -> None:
    environ = {"PATH": os.defpath, "HOME": str(tmp_path), "KEEPMUM_HOME": str(tmp_path), "CLAUDECODE": "1"}
    command = [sys.executable, "-I", str(LAUNCH), "serve", "init"]
    done = subprocess.run(command, env=environ, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
