"""Runs the server: opens the memory, listens, and stops without losing a request."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from types import FrameType

import uvicorn

from keepmum.core import validation
from keepmum.core.audit_chain import Head
from keepmum.core.errors import SettingsError
from keepmum.server.alone import alone
from keepmum.server.app import build
from keepmum.server.edge.envelope import App
from keepmum.server.edge.protocol import TimedProtocol
from keepmum.server.logs import log, log_libraries
from keepmum.server.opening import open_memory
from keepmum.server.people.api_keys import ApiKeys
from keepmum.server.people.first import key_ring
from keepmum.server.settings import ServerSettings
from keepmum.server.state import ServerState
from keepmum.server.upkeep import Upkeep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from keepmum.server.certificate import Certificate

__all__ = ["check", "run"]

_STOP_SECONDS = 20  # for requests that are running when the server stops
_KEEP_ALIVE = 30  # seconds that an idle connection stays open
_CONNECTIONS = 2_000  # open at the same time; a further one gets 503
_BACKLOG = 512
_EVERY_ADDRESS = "::"  # of this machine, IPv4 too
_CERTIFICATE_TICKS = 10  # of a tenth of a second, between two looks at the certificate


def run(settings: ServerSettings, scan: validation.Scan) -> None:
    """Serve until the process gets a signal to stop.

    Raises: SettingsError, StoreError; OSError when the address is taken.
    """
    state = ServerState()
    certificate = _certificate(settings)
    log_libraries()
    with (
        contextlib.nullcontext() if settings.engine == "postgres" else alone(settings.home),
        contextlib.closing(open_memory(settings, scan, os.environ if settings.model else None)) as team,
    ):
        ring = key_ring(settings.home, os.environ, team.records)
        api_keys = ApiKeys(settings.api_keys, ring.secret)
        _check_access(settings, len(api_keys) + len(team.records.keys()))
        team.start()
        with _listening(settings) as listener, Upkeep(team.records, ring, _log_head):
            _serve(build(team, ring, settings, [api_keys], state), listener, certificate, state)
    log("stopped")


def check(settings: ServerSettings, scan: validation.Scan) -> list[str]:
    """What `run` would do, in lines for a person; everything is opened and closed again.

    Raises: SettingsError, StoreError with the first problem.
    """
    certificate = _certificate(settings)
    with contextlib.closing(open_memory(settings, scan)) as team:
        team.check()
        api_keys = ApiKeys(settings.api_keys, key_ring(settings.home, os.environ, team.records).secret)
        keys = len(team.records.keys())
        _check_access(settings, len(api_keys) + keys)
    scheme = "https" if certificate else "http"
    named = f", as {settings.url}" if settings.url else ""
    return [
        f"database  {_database(settings)}",
        f"address   {_url_of(settings.bind, settings.port, scheme)}{named}",
        *([f"tls       {certificate.about}"] if certificate else []),
        f"keys      {keys}, and {len(api_keys)} in API_KEYS",
        *_provider(settings),
        "ready to run",
    ]


def _certificate(settings: ServerSettings) -> Certificate | None:
    if not settings.tls_cert:
        return None
    from keepmum.server.certificate import Certificate  # only then is cryptography imported

    return Certificate(settings.tls_cert, settings.tls_key)


def _database(settings: ServerSettings) -> str:
    match settings.engine:
        case "sqlite":
            return settings.database_file
        case "postgres":
            return "PostgreSQL"
        case "qdrant":
            memories = f"the collection {settings.database_collection} of Qdrant at {settings.database_url}"
            return f"{memories}; people, keys and history in {settings.database_file}"


def _check_access(settings: ServerSettings, keys: int) -> None:
    """Check that somebody may send requests.

    Raises: SettingsError.
    """
    if not keys and not settings.oidc_issuer:
        raise SettingsError("there is no key; `keepmum serve init` makes one, or set API_KEYS or oidc.issuer")


def _provider(settings: ServerSettings) -> list[str]:
    """The line about the identity provider, if there is one.

    Raises: ProviderAway.
    """
    if not settings.oidc_issuer:
        return []
    from keepmum.server.people.oidc.opening import count_keys  # loads an HTTP client

    return [f"provider  {settings.oidc_issuer}, keys: {count_keys(settings)}"]


def _serve(app: App, listener: socket.socket, certificate: Certificate | None, state: ServerState) -> None:
    config = uvicorn.Config(
        app,
        http=TimedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_STOP_SECONDS,
        limit_concurrency=_CONNECTIONS,
    )
    config.load()
    config.ssl = certificate.context if certificate else None
    _Server(config, state, certificate).run(sockets=[listener])


def _log_head(head: Head) -> None:
    log("audit", head=str(head))


class _Server(uvicorn.Server):
    """Ends with status 0 on a signal to stop, and reloads a renewed certificate."""

    def __init__(self, config: uvicorn.Config, state: ServerState, certificate: Certificate | None) -> None:
        super().__init__(config)
        self._state = state
        self._certificate = certificate

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        await super().startup(sockets)
        if sockets and self.started:
            host, port = sockets[0].getsockname()[:2]
            log("listening", url=_url_of(host, port, "https" if self._certificate else "http"), pid=os.getpid())

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the interface of a handler
        """Finish what runs, and end; a second signal does not wait."""
        self._state.stop()
        self.force_exit = self.should_exit
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Whether to end; from time to time, read the certificate again if it was replaced."""
        if self._certificate and counter % _CERTIFICATE_TICKS == 0:
            _follow(self._certificate)
        return await super().on_tick(counter)


def _follow(certificate: Certificate) -> None:
    """Read a certificate again if it was replaced; a bad one changes nothing."""
    try:
        if certificate.follow():
            log("certificate read", certificate=certificate.about)
    except SettingsError as error:
        log("certificate not read", reason=str(error), serving=certificate.about)


@contextlib.contextmanager
def _listening(settings: ServerSettings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.bind else socket.AF_INET
    try:
        listener = socket.create_server(
            (settings.bind, settings.port), family=family, backlog=_BACKLOG,
            dualstack_ipv6=settings.bind == _EVERY_ADDRESS and socket.has_dualstack_ipv6(),
        )  # fmt: skip
    except OSError as error:
        raise SettingsError(
            f"port {settings.port} of {settings.bind} cannot be used ({error.strerror}); choose another with --port"
        ) from None
    with listener:
        yield listener


def _url_of(host: str, port: int, scheme: str) -> str:
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
