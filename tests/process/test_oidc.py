"""A running server that trusts an identity provider, on both engines: tokens, people, streams, and the log."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

import postgres_server
from forged_tokens import FORGED
from identity_provider import IdentityProvider, SigningKey
from server_process import TeamServer, without_comments

LAUNCH = Path(__file__).resolve().parents[2] / "plugin" / "launch.py"
PROJECT = "api"
HANDSHAKE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "codex", "version": "1"}},
}  # fmt: skip
ACCEPT = {"Accept": "application/json, text/event-stream"}


class Site:
    """A provider, and a server that trusts it and has no key of its own."""

    def __init__(self, home: Path, engine: str, idp: IdentityProvider) -> None:
        database = {"KEEPMUM_SERVER_DATABASE_URL": postgres_server.database("oidc").app} if engine == "postgres" else {}
        self.home, self.idp = home, idp
        self.environ = {**idp.environ(), **database, "API_KEYS": "", "KEEPMUM_SERVER_MODEL": "false"}
        self.server = TeamServer(home, environ=self.environ)

    def ask(self, method: str, path: str, body: object = None, **claims: Any) -> Any:
        """The answer to a person with these claims."""
        return self.server.ask(method, path, body, key=self.idp.token(**claims))

    def run(self, *arguments: str) -> str:
        """The output of a command on the server's machine."""
        environ = {**self.server.environ, "PATH": os.defpath}
        command = [sys.executable, "-I", str(LAUNCH), *arguments]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def idp() -> Iterator[IdentityProvider]:
    with IdentityProvider() as running:
        yield running


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, idp: IdentityProvider
) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("oidc"), request.param, idp)
    yield site
    site.server.__exit__()  # which may be another one than at the start


def _memory(text: str) -> dict[str, str]:
    return {"text": text, "title": "Deploys", "project": PROJECT}


def test_a_person_writes_in_a_name_that_stays(site: Site) -> None:
    made = site.ask("POST", "/api/v1/memories", _memory("Deploys go through the blue pool"), sub="ada-2")
    assert made.status == 201
    later = site.ask("GET", f"/api/v2/memories/{made.body['data']['id']}", sub="ada-2", preferred_username="queen")
    assert later.body["data"]["created_by"] == "ada"
    owner = {"sub": "owner", "preferred_username": "ada", "groups": ["owners"]}
    rows = site.ask("GET", f"/api/v2/audit?project={PROJECT}", **owner).body["data"]
    assert ("ada", "created") in {(row["actor"], row["action"]) for row in rows}
    names = [each["name"] for each in site.ask("GET", "/api/v2/people", **owner).body["data"]]
    assert len(names) == len(set(names))


def test_a_new_key_of_the_provider_counts_at_once(site: Site) -> None:
    site.idp.keys.insert(0, SigningKey("RS256"))
    assert site.ask("GET", "/api/v2/keys").status == 200
    old = site.idp.token(key=site.idp.keys[1])
    assert site.server.ask("GET", "/api/v2/keys", key=old).status == 200


def test_a_client_of_mcp_learns_where_to_sign_in_and_uses_its_token(site: Site) -> None:
    refused = site.server.ask("POST", "/mcp", HANDSHAKE, key=None, headers=ACCEPT)
    challenge = refused.headers["www-authenticate"]
    place = challenge.partition('resource_metadata="')[2].partition('"')[0]
    known = site.server.ask("GET", place.partition(f":{site.server.port}")[2], key=None).body
    assert (refused.status, known["authorization_servers"]) == (401, [site.idp.issuer])
    answer = site.server.ask("POST", "/mcp", HANDSHAKE, key=site.idp.token(), headers=ACCEPT)
    assert answer.body["result"]["serverInfo"]["name"] == "keepmum"


def test_the_official_client_signs_in_with_nothing_but_the_address(site: Site) -> None:
    address, back = f"http://127.0.0.1:{site.server.port}/mcp", "http://127.0.0.1:1/callback"
    answers: list[AuthorizationCodeResult] = []

    async def browse(url: str) -> None:
        """Follow the provider's redirect, as a browser would."""
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as browser:
            location = (await browser.get(url)).headers["location"]
        assert location.startswith(f"{back}?")
        found = dict(parse_qsl(urlsplit(location).query))
        answers.append(AuthorizationCodeResult(code=found["code"], state=found["state"], iss=found["iss"]))

    async def answer() -> AuthorizationCodeResult:
        return answers.pop()

    async def converse() -> None:
        metadata = OAuthClientMetadata(client_name="test", redirect_uris=[AnyUrl(back)])
        auth = OAuthClientProvider(address, metadata, _Kept(), browse, answer)
        with anyio.fail_after(120):
            async with (
                httpx2.AsyncClient(
                    auth=auth, headers={"X-Keepmum-Project": PROJECT}, trust_env=False, timeout=60
                ) as http,
                Client(streamable_http_client(address, http_client=http)) as client,
            ):
                stored = await client.call_tool("remember", {"text": "We chose Postgres", "key": "db"})
                assert not stored.is_error

    anyio.run(converse)
    assert site.idp.resources[-1] == address


class _Kept:
    """What the client keeps between two runs."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def test_a_removed_person_is_refused_and_their_streams_end(site: Site) -> None:
    mia: dict[str, Any] = {"sub": "mia", "preferred_username": "mia"}
    token = site.idp.token(**mia)
    assert site.server.ask("GET", "/api/v2/keys", key=token).status == 200
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", site.server.port, timeout=60)) as stream:
        stream.request("GET", "/api/v2/events", headers={"Authorization": f"Bearer {token}"})
        events = stream.getresponse()
        site.run("people", "remove", "mia", "--yes")
        assert site.server.refuses(token)
        assert without_comments(events.read()) == b"retry: 2000\n\n"
    assert site.ask("GET", "/api/v2/keys", jti="a new token", **mia).status == 401


def test_a_persons_data_is_erased(site: Site) -> None:
    eveline = {"sub": "eveline", "preferred_username": "eveline"}
    made = site.ask("POST", "/api/v1/memories", _memory("Colours of the site are in a table"), **eveline)
    assert made.status == 201
    if "KEEPMUM_SERVER_DATABASE_URL" not in site.environ:
        with site.server:
            assert site.server.stop() == 0
    receipt = json.loads(site.run("serve", "erase", "--person", "eveline", "--yes").partition("\n")[2])
    assert receipt["memories"] == 1
    assert "eveline" not in (people := site.run("people", "list"))
    assert "ada" in people
    assert "roles of the identity provider" in people
    if "KEEPMUM_SERVER_DATABASE_URL" not in site.environ:
        site.server = TeamServer(site.home, environ=site.environ)
    assert site.ask("GET", "/api/v2/keys", jti="another", **eveline).status == 401


def test_no_token_is_in_the_log_or_in_a_file(site: Site) -> None:
    token = site.idp.token(jti="to look for")
    site.server.ask("GET", "/api/v2/keys", key=token)
    site.server.ask("GET", "/api/v2/keys", key=token[:-4] + "AAAA")
    site.server.ask("POST", "/api/v1/memories", _memory(f"my token is {token}"), key=token)
    written = "".join(site.server.log).encode()
    written += b"".join(path.read_bytes() for path in site.home.rglob("*") if path.is_file())
    assert token.split(".")[1].encode() not in written
    assert token.split(".")[2].encode() not in written


def test_no_forged_token_counts(site: Site) -> None:
    assert site.ask("GET", "/api/v2/keys").status == 200
    answers = {
        name: site.server.ask("GET", "/api/v2/keys", key=forge(site.idp)).status for name, forge in FORGED.items()
    }
    assert {name: status for name, status in answers.items() if status not in {401, 429}} == {}
    assert site.ask("GET", "/api/v2/keys", jti="good tokens are served meanwhile").status == 200
