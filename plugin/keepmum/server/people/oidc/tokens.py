"""Checks tokens of the identity provider: signature, issuer, audience, times and kind.

The algorithm must be on our list and fit the provider's key; keys that a token brings or points to (`jwk`, `jku`,
`x5c`, `x5u`) are never looked at.

Source: RFC 8725 (best practices), RFC 9068 (access tokens), OpenID Connect Core 1.0 (3.1.3.7), read 2026-11-23.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence

import jwt

from keepmum.core.errors import InvalidInput
from keepmum.server.edge.validation import parsed
from keepmum.server.people.oidc.claims import Claims

__all__ = ["SKEW", "Verifier"]

SKEW = 60  # seconds that the clocks of provider and server may differ
_ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
_REQUIRED = ("iss", "sub", "aud", "exp", "iat")
_ACCESS_TYPES = frozenset({"at+jwt", "application/at+jwt"})
_PLAIN_TYPES = frozenset({"", "jwt", "application/jwt"})
_OF_ID_TOKENS = frozenset({"nonce", "at_hash", "c_hash"})  # claims that only an ID token has
_LONGEST = 255  # characters of a key id or a subject


class Verifier:
    """Checks tokens of one issuer."""

    def __init__(self, issuer: str, key: Callable[[str], Mapping[str, object] | None]) -> None:
        """`key` finds a public key of the issuer by its id."""
        self._issuer = issuer
        self._key = key

    def access(self, token: str, audience: Sequence[str]) -> Claims | None:
        """The claims of an access token for this server; None when it is another token, or has expired.

        Raises: ProviderAway when the keys are not known.
        """
        checked = self._checked(token, audience)
        if checked is None:
            return None
        kind, claims = checked
        if kind not in _ACCESS_TYPES and (kind not in _PLAIN_TYPES or _is_of_another_kind(claims)):
            return None
        return None if "cnf" in claims else claims  # that one is bound to a proof, which is not checked here

    def identity(self, token: str, client: str, nonce: str) -> Claims | None:
        """The claims of an ID token for this client and this sign-in; None when it is not one.

        Raises: ProviderAway when the keys are not known.
        """
        checked = self._checked(token, [client])
        if checked is None or checked[0] not in _PLAIN_TYPES:
            return None
        claims = checked[1]
        is_ours = claims.get("nonce") == nonce
        is_for_us = claims.get("azp", client if claims["aud"] in (client, [client]) else "") == client
        return claims if is_ours and is_for_us else None

    def _checked(self, token: str, audience: Sequence[str]) -> tuple[str, Claims] | None:
        """Type and claims of a token that the issuer has signed for `audience`, and that is valid now."""
        try:
            header, claims = (_object(part) for part in token.split(".")[:2])
            key = self._signing_key(header)
            if key is None:
                return None
            jwt.decode(
                token, key, algorithms=_ALGORITHMS, audience=audience, issuer=self._issuer, leeway=SKEW,
                options={"require": list(_REQUIRED), "enforce_minimum_key_length": True},
            )  # fmt: skip
        except (jwt.PyJWTError, InvalidInput, ValueError, TypeError, OverflowError):
            return None
        subject = str(claims["sub"])
        if not 0 < len(subject) <= _LONGEST or not subject.isprintable():
            return None
        return str(header.get("typ", "")).lower(), claims

    def _signing_key(self, header: Claims) -> jwt.PyJWK | None:
        """The key that the issuer says was used, for the algorithm of the token."""
        algorithm, ident = header.get("alg"), header.get("kid")
        if not isinstance(algorithm, str) or algorithm not in _ALGORITHMS or "crit" in header:
            return None
        if not isinstance(ident, str) or len(ident) > _LONGEST:
            return None
        found = self._key(ident)
        if found is None or found.get("alg", algorithm) != algorithm:
            return None
        return jwt.PyJWK(dict(found), algorithm)


def _object(part: str) -> Claims:
    """The JSON object in a part of a token.

    Raises: InvalidInput when it is another value, or names a member twice; ValueError when it is not base64url.
    """
    value = parsed(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    if not isinstance(value, dict):
        raise InvalidInput("token", "holds no JSON object")
    return value


def _is_of_another_kind(claims: Claims) -> bool:
    """Whether these are the claims of an ID token or a refresh token, as some providers mark them in the claims."""
    marked = claims.get("token_use", "access") != "access" or str(claims.get("typ", "bearer")).lower() != "bearer"
    return marked or not _OF_ID_TOKENS.isdisjoint(claims)
