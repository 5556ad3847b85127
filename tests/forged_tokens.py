"""Tokens that a server must not accept, each made for one identity provider."""

from __future__ import annotations

import base64
import functools
import hmac
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import jwt
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from identity_provider import CLIENT, IdentityProvider, SigningKey

__all__ = ["FORGED"]

Forger = Callable[[IdentityProvider], str]


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


@functools.cache
def _own_key(algorithm: str = "ES256") -> SigningKey:
    """The forger's key."""
    return SigningKey(algorithm)


def _signed(provider: IdentityProvider, headers: Mapping[str, object] | None = None, **claims: Any) -> str:
    """Signed by the provider."""
    return provider.token(headers=headers, **claims)


def _forged(provider: IdentityProvider, **headers: object) -> str:
    """Signed by the forger, under the id of the provider's key."""
    own = _own_key()
    return provider.token(key=own, headers={"kid": provider.keys[0].ident, **headers})


def _unsigned(provider: IdentityProvider, algorithm: str = "none") -> str:
    parts = provider.token().split(".")
    header = json.dumps({"alg": algorithm, "typ": "at+jwt", "kid": provider.keys[0].ident})
    return f"{_text(header.encode())}.{parts[1]}."


def _by_public_key(provider: IdentityProvider) -> str:
    """HS256 with the provider's public key as the secret."""
    public = provider.keys[0].private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    header = json.dumps({"alg": "HS256", "typ": "at+jwt", "kid": provider.keys[0].ident})
    signed = f"{_text(header.encode())}.{provider.token().split('.')[1]}"
    return f"{signed}.{_text(hmac.digest(public, signed.encode(), 'sha256'))}"


def _rewritten(provider: IdentityProvider, change: Callable[[str], str], part: int = 1) -> str:
    """A token of which one part was changed and signed again by the provider, as JSON text that no library writes."""
    key = provider.keys[0]
    parts = provider.token().split(".")
    raw = base64.urlsafe_b64decode(parts[part] + "==").decode()
    parts[part] = _text(change(raw).encode())
    algorithm = jwt.get_algorithm_by_name(key.algorithm)
    return f"{parts[0]}.{parts[1]}.{_text(algorithm.sign(f'{parts[0]}.{parts[1]}'.encode(), key.private))}"


def _doubled(name: str, value: object) -> Callable[[str], str]:
    return lambda raw: f"{{{json.dumps(name)}: {json.dumps(value)}, {raw[1:]}"


def _of_another_server(provider: IdentityProvider) -> str:
    with IdentityProvider() as other:
        return other.token(headers={"kid": provider.keys[0].ident})


def _tampered(provider: IdentityProvider) -> str:
    head, _, signature = provider.token().split(".")
    body = provider.token(groups=["owners"]).split(".")[1]
    return f"{head}.{body}.{signature}"


FORGED: Mapping[str, Forger] = {
    "another issuer": lambda idp: _signed(idp, iss="https://evil.example"),
    "the issuer with a slash": lambda idp: _signed(idp, iss=f"{idp.issuer}/"),
    "no issuer": lambda idp: idp.token(without="iss"),
    "another audience": lambda idp: _signed(idp, aud="https://other.example/mcp"),
    "several other audiences": lambda idp: _signed(idp, aud=["https://other.example", "https://memory.example.evil"]),
    "no audience": lambda idp: idp.token(without="aud"),
    "an audience that is an object": lambda idp: _signed(idp, aud={"https://memory.example/mcp": True}),
    "expired": lambda idp: _signed(idp, exp=int(time.time()) - 61),
    "no expiry": lambda idp: idp.token(without="exp"),
    "an expiry that is no number": lambda idp: _signed(idp, exp="never"),
    "an expiry beyond all numbers": lambda idp: _rewritten(idp, lambda raw: raw.replace('"exp"', '"exp":1e999,"x"')),
    "not yet valid": lambda idp: _signed(idp, nbf=int(time.time()) + 120),
    "issued in the future": lambda idp: _signed(idp, iat=int(time.time()) + 120),
    "no time of issue": lambda idp: idp.token(without="iat"),
    "no subject": lambda idp: idp.token(without="sub"),
    "an empty subject": lambda idp: _signed(idp, sub=""),
    "a subject that is a number": lambda idp: _signed(idp, sub=1),
    "a subject with a line break": lambda idp: _signed(idp, sub="ada-1\nx"),
    "a long subject": lambda idp: _signed(idp, sub="a" * 256),
    "algorithm none": _unsigned,
    "algorithm None": lambda idp: _unsigned(idp, "None"),
    "algorithm HS256 with the public key": _by_public_key,
    "another algorithm than the key's": lambda idp: idp.token(
        key=_own_key("RS256"), headers={"kid": idp.keys[0].ident}
    ),
    "an unknown key": lambda idp: idp.token(key=_own_key()),
    "no key id": lambda idp: _signed(idp, {"kid": None}),
    "an empty key id": lambda idp: _signed(idp, {"kid": ""}),
    "the forger's key under a known id": _forged,
    "the forger's key in jwk": lambda idp: _forged(idp, jwk=_own_key().jwk(kid=idp.keys[0].ident)),
    "the forger's address in jku": lambda idp: _forged(idp, jku="http://127.0.0.1:1/keys"),
    "the forger's address in x5u": lambda idp: _forged(idp, x5u="http://127.0.0.1:1/chain"),
    "the forger's certificate in x5c": lambda idp: _forged(idp, x5c=["AAAA"]),
    "a path as key id": lambda idp: idp.token(key=_own_key(), headers={"kid": "../../../../dev/null"}),
    "an extension that must be understood": lambda idp: _signed(idp, {"crit": ["exp"], "exp": 1}),
    "a detached payload": lambda idp: _signed(idp, {"b64": True, "crit": ["b64"]}),
    "a token of another provider": _of_another_server,
    "changed claims": _tampered,
    "an ID token": lambda idp: _signed(idp, {"typ": "JWT"}, nonce="n"),
    "an ID token of the dashboard": lambda idp: _signed(idp, {"typ": "JWT"}, aud=CLIENT),
    "an ID token as Keycloak marks it": lambda idp: _signed(idp, {"typ": "JWT"}, typ="ID"),
    "an ID token as Cognito marks it": lambda idp: _signed(idp, {"typ": "JWT"}, token_use="id"),
    "a logout token": lambda idp: _signed(idp, {"typ": "logout+jwt"}),
    "a type that is no text": lambda idp: _signed(idp, {"typ": 1}),
    "a token bound to another key": lambda idp: _signed(idp, cnf={"jkt": "x"}),
    "a claim twice": lambda idp: _rewritten(idp, _doubled("sub", "root")),
    "the groups twice": lambda idp: _rewritten(idp, _doubled("groups", ["owners"])),
    "a header twice": lambda idp: _rewritten(idp, _doubled("alg", "none"), 0),
    "claims that are a list": lambda idp: _rewritten(idp, lambda raw: f"[{raw}]"),
    "claims that are deep": lambda idp: _rewritten(idp, lambda raw: raw[:-1] + ',"x":' + "[" * 200 + "]" * 200 + "}"),
    "a huge token": lambda idp: _signed(idp, filler="x" * 20_000),
    "no signature": lambda idp: idp.token().rpartition(".")[0] + ".",
    "two parts": lambda idp: idp.token().rpartition(".")[0],
    "four parts": lambda idp: idp.token() + ".x",
    "white space inside": lambda idp: idp.token().replace(".", ". ", 1),
    "other letters inside": lambda idp: idp.token().replace(".", ".!", 1),
}
