"""The dashboard of two server processes over one PostgreSQL behind a round robin, and withdrawals at the other one."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest

import postgres_server
from identity_provider import IdentityProvider
from server_process import TeamServer

HOST = "memory.example"
ORIGIN = {"Origin": f"https://{HOST}", "Host": HOST, "Sec-Fetch-Site": "same-origin"}
ROOT = "the key of the operator"
SECONDS = 5.0  # in which a withdrawal counts at every process


class Tab(NamedTuple):
    """A page with a session, whose calls go to one process after the other."""

    site: Site
    headers: dict[str, str]

    def post(self, path: str, body: object = None) -> Any:
        return self.site.post(path, body or {}, **self.headers)

    def statuses(self, path: str = "/projects", body: object = None) -> set[int]:
        """What both processes answer."""
        return {self.post(path, body).status for _ in self.site.servers}

    def is_refused_in_time(self) -> bool:
        """Whether both processes refuse every call within the promised time."""
        end = time.monotonic() + SECONDS
        while self.statuses() != {401} and time.monotonic() < end:
            time.sleep(0.05)
        return self.statuses() == {401}


class Site:
    """Both processes, and an administrator of every project with a key."""

    def __init__(self, folder: Path, idp: IdentityProvider) -> None:
        environ = {
            "KEEPMUM_SERVER_DATABASE_URL": postgres_server.database("dashboards").app,
            "KEEPMUM_SERVER_SECRET": "0123456789abcdef" * 4,
            "KEEPMUM_SERVER_URL": f"https://{HOST}",
            "KEEPMUM_SERVER_MODEL": "false",
            **idp.environ(),
        }
        self.idp = idp
        self.servers = [TeamServer(folder / name, environ=environ) for name in "ab"]
        self._turns = itertools.cycle(self.servers)
        self._names = (f"person{number}" for number in itertools.count())

    def administer(self, method: str, path: str, body: object = None) -> Any:
        """The answer of the second process to the administrator from the provider."""
        token = self.idp.token(sub="root", preferred_username="root", groups=["owners"])
        answer = self.servers[1].ask(method, f"/api/v2{path}", body, key=token)
        assert answer.status < 300, answer.raw
        return answer.body["data"] if answer.raw else None

    def post(self, path: str, body: object, **headers: str) -> Any:
        """The answer of the next process to the page."""
        return next(self._turns).ask("POST", f"/dashboard{path}", body, key=None, headers={**ORIGIN, **headers})

    def opened(self, answer: Any) -> Tab:
        assert answer.status == 200, answer.raw
        cookie = answer.headers["set-cookie"].partition(";")[0]
        return Tab(self, {"Cookie": cookie, "X-Keepmum-Tab": answer.body["tab"]})

    def person(self, **roles: str) -> tuple[str, dict[str, Any]]:
        """A new person, and a key of theirs."""
        name = next(self._names)
        held = [{"project": project, "role": role} for project, role in roles.items()]
        self.administer("POST", "/people", {"name": name, "roles": held})
        return name, self.administer("POST", "/keys", {"person": name})

    def signed_in(self, key: str) -> Tab:
        return self.opened(self.post("/session", {"key": key}))

    def from_provider(self, **claims: object) -> Tab:
        """The tab of a person who signs in at the provider; what one process begins the next one finishes."""
        self.idp.claims = {"groups": ["developers"], **claims}
        begun = self.post("/provider/begin", {}).body
        location = httpx2.get(begun["address"], timeout=60).headers["location"]
        answered = dict(parse_qsl(urlsplit(location).query))
        return self.opened(self.post("/provider/finish", {"ticket": begun["ticket"], **answered}))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with IdentityProvider() as idp:
        site = Site(tmp_path_factory.mktemp("dashboards"), idp)
        with site.servers[0], site.servers[1]:
            yield site


def test_a_session_is_one_of_all_processes(site: Site) -> None:
    _, key = site.person(api="reader", web="writer")
    tab = site.signed_in(key["key"])
    assert tab.statuses("/api/ask", {"view": "live", "args": {}}) == {200}
    assert tab.post("/project", {"project": "web"}).status == 200
    assert {tab.post("/projects").body["project"] for _ in site.servers} == {"web"}
    assert tab.post("/leave").status == 200
    assert tab.statuses() == {401}


def test_an_end_of_a_process_ends_no_session(tmp_path: Path, site: Site) -> None:
    _, key = site.person(api="reader")
    tab = site.signed_in(key["key"])
    with TeamServer(tmp_path, environ=site.servers[0].environ | {"KEEPMUM_HOME": str(tmp_path)}) as started_later:
        answer = started_later.ask("POST", "/dashboard/projects", {}, key=None, headers={**ORIGIN, **tab.headers})
    assert answer.status == 200


@pytest.mark.parametrize(
    "withdraw",
    [
        pytest.param(lambda site, _, key: site.administer("DELETE", f"/keys/{key['id']}"), id="key withdrawn"),
        pytest.param(lambda site, name, _: site.administer("DELETE", f"/people/{name}"), id="person removed"),
        pytest.param(
            lambda site, name, _: site.administer("PUT", f"/people/{name}/role", {"project": "api", "role": None}),
            id="last role taken away",
        ),
        pytest.param(
            lambda site, _, key: site.administer("POST", f"/keys/{key['id']}/rotate", {"overlap": 0}), id="key expired"
        ),
    ],
)
def test_a_withdrawal_at_one_process_ends_the_session_at_all(
    site: Site, withdraw: Callable[[Site, str, dict[str, Any]], object]
) -> None:
    name, key = site.person(api="writer")
    tab = site.signed_in(key["key"])
    assert tab.statuses() == {200}  # both processes have the key in memory
    withdraw(site, name, key)
    assert tab.is_refused_in_time()


def test_a_lesser_role_counts_within_five_seconds(site: Site) -> None:
    name, key = site.person(api="writer")
    tab = site.signed_in(key["key"])
    change = ("/api/change", {"do": "forget", "args": {"ids": ["none"]}})
    assert tab.statuses(*change) == {404}
    site.administer("PUT", f"/people/{name}/role", {"project": "api", "role": "reader"})
    end = time.monotonic() + SECONDS
    while tab.statuses(*change) != {403} and time.monotonic() < end:
        time.sleep(0.05)
    assert tab.statuses(*change) == {403}


def test_a_removal_ends_the_session_of_who_came_from_the_provider(site: Site) -> None:
    tab = site.from_provider(sub="eve-1", preferred_username="eve")
    assert tab.statuses() == {200}
    site.administer("DELETE", "/people/eve")
    assert tab.is_refused_in_time()
    site.administer("POST", "/people/eve/restore")
    assert tab.statuses() == {401}
    assert site.from_provider(sub="eve-1", preferred_username="eve").statuses() == {200}
