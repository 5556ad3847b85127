"""Who may call the loopback server: tokens that open one session each, and sessions of a cookie and a tab's secret.

A cookie is sent to every port of a host, so that any server on this machine gets it; what a tab stores belongs to one
origin with its port. A call needs both, so neither a stolen cookie nor a page of another port gets in.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable

__all__ = ["TOKEN_SECONDS", "Sessions"]

TOKEN_SECONDS = 120.0
_MOST_TOKENS = 8
_MOST_SESSIONS = 32


class Sessions:
    """The tokens and sessions of one server; safe between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens: dict[str, float] = {}  # and when each ends
        self._sessions: dict[str, str] = {}  # the cookie, and the secret of its tab

    def new_token(self) -> str:
        """A token that opens one session within two minutes."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            while len(self._tokens) >= _MOST_TOKENS:
                del self._tokens[next(iter(self._tokens))]
            self._tokens[token] = self._clock() + TOKEN_SECONDS
        return token

    def open(self, given: str) -> tuple[str, str] | None:
        """Cookie and tab secret of a new session, for a token that was not used before; None for any other text."""
        with self._lock:
            known = [token for token in self._tokens if _is(token, given)]
            if not known or self._tokens.pop(known[0]) < self._clock():
                return None
            while len(self._sessions) >= _MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            cookie, tab = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
            self._sessions[cookie] = tab
        return cookie, tab

    def holds(self, cookie: str, tab: str) -> bool:
        """Whether these two belong to one session."""
        with self._lock:
            return any(_is(known, cookie) and _is(secret, tab) for known, secret in self._sessions.items())


def _is(secret: str, given: str) -> bool:
    return hmac.compare_digest(secret.encode(), given.encode("utf-8", "surrogatepass"))
