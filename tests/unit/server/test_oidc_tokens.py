"""Which tokens of an identity provider count, and what they say (T11 of the server's threats)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from forged_tokens import FORGED
from identity_provider import AUDIENCE, CLIENT, IdentityProvider, SigningKey
from keepmum.server.people.oidc.claims import Rules, parse_target
from keepmum.server.people.oidc.tokens import Verifier

TARGETS = {
    "developers": "writer api", "readers": "reader", "owners": "admin", "leads": "curator", "crew": "project web",
    "all": "project *",
}  # fmt: skip


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as running:
        yield running


def _verifier(provider: IdentityProvider) -> Verifier:
    return Verifier(provider.issuer, {key.ident: key.jwk() for key in provider.keys}.get)


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_token_does_not_count(provider: IdentityProvider, name: str) -> None:
    verifier = _verifier(provider)
    assert verifier.access(provider.token(), [AUDIENCE]) is not None
    token = FORGED[name](provider)
    accepted = verifier.access(token, [AUDIENCE]) is not None and len(token) <= 8192  # as the gate reads it
    assert not accepted


@pytest.mark.parametrize("algorithm", ["RS256", "RS512", "PS256", "ES256", "EdDSA"])
def test_a_token_by_any_listed_algorithm_counts(provider: IdentityProvider, algorithm: str) -> None:
    key = SigningKey(algorithm)
    without_algorithm = {name: value for name, value in key.jwk().items() if name != "alg"}
    for jwk in (key.jwk(), without_algorithm):
        verifier = Verifier(provider.issuer, {key.ident: jwk}.get)
        assert verifier.access(provider.token(key=key), [AUDIENCE]) is not None


def test_a_short_key_does_not_count(provider: IdentityProvider) -> None:
    key = SigningKey("RS256", size=1024)
    with pytest.warns(match="below the minimum"):
        token = provider.token(key=key)
    assert Verifier(provider.issuer, {key.ident: key.jwk()}.get).access(token, [AUDIENCE]) is None


def test_a_secret_that_the_provider_publishes_by_mistake_signs_nothing(provider: IdentityProvider) -> None:
    jwk = {"kty": "oct", "k": "AAAA", "kid": provider.keys[0].ident}
    assert Verifier(provider.issuer, {provider.keys[0].ident: jwk}.get).access(provider.token(), [AUDIENCE]) is None


@pytest.mark.parametrize("kind", ["at+jwt", "AT+JWT", "application/at+jwt", "JWT", None])
def test_a_type_of_an_access_token_counts(provider: IdentityProvider, kind: str | None) -> None:
    assert _verifier(provider).access(provider.token(headers={"typ": kind}), [AUDIENCE]) is not None


def test_clocks_may_differ_by_a_minute(provider: IdentityProvider) -> None:
    now = int(time.time())
    token = provider.token(exp=now - 50, iat=now + 50, nbf=now + 50)
    assert _verifier(provider).access(token, [AUDIENCE]) is not None


def test_an_id_token_is_for_one_client_and_one_sign_in(provider: IdentityProvider) -> None:
    verifier = _verifier(provider)

    def signs_in(**claims: object) -> bool:
        said: dict[str, Any] = {"aud": CLIENT, "nonce": "n", **claims}
        token = provider.token(headers={"typ": "JWT"}, **said)
        return verifier.identity(token, CLIENT, "n") is not None

    assert signs_in()
    assert signs_in(aud=[CLIENT, "other"], azp=CLIENT)
    assert not signs_in(aud=[CLIENT, "other"])
    assert not signs_in(azp="other")
    assert not signs_in(aud="other")
    assert not signs_in(nonce="m")
    assert not signs_in(nonce=None)
    assert not signs_in(exp=int(time.time()) - 61)


@pytest.mark.parametrize(
    ("claims", "roles"),
    [
        pytest.param({"groups": "developers"}, {"api": "writer"}, id="one value"),
        pytest.param({"groups": ["owners", "developers"]}, {"*": "admin", "api": "admin"}, id="several"),
        pytest.param({"groups": ["writer", "admin", "*"]}, {}, id="the names of roles are no roles"),
        pytest.param({"groups": {"owners": True}}, {}, id="an object"),
        pytest.param({"groups": [["owners"], 1, None]}, {}, id="values that are no texts"),
        pytest.param({"roles": ["owners"]}, {}, id="another claim"),
        pytest.param({"groups": ["crew"]}, {}, id="a project without a role"),
        pytest.param({"groups": ["owners"], "scope": "memories:read"}, {"*": "reader"}, id="a scope to read"),
        pytest.param({"groups": ["owners"], "scope": "memories:read memories:write"}, {"*": "admin"}, id="to write"),
        pytest.param({"groups": ["owners"], "scp": ["memories:read"]}, {"*": "reader"}, id="scopes in a list"),
    ],
)
def test_values_of_a_claim_give_roles(claims: Mapping[str, object], roles: Mapping[str, str]) -> None:
    targets = {value: parse_target(text) for value, text in TARGETS.items()}
    assert Rules("name", "groups", "", targets).identity({"sub": "1", **claims}).roles == roles


@pytest.mark.parametrize(
    ("projects", "roles"),
    [
        pytest.param(["api", "crew"], {"api": "curator", "web": "curator"}, id="ids, and values that stand for one"),
        pytest.param([], {}, id="no project"),
        pytest.param(["*"], {}, id="a star of the provider is no project"),
        pytest.param(["all"], {"*": "curator"}, id="a star of the settings is every project"),
        pytest.param(["a\x00b", "x" * 256], {}, id="names that cannot be stored"),
        pytest.param("api", {"api": "curator"}, id="one value"),
    ],
)
def test_a_claim_limits_roles_to_projects(projects: object, roles: Mapping[str, str]) -> None:
    targets = {value: parse_target(text) for value, text in TARGETS.items()}
    claims = {"sub": "1", "groups": ["leads"], "projects": projects}
    assert Rules("name", "groups", "projects", targets).identity(claims).roles == roles


@pytest.mark.parametrize(
    ("name", "claims"),
    [
        ("realm_access.roles", {"realm_access": {"roles": ["owners"]}}),
        ("https://acme.example/roles", {"https://acme.example/roles": ["owners"]}),
        ("scope", {"scope": "openid owners"}),
        ("email", {"email": "owners", "email_verified": True}),
    ],
)
def test_the_claim_of_roles_may_be_anywhere(name: str, claims: Mapping[str, object]) -> None:
    rules = Rules("name", name, "", {"owners": parse_target("admin")})
    assert rules.identity({"sub": "1", **claims}).roles == {"*": "admin"}


@pytest.mark.parametrize("verified", [False, "true", None])
def test_an_address_that_is_not_verified_gives_nothing(verified: object) -> None:
    rules = Rules("email", "email", "", {"ada@acme.example": parse_target("admin")})
    found = rules.identity({"sub": "1", "email": "ada@acme.example", "email_verified": verified})
    assert (found.name, found.roles) == ("1", {})


@pytest.mark.parametrize("text", ["", "owner", "project", "writer a\x00b", "writer " + "x" * 256])
def test_a_target_that_is_none_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="must "):
        parse_target(text)
