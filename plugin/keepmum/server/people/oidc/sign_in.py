"""The sign-in of a person with a browser: authorisation code with PKCE, state and nonce.

Nothing is kept between the two steps: the browser's tab holds a random ticket, from which this server's secret makes
the other values, so any process may finish what another one began.

Source: https://openid.net/specs/openid-connect-core-1_0.html, RFC 7636 and RFC 9207, read 2026-11-23.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
from urllib.parse import quote, urlencode

from keepmum.server.people.oidc.fetch import Fetcher, ProviderAway
from keepmum.server.people.oidc.members import Members
from keepmum.server.people.oidc.provider import Metadata, Provider
from keepmum.server.people.oidc.tokens import Verifier
from keepmum.server.people.provider_sign_in import Answered, Begun, NotSignedIn, SignedIn

__all__ = ["CodeFlow"]

_SCOPE = "openid profile email"
_AT_ONCE = 4  # codes that are exchanged at the same time


class CodeFlow:
    """Signs people in at one provider. Safe between threads."""

    def __init__(  # noqa: PLR0913 - the parts of the flow
        self,
        provider: Provider,
        fetcher: Fetcher,
        verifier: Verifier,
        members: Members,
        *,
        client: str,
        client_secret: str,
        secret: bytes,
    ) -> None:
        """`client` and `client_secret` are this server's at the provider, `secret` is its own."""
        self._members = members
        self._provider = provider
        self._fetcher = fetcher
        self._verifier = verifier
        self._client = client
        self._client_secret = client_secret
        self._key = hashlib.blake2b(secret, digest_size=32, person=b"keepmum-sign-in").digest()
        self._exchanges = threading.BoundedSemaphore(_AT_ONCE)

    @property
    def host(self) -> str:
        """The name of the provider, for people."""
        return self._fetcher.host

    def begin(self, back: str) -> Begun:
        """Begin a sign-in that leads back to the address `back`.

        Raises: ProviderAway.
        """
        address = self._endpoints().authorization
        ticket = secrets.token_urlsafe(32)
        challenge = hashlib.sha256(self._made("verifier", ticket).encode()).digest()
        asked = {
            "response_type": "code", "client_id": self._client, "redirect_uri": back, "scope": _SCOPE,
            "state": self._made("state", ticket), "nonce": self._made("nonce", ticket),
            "code_challenge": _text(challenge), "code_challenge_method": "S256",
        }  # fmt: skip
        return Begun(ticket, f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}")

    def finish(self, answered: Answered, back: str) -> SignedIn:
        """The person who signed in.

        Raises: NotSignedIn, ProviderAway, StoreError.
        """
        ticket, state, code, issuer = answered
        if not hmac.compare_digest(_bytes(state), _bytes(self._made("state", ticket))):
            raise NotSignedIn("this answer belongs to another sign-in; begin again")
        if issuer not in {"", self._provider.issuer}:
            raise NotSignedIn("this answer comes from another identity provider; begin again")
        if not issuer and self._endpoints().names_itself:  # RFC 9207, section 2.4
            raise NotSignedIn(
                "this answer does not name the identity provider (`iss`), though the provider's metadata promise it; "
                "begin again, and if that does not help, tell the administrator"
            )
        token = self._exchanged(code, self._made("verifier", ticket), back)
        claims = self._verifier.identity(token, self._client, self._made("nonce", ticket))
        if claims is None:
            raise NotSignedIn("the identity provider gave no valid ID token for this sign-in; begin again")
        signed_in = self._members.sign_in(claims)
        if signed_in is None:
            raise NotSignedIn("you were removed from this server; ask its administrator")
        return signed_in

    def _exchanged(self, code: str, verifier: str, back: str) -> str:
        """The ID token for a code."""
        metadata = self._endpoints()
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": back, "code_verifier": verifier}
        basic = None
        if self._client_secret and metadata.takes_basic:  # both are form-encoded first: RFC 6749, section 2.3.1
            basic = (quote(self._client, safe=""), quote(self._client_secret, safe=""))
        else:
            form["client_id"] = self._client
            if self._client_secret:
                form["client_secret"] = self._client_secret
        if not self._exchanges.acquire(blocking=False):
            raise ProviderAway("too many people sign in at this moment; try again")
        try:
            reply = self._fetcher.post(metadata.token, form, basic)
        finally:
            self._exchanges.release()
        if reply.status != 200:
            raise NotSignedIn(f"the identity provider refused the sign-in with status {reply.status}; begin again")
        return str(reply.body.get("id_token", ""))

    def _endpoints(self) -> Metadata:
        """The addresses of the provider.

        Raises: ProviderAway when it has none for this flow.
        """
        metadata = self._provider.metadata()
        if not metadata.authorization or not metadata.token:
            raise ProviderAway(
                "the identity provider lacks an authorization_endpoint or token_endpoint, so nobody can sign in there"
            )
        return metadata

    def _made(self, purpose: str, ticket: str) -> str:
        """A value of 256 bits that only this server can make of a ticket."""
        return _text(hmac.digest(self._key, _bytes(f"{purpose}:{ticket}"), "sha256"))


def _bytes(text: str) -> bytes:
    """Any text that JSON can carry, also half a surrogate pair."""
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
