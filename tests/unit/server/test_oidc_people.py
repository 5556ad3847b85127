"""People of an identity provider on a server: who they are in its records, and how they sign in to the dashboard."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from starlette.testclient import TestClient

from identity_provider import CLIENT, IdentityProvider
from keepmum.core.errors import KeepmumError
from keepmum.server import lifecycle
from keepmum.server.app import build
from keepmum.server.people.administration import Administration
from keepmum.server.people.keys import KeyRing
from keepmum.server.people.oidc.claims import Rules, parse_target
from keepmum.server.people.oidc.members import Members
from keepmum.server.settings import ServerSettings
from keepmum.service.team import Person, Team, TeamSqliteSpec, open_team
from keepmum.workspace.allowlist import AllowlistScanner
from keepmum_scanner import scan

SECRET = b"a secret for tests only"
ORIGIN = "http://127.0.0.1:3100"
DISCOVERY = "/.well-known/openid-configuration"
API_KEYS = '[{"key": "a key of another system", "name": "ci-bot", "projects": null}]'


class Served:
    """A server that trusts the provider."""

    def __init__(self, client: TestClient, idp: IdentityProvider, team: Team) -> None:
        self.client, self.idp, self.team = client, idp, team
        self.admin = Administration(team.records, SECRET, scan, "root")

    def ask(self, **claims: Any) -> httpx2.Response:
        """The answer to a person with these claims who asks for their keys."""
        headers = {"Authorization": f"Bearer {self.idp.token(**claims)}"}
        return self.client.get("/api/v2/keys", headers=headers)

    def post(self, path: str, body: object, **headers: str) -> httpx2.Response:
        return self.client.post(f"/dashboard{path}", json=body, headers={"Origin": ORIGIN, **headers})

    def begun(self) -> dict[str, str]:
        """The answer of the provider to a sign-in that the dashboard began, with the ticket."""
        begun = self.post("/provider/begin", {}).json()
        location = httpx2.get(begun["address"], timeout=60).headers["location"]
        assert location.startswith(f"{ORIGIN}/dashboard/sign-in.html?")
        return {"ticket": begun["ticket"], **dict(parse_qsl(urlsplit(location).query))}

    def finish(self, **changed: object) -> httpx2.Response:
        return self.post("/provider/finish", {**self.begun(), **changed})

    @property
    def people(self) -> list[Person]:
        return [person for person in self.team.records.people() if person.id.startswith("o_")]


@pytest.fixture
def idp() -> Iterator[IdentityProvider]:
    with IdentityProvider() as running:
        yield running


@contextlib.contextmanager
def _serving(folder: Path, idp: IdentityProvider, **more: object) -> Iterator[Served]:
    with contextlib.closing(open_team(TeamSqliteSpec(str(folder / "memory.db")), AllowlistScanner(None))) as team:
        settings = ServerSettings(str(folder), api_keys=API_KEYS, **idp.settings(**more))  # type: ignore[arg-type]
        app = build(team, KeyRing(team.records, SECRET), settings)
        with TestClient(app, base_url=ORIGIN) as client:
            yield Served(client, idp, team)


@pytest.fixture
def served(tmp_path: Path, idp: IdentityProvider) -> Iterator[Served]:
    with _serving(tmp_path, idp) as running:
        yield running


# -- people


def test_a_person_keeps_the_name_of_their_first_request(served: Served) -> None:
    assert served.ask().status_code == 200
    assert served.ask(preferred_username="queen").status_code == 200
    assert [(person.name, person.roles) for person in served.people] == [("ada", {})]
    served.team.records.seal()
    entry = served.team.records.audit()
    assert [(row.action, row.subject) for row in entry] == [("person-added", served.people[0].id)]
    assert entry[0].actor == f"provider:{urlsplit(served.idp.issuer).netloc}"


@pytest.mark.parametrize("name", ["ann", "gone", "ci-bot"])
def test_nobody_gets_a_name_that_another_has_or_had(served: Served, name: str) -> None:
    served.admin.add("ann", {"api": "reader"})
    served.admin.add("gone", {"api": "reader"})
    served.admin.add("root", {"*": "admin"})
    served.admin.remove("gone")
    assert served.ask(preferred_username=name).status_code == 200
    assert [person.name for person in served.people] == [f"{name}-{served.people[0].id[2:6]}"]


@pytest.mark.parametrize(
    ("claimed", "name"),
    [
        ("Ada Lovelace", "Ada Lovelace"),
        ("ada@acme.example", "ada@acme.example"),
        ("auth0|ada\n<b>", "auth0-ada--b-"),
        ("operator:root", "operator-root"),
        ("ä" * 80, "ä" * 64),
    ],
)
def test_a_name_of_the_provider_is_made_usable(served: Served, claimed: str, name: str) -> None:
    assert served.ask(preferred_username=claimed).status_code == 200
    assert served.people[0].name == name


@pytest.mark.parametrize("claimed", ["erased-ada", "...", "kmt_" + "a" * 8 + "_" + "B" * 49])
def test_a_name_that_cannot_be_used_is_replaced(served: Served, claimed: str) -> None:
    assert served.ask(preferred_username=claimed).status_code == 200
    assert served.people[0].name == f"person-{served.people[0].id[2:10]}"


def test_who_has_no_role_is_not_noted(served: Served) -> None:
    reply = served.ask(groups=["strangers"])
    assert reply.status_code == 403
    assert served.people == []


def test_a_role_that_is_given_here_counts_in_addition(served: Served) -> None:
    served.ask(groups=["readers"])
    headers = {"Authorization": f"Bearer {served.idp.token(groups=['readers'], jti='2')}"}
    memory = {"text": "Deploys go through the blue pool", "title": "Deploys", "project": "api"}
    assert served.client.post("/api/v1/memories", json=memory, headers=headers).status_code == 403
    served.admin.set_role("ada", "api", "writer")
    headers = {"Authorization": f"Bearer {served.idp.token(groups=['readers'], jti='3')}"}
    assert served.client.post("/api/v1/memories", json=memory, headers=headers).status_code == 201


def test_who_was_removed_here_is_refused_whatever_the_provider_says(served: Served) -> None:
    assert served.ask().status_code == 200
    served.admin.add("root", {"*": "admin"})
    served.admin.remove("ada")
    assert served.ask(jti="another token").status_code == 401


def test_who_was_removed_here_can_be_admitted_again(served: Served) -> None:
    served.ask()
    before = served.people
    served.admin.add("root", {"*": "admin"})
    served.admin.remove("ada")
    assert served.ask(jti="while removed").status_code == 401
    served.admin.restore("ada")
    assert served.ask(jti="after").status_code == 200
    assert served.people == before


def test_people_of_two_issuers_with_one_subject_are_two(served: Served) -> None:
    names = []
    for issuer in ("https://one.example", "https://two.example"):
        members = _members(served, issuer)
        found = members.find("eyJ.e.s")
        assert found is not None
        names.append((found.id, found.name))
    assert len(set(names)) == 2
    assert names[0][1] != names[1][1]


def test_many_first_requests_at_once_make_one_person(served: Served) -> None:
    members = [_members(served, "https://one.example") for _ in range(2)]  # as in two processes
    found: list[object] = []

    def ask(number: int) -> None:
        found.append(members[number % 2].find(f"eyJ.{number}.s"))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(set(map(repr, found))) == 1
    assert len(found) == 8
    assert len(served.people) == 1


def _members(served: Served, issuer: str) -> Members:
    rules = Rules("name", "groups", "", {"developers": parse_target("writer api")})
    claims = {"sub": "1", "name": "ada", "groups": ["developers"]}
    return Members(issuer, lambda _: claims, rules, served.team.records, scan)


def test_a_token_is_read_again_after_two_seconds(served: Served) -> None:
    now, counts = [0.0], [True]
    rules = Rules("name", "groups", "", {"developers": parse_target("writer api")})
    claims = {"sub": "1", "name": "ada", "groups": ["developers"]}
    members = Members(
        "https://one.example", lambda _: claims if counts[0] else None, rules, served.team.records, scan,
        clock=lambda: now[0],
    )  # fmt: skip
    assert not members.answers_at_once("eyJ.e.s")
    assert members.find("eyJ.e.s")
    assert members.answers_at_once("eyJ.e.s")
    counts[0] = False
    assert members.find("eyJ.e.s")
    now[0] = 2.0
    assert members.find("eyJ.e.s") is None


def test_the_operator_learns_what_is_wrong_with_the_provider(tmp_path: Path, idp: IdentityProvider) -> None:
    def check(**more: object) -> list[str]:
        return lifecycle.check(ServerSettings(str(tmp_path), **idp.settings(**more)), scan)  # type: ignore[arg-type]

    assert f"provider  {idp.issuer}, keys: 1" in check()
    with pytest.raises(KeepmumError, match="another issuer"):
        check(oidc_issuer=f"{idp.issuer}/")


# -- the metadata


def test_clients_learn_where_to_get_a_token(served: Served) -> None:
    known = served.client.get("/.well-known/oauth-protected-resource/mcp").json()
    assert known["authorization_servers"] == [served.idp.issuer]
    assert "scopes_supported" not in known
    challenge = served.client.post("/mcp").headers["www-authenticate"]
    assert challenge == f'Bearer resource_metadata="{ORIGIN}/.well-known/oauth-protected-resource/mcp"'


def test_clients_ask_for_the_scopes_of_the_settings(tmp_path: Path, idp: IdentityProvider) -> None:
    with _serving(tmp_path, idp, oidc_scopes=("memories:read", "memories:write")) as served:
        known = served.client.get("/.well-known/oauth-protected-resource/mcp").json()
        assert known["scopes_supported"] == ["memories:read", "memories:write"]
        headers = {"Authorization": "Bearer " + idp.token(exp=1)}
        challenge = served.client.post("/mcp", headers=headers).headers["www-authenticate"]
    assert challenge.startswith('Bearer error="invalid_token", resource_metadata=')
    assert challenge.endswith('scope="memories:read memories:write"')


def test_every_client_with_an_expired_token_learns_it(served: Served) -> None:
    for _ in range(15):
        reply = served.client.post("/mcp", headers={"Authorization": "Bearer " + served.idp.token(exp=1)})
        assert (reply.status_code, 'error="invalid_token"' in reply.headers["www-authenticate"]) == (401, True)
    replies = [served.client.get("/api/v2/keys", headers={"Authorization": "Bearer x"}) for _ in range(11)]
    assert [reply.status_code for reply in replies] == [401] * 10 + [429]


def test_a_wrong_key_with_dots_counts_as_a_guess(served: Served) -> None:
    replies = [served.client.get("/api/v2/keys", headers={"Authorization": f"Bearer a.{n}.key"}) for n in range(11)]
    assert [reply.status_code for reply in replies] == [401] * 10 + [429]


def test_a_token_without_a_role_is_answered_with_insufficient_scope(served: Served) -> None:
    headers = {"Authorization": "Bearer " + served.idp.token(groups=[])}
    reply = served.client.post("/mcp", headers=headers)
    assert reply.status_code == 403
    assert 'error="insufficient_scope"' in reply.headers["www-authenticate"]


# -- the dashboard


@pytest.mark.parametrize("missing", ["authorization_endpoint", "token_endpoint"])
def test_a_provider_without_the_code_flow_is_named_as_the_reason(
    tmp_path: Path, idp: IdentityProvider, missing: str
) -> None:
    known = idp.metadata()
    del known[missing]
    idp.publish(DISCOVERY, known)
    with _serving(tmp_path, idp) as served:
        reply = served.post("/provider/begin", {})
    assert reply.status_code == 503
    assert "nobody can sign in there" in reply.text


def _tab(reply: httpx2.Response) -> dict[str, str]:
    return {"X-Keepmum-Tab": reply.json()["tab"]}


def test_a_person_signs_in(served: Served) -> None:
    assert served.post("/provider", {}).json() == {"host": "127.0.0.1"}
    reply = served.finish()
    assert (reply.status_code, reply.json()["projects"]) == (200, ["api"])
    assert served.post("/projects", {}, **_tab(reply)).status_code == 200


def test_the_secret_of_the_client_is_sent_to_the_provider_only(tmp_path: Path, idp: IdentityProvider) -> None:
    idp.client_secret = "word+/ :%" * 3
    with _serving(tmp_path, idp) as served:
        begun = served.post("/provider/begin", {})
        assert idp.client_secret not in begun.text
        assert served.finish().status_code == 200


def test_without_a_client_nobody_can_begin(tmp_path: Path, idp: IdentityProvider) -> None:
    with _serving(tmp_path, idp, oidc_client_id="") as served:
        assert served.post("/provider", {}).json() == {"host": ""}
        assert served.post("/provider/begin", {}).status_code == 404
        assert served.post("/provider/finish", {}).status_code == 404


@pytest.mark.parametrize(
    "changed",
    [
        {"state": "x"},
        {"state": ""},
        {"ticket": "x" * 43},
        {"code": "x"},
        {"code": ""},
        {"iss": "https://evil.example"},
    ],
)
def test_an_answer_of_another_sign_in_opens_nothing(served: Served, changed: dict[str, str]) -> None:
    reply = served.finish(**changed)
    assert reply.status_code == 401
    assert "set-cookie" not in reply.headers


def test_a_provider_that_promises_its_name_in_answers_has_to_give_it(tmp_path: Path, idp: IdentityProvider) -> None:
    """RFC 9207, section 2.4: another provider could have left it out."""
    idp.publish(DISCOVERY, idp.metadata(authorization_response_iss_parameter_supported=True))
    with _serving(tmp_path, idp) as served:
        assert served.finish().status_code == 200
        idp.names_itself = False
        reply = served.finish()
    assert (reply.status_code, "set-cookie" in reply.headers) == (401, False)
    assert "does not name the identity provider" in reply.json()["error"]["message"]
    assert idp.asked.count("/token") == 1  # the code of the second answer stays here


@pytest.mark.parametrize("promised", [{}, {"authorization_response_iss_parameter_supported": False}])
def test_a_provider_that_promises_no_name_need_not_give_it(
    tmp_path: Path, idp: IdentityProvider, promised: dict[str, object]
) -> None:
    idp.publish(DISCOVERY, idp.metadata(**promised))
    idp.names_itself = False
    with _serving(tmp_path, idp) as served:
        assert served.finish().status_code == 200


def test_a_code_counts_for_the_tab_that_asked_for_it(served: Served) -> None:
    """Somebody who sees a code cannot use it: PKCE."""
    seen, own = served.begun(), served.begun()
    assert served.post("/provider/finish", {**own, "code": seen["code"]}).status_code == 401


def test_half_a_surrogate_pair_opens_nothing(served: Served) -> None:
    headers = {"Origin": ORIGIN, "Content-Type": "application/json"}
    raw = b'{"state": "\\ud800", "ticket": "\\ud800", "code": "\\ud800", "iss": "\\ud800"}'
    assert served.client.post("/dashboard/provider/finish", content=raw, headers=headers).status_code == 401


def test_a_code_counts_once(served: Served) -> None:
    answered = served.begun()
    assert served.post("/provider/finish", answered).status_code == 200
    assert served.post("/provider/finish", answered).status_code == 401


@pytest.mark.parametrize(
    "claims", [{"nonce": "x"}, {"nonce": None}, {"aud": "other"}, {"azp": "other"}, {"iss": "x"}, {"exp": 1}]
)
def test_an_id_token_of_another_sign_in_opens_nothing(served: Served, claims: dict[str, object]) -> None:
    served.idp.id_token = lambda said: {**said, **claims}
    assert served.finish().status_code == 401


def test_who_has_no_role_cannot_sign_in(served: Served) -> None:
    served.idp.claims["groups"] = ["strangers"]
    reply = served.finish()
    assert reply.status_code == 403
    assert "no role" in reply.json()["error"]["message"]


def test_a_removal_ends_a_session(served: Served) -> None:
    reply = served.finish()
    served.admin.add("root", {"*": "admin"})
    served.admin.remove("ada")
    assert served.post("/projects", {}, **_tab(reply)).status_code == 401
    assert served.finish().status_code == 401


def test_a_restored_person_has_to_sign_in_again(served: Served) -> None:
    reply = served.finish()
    served.admin.add("root", {"*": "admin"})
    served.admin.remove("ada")
    served.admin.restore("ada")
    assert served.post("/projects", {}, **_tab(reply)).status_code == 401
    assert served.post("/projects", {}, **_tab(served.finish())).status_code == 200


def test_a_session_follows_the_roles_that_are_given_here(served: Served) -> None:
    tab = _tab(served.finish())
    served.admin.set_role("ada", "web", "reader")
    assert served.post("/projects", {}, **tab).json()["projects"] == ["api", "web"]
    served.admin.set_role("ada", "web", None)
    assert served.post("/projects", {}, **tab).json()["projects"] == ["api"]


def test_other_rules_about_roles_end_the_sessions_of_the_former_ones(tmp_path: Path, idp: IdentityProvider) -> None:
    statuses: list[int] = []
    for target in ("writer api", "writer api", "reader api"):  # of a server that is started three times
        with _serving(tmp_path, idp, oidc_map={"developers": parse_target(target)}) as served:
            if not statuses:
                reply = served.finish()
                cookie, tab = reply.headers["set-cookie"].partition(";")[0], _tab(reply)
            statuses.append(served.post("/projects", {}, **tab, Cookie=cookie).status_code)
    assert statuses == [200, 200, 401]


def test_many_failed_sign_ins_have_to_wait(served: Served) -> None:
    replies = [served.finish(state="x").status_code for _ in range(11)]
    assert replies == [401] * 10 + [429]


def test_an_access_token_is_no_session(served: Served) -> None:
    """It counts for minutes, and a session for hours."""
    assert served.finish().status_code == 200
    assert served.post("/session", {"key": served.idp.token()}).status_code == 401


def test_without_the_provider_a_sign_in_says_so(tmp_path: Path, idp: IdentityProvider) -> None:
    idp.publish("/.well-known/openid-configuration", {})
    with _serving(tmp_path, idp) as served:
        reply = served.post("/provider/begin", {})
        assert reply.status_code == 503
        assert "identity provider" in reply.json()["error"]["message"]
        token = served.ask()
        assert (token.status_code, "retry-after" in token.headers) == (503, True)


def test_the_page_takes_the_way_back_and_no_frame_does(served: Served) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    page = "/dashboard/sign-in.html?code=x&state=y"
    assert served.client.get(page, headers=link).status_code == 200
    assert served.client.get(page, headers={**link, "Sec-Fetch-Dest": "iframe"}).status_code == 403


def test_the_client_is_named_in_the_request_and_its_secret_is_not(served: Served) -> None:
    address = served.post("/provider/begin", {}).json()["address"]
    asked = dict(parse_qsl(urlsplit(address).query))
    assert (asked["client_id"], asked["response_type"], asked["code_challenge_method"]) == (CLIENT, "code", "S256")
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3
