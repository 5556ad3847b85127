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
from keepmum.server.logs import log
from keepmum.server.opening import open_memory
from keepmum.server.people.api_keys import ApiKeys
from keepmum.server.people.first import key_ring
from keepmum.server.settings import ServerSettings
from keepmum.server.state import ServerState
from keepmum.server.upkeep import Upkeep

__all__ = ["check", "run"]

_STOP_SECONDS = 20  # for requests that are running when the server is told to stop
_KEEP_ALIVE = 30  # seconds that an idle connection stays open
_CONNECTIONS = 2_000  # open at the same time; a further one gets 503
_BACKLOG = 512
_CERTIFICATE_TICKS = 50  # of a tenth of a second, between two looks at the certificate


def run(settings: ServerSettings, scan: validation.Scan) -> None:
    """Serve until the process is told to stop.

    Raises: SettingsError, StoreError; OSError when the address is taken.
    """
    api_keys = ApiKeys(settings.api_keys)
    state = ServerState()
    with (
        contextlib.nullcontext() if settings.database_url else alone(settings.home),
        contextlib.closing(open_memory(settings, scan, os.environ if settings.model else None)) as team,
    ):
        ring = key_ring(settings.home, os.environ, team.records)
        if not api_keys and not team.records.keys():
            raise SettingsError("nobody has a key; `keepmum serve init` makes one, or set API_KEYS")
        team.start()
        with _listening(settings) as listener, Upkeep(team.records, ring, _log_head):
            _serve(build(team, ring, settings, [api_keys.find], state), listener, settings, state)
    log("stopped")


def check(settings: ServerSettings, scan: validation.Scan) -> list[str]:
    """What `run` would do, in lines for a person; everything is opened and closed again.

    Raises: SettingsError, StoreError with the first problem.
    """
    api_keys = ApiKeys(settings.api_keys)
    for path in filter(None, (settings.tls_cert, settings.tls_key)):
        if not os.access(path, os.R_OK):
            raise SettingsError(f"{path} cannot be read; it is in tls.cert or tls.key")
    with contextlib.closing(open_memory(settings, scan)) as team:
        team.check()
        key_ring(settings.home, os.environ, team.records)
        keys = len(team.records.keys())
        if not api_keys and not keys:
            raise SettingsError("nobody has a key; `keepmum serve init` makes one, or set API_KEYS")
    scheme = "https" if settings.tls_cert else "http"
    return [
        f"database  {'PostgreSQL' if settings.database_url else settings.database_file}",
        f"address   {scheme}://{settings.bind}:{settings.port}{f', as {settings.url}' if settings.url else ''}",
        f"keys      {keys}, and {len(api_keys)} in API_KEYS",
        "ready to run",
    ]


def _serve(app: App, listener: socket.socket, settings: ServerSettings, state: ServerState) -> None:
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
        ssl_certfile=settings.tls_cert or None,
        ssl_keyfile=settings.tls_key or None,
    )
    _Server(config, state, settings).run(sockets=[listener])


def _log_head(head: Head) -> None:
    log("audit", head=str(head))


class _Server(uvicorn.Server):
    """Ends with status 0 when it is told to stop, and follows a certificate that is renewed."""

    def __init__(self, config: uvicorn.Config, state: ServerState, settings: ServerSettings) -> None:
        super().__init__(config)
        self._state = state
        self._files = [path for path in (settings.tls_cert, settings.tls_key) if path]
        self._changed_at = self._modified()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        await super().startup(sockets)
        if sockets and self.started:
            log("listening", url=_url_of(sockets[0], "https" if self._files else "http"), pid=os.getpid())

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the interface of a handler
        """Finish what runs, and end; a second signal does not wait."""
        self._state.stop()
        self.force_exit = self.should_exit
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Whether to end; from time to time, read the certificate again if it was replaced."""
        if self._files and counter % _CERTIFICATE_TICKS == 0 and self._modified() != self._changed_at:
            self._reload_certificate()
        return await super().on_tick(counter)

    def _modified(self) -> list[float]:
        with contextlib.suppress(OSError):  # it may be replaced at this moment
            return [os.stat(path).st_mtime for path in self._files]
        return []

    def _reload_certificate(self) -> None:
        assert self.config.ssl is not None
        try:
            self.config.ssl.load_cert_chain(*self._files)
        except OSError as error:  # half written: the old one stays until the next look
            log("certificate not read", reason=type(error).__name__)
            return
        self._changed_at = self._modified()
        log("certificate read")


@contextlib.contextmanager
def _listening(settings: ServerSettings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.bind else socket.AF_INET
    try:
        listener = socket.create_server((settings.bind, settings.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise SettingsError(
            f"port {settings.port} of {settings.bind} cannot be used ({error.strerror}); choose another with --port"
        ) from None
    with listener:
        yield listener


def _url_of(listener: socket.socket, scheme: str) -> str:
    host, port = listener.getsockname()[:2]
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
