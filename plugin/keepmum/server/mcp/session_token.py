"""The `Mcp-Session-Id` of clients of the handshake era, which say their name in `initialize` only.

It is signed and holds all there is to know, so any process of the server reads it. It authorises nothing: every request
carries its key, and a token of another principal is ignored.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from typing import NamedTuple

__all__ = ["SessionToken", "make", "read"]

_LIFETIME = 30 * 86_400  # seconds; a client keeps its session as long as its window is open
_LONGEST = 1024  # characters
_MAC = 16  # bytes


class SessionToken(NamedTuple):
    """What a client said in `initialize`."""

    principal: str  # the id of who sent it
    client: str  # `clientInfo.name`, unverified
    version: str  # of the client
    session: str  # random; memories of scope `session` belong to it
    expires: int  # seconds since 1970


def make(secret: bytes, principal: str, client: str, version: str, now: float) -> str:
    """A token for a session that starts now."""
    token = SessionToken(principal, client, version, secrets.token_urlsafe(12), int(now) + _LIFETIME)
    body = _encoded(json.dumps(token, ensure_ascii=False, separators=(",", ":")).encode())
    return f"{body}.{_encoded(_mac(secret, body))}"


def read(secret: bytes, text: str, principal: str, now: float) -> SessionToken | None:
    """The token, if this server made it for `principal` and it has not expired."""
    body, _, mac = text[:_LONGEST].partition(".")
    try:
        if not hmac.compare_digest(_decoded(mac), _mac(secret, body)):
            return None
        token = SessionToken._make(json.loads(_decoded(body)))
    except (ValueError, TypeError, binascii.Error):
        return None
    return token if token.principal == principal and now < token.expires else None


def _mac(secret: bytes, body: str) -> bytes:
    # The purpose is part of the key, so that nothing else that this secret signs is taken for a session.
    key = hashlib.blake2b(secret, digest_size=32, person=b"keepmum-session").digest()
    return hmac.digest(key, body.encode(), "sha256")[:_MAC]


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(f"{text}{'=' * (-len(text) % 4)}".encode("ascii"))
