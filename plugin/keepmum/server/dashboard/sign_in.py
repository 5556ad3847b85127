"""Who has signed in: with a key, which is sent once, or at an identity provider.

Sessions are in the server's records, so that any process answers any call. Each call looks up what the key or the
person may do by then; the session ends when the key is no longer valid, or the person was removed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from keepmum.dashboard.arguments import Arguments, JsonObject
from keepmum.dashboard.sessions import Secrets
from keepmum.server.call import HttpError
from keepmum.server.dashboard.replies import error, reply
from keepmum.server.edge.gate import Gate
from keepmum.server.edge.rates import RateLimits
from keepmum.server.edge.record import record_of
from keepmum.server.people.provider_sign_in import Answered, NotSignedIn, ProviderSignIn
from keepmum.server.people.roles import EVERY_PROJECT, Principal, Role
from keepmum.service.team import Session, TeamRecords

__all__ = ["MOST_OF_KEY", "SECONDS", "Asked", "SignIn"]

SECONDS = 12 * 3600
MOST_OF_KEY = 16  # sessions of one key
_LONGEST = 8192  # characters of a code
_NO_ROLES: Mapping[str, Role] = MappingProxyType({})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Asked(NamedTuple):
    """Whose call it is."""

    session: Session
    principal: Principal


class SignIn:
    """Opens, finds and ends the sessions of one server."""

    def __init__(
        self, records: TeamRecords, gate: Gate, rates: RateLimits, page: str, provider: ProviderSignIn | None = None
    ) -> None:
        """`page` is the path to which the provider leads back."""
        self.entrances: Mapping[str, Callable[[Request, Arguments], Response]] = {  # calls that need no session
            "/session": self._open,
            "/provider": self._name_provider,
            "/provider/begin": self._begin,
            "/provider/finish": self._finish,
        }
        self._records = records
        self._gate = gate
        self._rates = rates
        self._page = page
        self._provider = provider

    def _open(self, request: Request, given: Arguments) -> Response:
        """A session for a key.

        Raises: HttpError without TLS, or when the key sent too many requests.
        """
        _cookie_of(request)  # before the key is looked up
        principal = self._gate.find(given.text("key"))
        if principal is None or self._gate.holder(principal.key, _NO_ROLES) is None:  # a token ends before a session
            problem = "this key is unknown to this server, or no longer valid; see `keepmum keys list`"
            return self._not_signed_in(request, problem)
        return self._signed_in(request, principal)

    def _name_provider(self, _: Request, __: Arguments) -> Response:
        """The name of the identity provider; empty without one."""
        return reply({"host": self._provider.host if self._provider else ""})

    def _begin(self, request: Request, _: Arguments) -> Response:
        """Where the browser goes to sign in at the identity provider, and the ticket with which it finishes.

        Raises: HttpError without TLS or without a provider, StoreUnavailable.
        """
        _cookie_of(request)
        begun = self._configured.begin(self._back(request))
        return reply({"ticket": begun.ticket, "address": begun.address})

    def _finish(self, request: Request, given: Arguments) -> Response:
        """A session for a person who has signed in at the identity provider.

        Raises: HttpError without TLS or without a provider, or when a source sent too many; StoreUnavailable.
        """
        _cookie_of(request)
        self._rates.take(f"sign-in from {record_of(request.scope).source}", "write")  # each asks the provider
        answered = Answered(*(given.text(name, _LONGEST) for name in Answered._fields))
        try:
            signed_in = self._configured.finish(answered, self._back(request))
        except NotSignedIn as problem:
            return self._not_signed_in(request, str(problem))
        return self._signed_in(request, *signed_in)

    @property
    def _configured(self) -> ProviderSignIn:
        if self._provider is None:
            raise HttpError(404, "this server has no identity provider; sign in with a key")
        return self._provider

    def _back(self, request: Request) -> str:
        """The address to which the provider leads the browser back; the provider must know it."""
        return f"{request.headers['origin']}{self._page}"

    def _not_signed_in(self, request: Request, problem: str) -> Response:
        """A refusal, which counts as a failure of its source."""
        wait = self._gate.failures.note(record_of(request.scope).source)
        if not wait:
            return error(401, "session", problem)
        return error(429, "busy", f"too many sign-ins failed; wait. {problem}", {"retry-after": str(int(wait) + 1)})

    def _signed_in(self, request: Request, principal: Principal, given: Mapping[str, Role] = _NO_ROLES) -> Response:
        """The cookie and the tab's secret of a new session; `given` are the roles that the provider gives."""
        cookie_name, attributes = _cookie_of(request)
        if not principal.roles:
            return error(403, "forbidden", "you have no role on this server yet; ask its administrator for one")
        self._rates.take(principal.key, "write")  # a session is stored
        record_of(request.scope).principal = principal.id
        secrets, now = Secrets.new(), _now()
        project = "" if EVERY_PROJECT in principal.roles else _names(principal)[0]
        session = Session(secrets.digest, principal.id, principal.key, given, project, now + SECONDS * 1000)
        self._records.add_session(session, MOST_OF_KEY, now)
        body = {"tab": secrets.tab, **_choice(principal, project)}
        return reply(body, {"set-cookie": f"{cookie_name}={secrets.cookie}; {attributes}"})

    def asked(self, request: Request) -> Asked | None:
        """The session of the request; None without one, or when its key is no longer valid.

        Raises: HttpError without TLS, StoreError.
        """
        cookie = request.cookies.get(_cookie_of(request)[0], "")
        secrets = Secrets(cookie, request.headers.get("x-keepmum-tab", ""))
        session = self._records.session(secrets.digest, _now())
        if session is None:
            return None
        given: dict[str, Role] = dict(session.roles)  # type: ignore[arg-type]  # only roles are stored
        principal = self._gate.holder(session.key, given)
        return None if principal is None else Asked(session, principal)

    def choose(self, asked: Asked, project: str) -> None:
        """Show another project from now on."""
        self._records.show_project(asked.session.digest, project)

    def projects(self, asked: Asked, _: Arguments) -> Response:
        """The projects that the key may read."""
        return reply(_choice(asked.principal, asked.session.project))

    def leave(self, asked: Asked, _: Arguments) -> Response:
        """Sign out."""
        self._records.end_session(asked.session.digest)
        return reply({})


def _now() -> int:
    return time.time_ns() // 1_000_000


def _names(principal: Principal) -> list[str]:
    """The projects that a key names."""
    return sorted(name for name in principal.roles if name not in {EVERY_PROJECT, ""}) or [""]


def _choice(principal: Principal, project: str) -> JsonObject:
    names = [name for name in _names(principal) if name]
    return {"project": project, "projects": names, "every": EVERY_PROJECT in principal.roles}


def _cookie_of(request: Request) -> tuple[str, str]:
    """Name and attributes of the cookie, by the scheme that the browser sees.

    Raises: HttpError without TLS, except on this machine.
    """
    scheme, _, host = request.headers["origin"].partition("://")
    attributes = f"HttpOnly; SameSite=Strict; Path=/; Max-Age={SECONDS}"
    if scheme == "https":
        return "__Host-keepmum", f"Secure; {attributes}"
    name, _, port = host.rpartition(":")
    if (name or host) not in _LOOPBACK and host not in _LOOPBACK:
        raise HttpError(403, "sign in by HTTPS; without it others could read your key")
    return f"keepmum_server_{port}", attributes
