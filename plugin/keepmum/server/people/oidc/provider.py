"""What the identity provider publishes: its addresses and its keys, read in the background and kept.

Known keys are used without a request to the provider. An unknown key id makes this process read again, at a limited
rate, so that invented ids cause few requests.

Source: https://openid.net/specs/openid-connect-discovery-1_0.html and RFC 7517, read 2026-11-23.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from keepmum.server.logs import log
from keepmum.server.people.oidc.fetch import SECONDS, Fetcher, ProviderAway

__all__ = ["Jwk", "Metadata", "Provider"]

Jwk = Mapping[str, object]
_DISCOVERY = "/.well-known/openid-configuration"
_FRESH = 600.0  # seconds after which the keys are read again
_STALE = 86_400.0  # seconds for which keys count while the provider is away
_PAUSE = 30.0  # seconds between two readings, of which a few may come at once
_AT_ONCE = 3.0
_WAITING = 4  # requests that may wait for a reading
_MOST_KEYS = 100
_KEY_TYPES = frozenset({"RSA", "EC", "OKP"})


class Metadata(NamedTuple):
    """The addresses for the sign-in and for the exchange of its code; empty for a provider without the code flow."""

    authorization: str
    token: str
    takes_basic: bool  # whether the client's secret is sent as a password, not in the form
    names_itself: bool  # whether each answer of its sign-in names the issuer (RFC 9207)


class _Known(NamedTuple):
    """The documents as they were read."""

    metadata: Metadata
    keys: Mapping[str, Jwk]  # by their id
    at: float


class Provider:
    """One issuer. Safe between threads."""

    def __init__(self, issuer: str, fetcher: Fetcher, clock: Callable[[], float] = time.monotonic) -> None:
        self.issuer = issuer
        self._fetcher = fetcher
        self._clock = clock
        self._lock = threading.Lock()
        self._known: _Known | None = None
        self._reading: threading.Event | None = None  # set when the reading that runs is done
        self._left, self._counted_at = _AT_ONCE, clock()  # readings that may begin now, and when that was counted
        self._waiting = threading.BoundedSemaphore(_WAITING)
        self._problem = "the identity provider has not answered yet; try again"

    def begin(self) -> None:
        """Read in the background, unless a reading runs or too many were begun."""
        with self._lock:
            now = self._clock()
            self._left = min(_AT_ONCE, self._left + (now - self._counted_at) / _PAUSE)
            self._counted_at = now
            if self._reading is not None or self._left < 1:
                return
            self._left -= 1
            done = self._reading = threading.Event()
        threading.Thread(target=self._read_in_background, args=(done,), name="oidc", daemon=True).start()

    def key(self, ident: str) -> Jwk | None:
        """The public key with this id; None when the provider has none.

        Raises: ProviderAway when its keys are not known.
        """
        known = self._current()
        if known is not None and ident in known.keys:
            if self._clock() - known.at > _FRESH:
                self.begin()
            return known.keys[ident]
        return self._read_again().keys.get(ident)

    def metadata(self) -> Metadata:
        """The addresses for a sign-in.

        Raises: ProviderAway.
        """
        return (self._current() or self._read_again()).metadata

    def read(self) -> int:
        """Read now; returns the number of keys.

        Raises: ProviderAway with what is wrong.
        """
        document = self._fetcher.get(self.issuer.rstrip("/") + _DISCOVERY)
        if document.get("issuer") != self.issuer:
            raise ProviderAway("the identity provider names another issuer than oidc.issuer; they must be equal")
        metadata = self._metadata(document)
        keys = _keys(self._fetcher.get(self._fetcher.check(document.get("jwks_uri"), "jwks_uri")))
        self._known = _Known(metadata, keys, self._clock())
        return len(keys)

    def _metadata(self, document: Mapping[str, object]) -> Metadata:
        authorization, token = (
            self._fetcher.check(document[name], name) if name in document else ""
            for name in ("authorization_endpoint", "token_endpoint")
        )
        methods = document.get("token_endpoint_auth_methods_supported")
        takes_basic = not isinstance(methods, list) or "client_secret_basic" in methods
        names_itself = document.get("authorization_response_iss_parameter_supported") is True
        return Metadata(authorization, token, takes_basic, names_itself)

    def _read_in_background(self, done: threading.Event) -> None:
        try:
            self.read()
        except ProviderAway as error:
            self._problem = str(error)
            log("identity provider", issuer=self.issuer, problem=self._problem)
        finally:
            with self._lock:
                self._reading = None
            done.set()

    def _read_again(self) -> _Known:
        """The documents after the reading that runs, or after a new one if it may begin.

        Raises: ProviderAway when none were read in a day, or too many requests wait.
        """
        self.begin()
        reading = self._reading
        if reading is not None:
            if not self._waiting.acquire(blocking=False):
                raise ProviderAway("the keys of the identity provider are being read; try again")
            try:
                reading.wait(SECONDS + 1)
            finally:
                self._waiting.release()
        known = self._current()
        if known is None:
            raise ProviderAway(self._problem)
        return known

    def _current(self) -> _Known | None:
        known = self._known
        return known if known is not None and self._clock() - known.at <= _STALE else None


def _keys(document: Mapping[str, object]) -> dict[str, Jwk]:
    """The keys of a set that can check signatures; of two with one id, the first.

    Raises: ProviderAway when there is no such key, or too many are listed.
    """
    listed = document.get("keys")
    if not isinstance(listed, list) or len(listed) > _MOST_KEYS:
        raise ProviderAway(f"the identity provider has no set of at most {_MOST_KEYS} keys")
    found: dict[str, Jwk] = {}
    for key in filter(_is_usable, listed):
        found.setdefault(key["kid"], key)
    if not found:
        raise ProviderAway("the identity provider has no key that can be used: RSA, EC or Ed25519, with a kid")
    return found


def _is_usable(key: object) -> bool:
    """Whether this is a public key for signatures."""
    return (
        isinstance(key, dict)
        and key.get("kty") in _KEY_TYPES
        and key.get("use", "sig") == "sig"
        and isinstance(key.get("kid"), str)
        and "d" not in key
    )
