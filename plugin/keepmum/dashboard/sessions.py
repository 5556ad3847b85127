"""Who may call a dashboard: sessions of a cookie and a tab's secret, and tokens that open one session each.

A cookie is sent to every port of a host, so that any server on this machine gets it; what a tab stores belongs to one
origin with its port. A call needs both, so neither a stolen cookie nor a page of another port gets in. Only a digest of
the two is kept: here in this process, on a team's server in its records.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, Self

__all__ = ["TOKEN_SECONDS", "Secrets", "Sessions", "Tokens"]

TOKEN_SECONDS = 120.0
_MOST_TOKENS = 8


class Tokens:
    """Tokens that open one session each; safe between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens: dict[str, float] = {}  # and when each ends

    def new(self) -> str:
        """A token that counts once, within two minutes."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            while len(self._tokens) >= _MOST_TOKENS:
                del self._tokens[next(iter(self._tokens))]
            self._tokens[token] = self._clock() + TOKEN_SECONDS
        return token

    def spend(self, given: str) -> bool:
        """Whether this is a token that counts; it cannot be used again."""
        with self._lock:
            known = [token for token in self._tokens if _is(token, given)]
            return bool(known) and self._tokens.pop(known[0]) >= self._clock()


class Secrets(NamedTuple):
    """What a browser proves a session with."""

    cookie: str
    tab: str

    @classmethod
    def new(cls) -> Self:
        """Two random secrets of 256 bits."""
        return cls(secrets.token_urlsafe(32), secrets.token_urlsafe(32))

    @property
    def digest(self) -> bytes:
        """Both as one name; the time of a look-up says nothing about how much of a guess is right."""
        return hashlib.sha256(f"{self.cookie}\n{self.tab}".encode("utf-8", "surrogatepass")).digest()


class Sessions:
    """The sessions of one process; safe between threads."""

    def __init__(self, most: int) -> None:
        """The oldest session ends when one more than `most` is opened."""
        self._most = most
        self._lock = threading.Lock()
        self._digests: list[bytes] = []  # oldest first

    def open(self) -> Secrets:
        """The secrets of a new session."""
        made = Secrets.new()
        with self._lock:
            self._digests = [*self._digests, made.digest][-self._most :]
        return made

    def has(self, given: Secrets) -> bool:
        """Whether a session has these secrets."""
        return given.digest in self._digests


def _is(secret: str, given: str) -> bool:
    return hmac.compare_digest(secret.encode(), given.encode("utf-8", "surrogatepass"))
