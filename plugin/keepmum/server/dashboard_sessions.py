"""Who has signed in to a server's dashboard: sessions of a cookie and a tab's secret, of which only digests are kept.

They are in this process only; a restart ends them.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["SECONDS", "Session", "Sessions"]

SECONDS = 12 * 3600.0
_MOST_OF_KEY = 16  # the oldest ends when a key opens one more


@dataclass(slots=True)
class Session:
    """One sign-in: the id of its key, and the project that was chosen."""

    key: str
    project: str
    until: float
    memo: dict[str, Any] = field(default_factory=dict)  # Any: what the dashboard remembers about this project

    def choose(self, project: str) -> None:
        """Show another project from now on."""
        self.project, self.memo = project, {}


class Sessions:
    """The sessions of one process; safe between threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: dict[bytes, Session] = {}  # by the digest of cookie and tab's secret

    def open(self, key: str, project: str) -> tuple[str, str]:
        """Cookie and tab's secret of a new session of the key with this id."""
        cookie, tab = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        now = self._clock()
        with self._lock:
            self._sessions = {name: each for name, each in self._sessions.items() if each.until > now}
            of_key = [name for name, each in self._sessions.items() if each.key == key]
            if len(of_key) >= _MOST_OF_KEY:
                del self._sessions[of_key[0]]
            self._sessions[_digest(cookie, tab)] = Session(key, project, now + SECONDS)
        return cookie, tab

    def find(self, cookie: str, tab: str) -> Session | None:
        """The session to which both belong."""
        with self._lock:
            found = self._sessions.get(_digest(cookie, tab))
        return found if found is not None and found.until > self._clock() else None

    def end(self, session: Session) -> None:
        """End a session."""
        with self._lock:
            self._sessions = {name: each for name, each in self._sessions.items() if each is not session}


def _digest(cookie: str, tab: str) -> bytes:
    """Two secrets of 256 bits as one name; looking it up tells nobody, by its time, how much of a guess is right."""
    return hashlib.sha256(f"{cookie}\n{tab}".encode("utf-8", "surrogatepass")).digest()
